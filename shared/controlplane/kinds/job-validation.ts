import { CONTROLLER_UID_LABEL, JOB_NAME_LABEL, LEGACY_CONTROLLER_UID_LABEL, LEGACY_JOB_NAME_LABEL } from '../../api/names.ts';
import { matchesLabelSelector } from '../../kube/selectors.ts';
import { invalid, notSupported, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import type { DecodedJob, DecodedJobSpec } from './decoded.ts';
import { goValue, sortedMap, writtenSelector } from './go-value.ts';
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policy-validation.ts';
import { usableRequirements, validateLabelSelector } from './label-selector-validation.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, httpPathProblems } from '../../kube/name-formats.ts';
import { validateNonNegative } from './number-validation.ts';
import { subdomainName, validateObjectMeta } from '../apimachinery/object-meta-validation.ts';
import { validatePodTemplate } from './pod-template-validation.ts';

const INDEXED_PARALLELISM_MAX = 100_000;
const MAX_FAILED_INDEXES_MAX = 100_000;
/** Above this many completions, jobs with a back-off limit per index must bound what their status has to hold. */
const COMPLETIONS_SOFT_MAX = 100_000;
const PARALLELISM_MAX_ABOVE_SOFT = 10_000;
const FAILED_INDEXES_MAX_ABOVE_SOFT = 10_000;
const MANAGED_BY_MAX_BYTES = 63;

export type JobValidationOptions = {
  /** False for Jobs from before the prefixed labels existed, whose template lacks them. */
  readonly requirePrefixedLabels: boolean;
};

/** ValidateJob of batch/v1. */
export const validateJob = (job: DecodedJob, options: JobValidationOptions): FieldError[] => [
  ...validateObjectMeta(job.metadata, true, subdomainName),
  ...validateGeneratedSelector(job, options),
  ...validateJobSpec(job.spec ?? {}, 'spec'),
  ...validateIndexedPodName(job),
];

/** ValidateJobSpec: the rules of any job spec, and those that hold once the selector has been generated. */
export const validateJobSpec = (spec: DecodedJobSpec, path: string): FieldError[] => [
  ...validateJobSpecWithoutSelector(spec, path),
  ...(spec.selector === undefined ? [required(`${path}.selector`)] : validateLabelSelector(spec.selector, `${path}.selector`)),
  ...validateSelectorMatchesTemplate(spec, path),
];

/** What can be said of a spec before it belongs to a Job; the template of a CronJob is checked with this alone. */
export const validateJobSpecWithoutSelector = (spec: DecodedJobSpec, path: string): FieldError[] => [
  ...validateNonNegative(spec.parallelism, `${path}.parallelism`),
  ...validateNonNegative(spec.completions, `${path}.completions`),
  ...validateNonNegative(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
  ...validateNonNegative(spec.backoffLimit, `${path}.backoffLimit`),
  ...validateNonNegative(spec.ttlSecondsAfterFinished, `${path}.ttlSecondsAfterFinished`),
  ...validateNonNegative(spec.backoffLimitPerIndex, `${path}.backoffLimitPerIndex`),
  ...validateNonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`),
  ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
    ? [required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
    : []),
  ...(spec.managedBy === undefined ? [] : validateManagedBy(spec.managedBy, `${path}.managedBy`)),
  ...validateCompletionMode(spec, path),
  ...(spec.podFailurePolicy === undefined ? [] : validatePodFailurePolicy(spec, `${path}.podFailurePolicy`)),
  ...(spec.successPolicy === undefined ? [] : validateSuccessPolicyOfMode(spec, `${path}.successPolicy`)),
  ...validatePodReplacementPolicy(spec, `${path}.podReplacementPolicy`),
  ...validatePodTemplate(spec.template ?? {}, `${path}.template`),
  ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
];

const isIndexed = (spec: DecodedJobSpec): boolean => spec.completionMode === 'Indexed';

const validateGeneratedSelector = (job: DecodedJob, options: JobValidationOptions): FieldError[] => {
  const { spec = {}, metadata } = job;
  // An absent selector is reported by validateJobSpec.
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const uid = metadata.uid ?? '';
  const prefixed: [string, string][] = [
    [CONTROLLER_UID_LABEL, uid],
    [JOB_NAME_LABEL, metadata.name],
  ];
  const expected: [string, string][] = [
    [LEGACY_CONTROLLER_UID_LABEL, uid],
    [LEGACY_JOB_NAME_LABEL, metadata.name],
    ...(options.requirePrefixedLabels ? prefixed : []),
  ];
  const labels = spec.template?.metadata?.labels;
  const errors = expected.flatMap(([key, value]) => validateHasLabel(labels, key, value));
  const requirements = usableRequirements(spec.selector);
  if (requirements !== undefined && !matchesLabelSelector(requirements, Object.fromEntries(expected))) {
    errors.push(invalid('spec.selector', writtenSelector(spec.selector), '`selector` not auto-generated'));
  }
  return errors;
};

const validateHasLabel = (labels: Readonly<Record<string, string>> | undefined, key: string, value: string): FieldError[] => {
  const path = `spec.template.metadata.labels[${key}]`;
  const actual = labels?.[key];
  if (actual === undefined) return [required(path, `must be '${value}'`)];
  return actual === value ? [] : [invalid(path, sortedMap(labels), `must be '${value}'`)];
};

const validateSelectorMatchesTemplate = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const requirements = usableRequirements(spec.selector);
  const labels = spec.template?.metadata?.labels;
  if (requirements === undefined || matchesLabelSelector(requirements, labels)) return [];
  return [invalid(`${path}.template.metadata.labels`, sortedMap(labels), '`selector` does not match template `labels`')];
};

/** The pods of an Indexed Job have its name and their index as hostname. */
const validateIndexedPodName = ({ metadata, spec = {} }: DecodedJob): FieldError[] => {
  if (!isIndexed(spec) || spec.completions === undefined || spec.completions <= 0) return [];
  const lastHostname = `${metadata.name}-${spec.completions - 1}`;
  if (dns1123LabelProblems(lastHostname).length === 0) return [];
  return [invalid('metadata.name', metadata.name, `will not able to create pod with invalid DNS label: ${lastHostname}`)];
};

const validateManagedBy = (managedBy: string, path: string): FieldError[] => [
  ...validateDomainPrefixedPath(managedBy, path),
  ...(Buffer.byteLength(managedBy) > MANAGED_BY_MAX_BYTES ? [tooLong(path, MANAGED_BY_MAX_BYTES)] : []),
];

const validateDomainPrefixedPath = (value: string, path: string): FieldError[] => {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const host = value.slice(0, Math.max(slash, 0));
  const rest = value.slice(slash + 1);
  if (host === '' || rest === '') return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [
    ...dns1123SubdomainProblems(host).map((problem) => invalid(path, host, problem)),
    ...httpPathProblems(rest).map((problem) => invalid(path, rest, problem)),
  ];
};

const validateCompletionMode = (spec: DecodedJobSpec, path: string): FieldError[] => {
  if (isIndexed(spec)) return validateIndexed(spec, path);
  const mode = spec.completionMode;
  if (mode !== undefined && mode !== 'NonIndexed') return [notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed'])];
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
    .filter((field) => spec[field] !== undefined)
    .map((field) => invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
};

const validateIndexed = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const { completions, parallelism, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism !== undefined && parallelism > INDEXED_PARALLELISM_MAX) {
    const rule = `must be less than or equal to ${INDEXED_PARALLELISM_MAX} when completion mode is Indexed`;
    errors.push(invalid(`${path}.parallelism`, parallelism, rule));
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.push(invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, 'must be less than or equal to completions'));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_FAILED_INDEXES_MAX) {
    errors.push(invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, `must be less than or equal to ${MAX_FAILED_INDEXES_MAX}`));
  }
  if (completions !== undefined && completions > COMPLETIONS_SOFT_MAX && spec.backoffLimitPerIndex !== undefined) {
    errors.push(...validateManyIndexes(spec, path));
  }
  return errors;
};

const validateManyIndexes = ({ parallelism, maxFailedIndexes }: DecodedJobSpec, path: string): FieldError[] => {
  const above = (max: number): string =>
    `must be less than or equal to ${max} when completions are above ${COMPLETIONS_SOFT_MAX} and used with backoff limit per index`;
  const errors: FieldError[] = [];
  if (maxFailedIndexes === undefined) {
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${COMPLETIONS_SOFT_MAX}`));
  }
  if (parallelism !== undefined && parallelism > PARALLELISM_MAX_ABOVE_SOFT) {
    errors.push(invalid(`${path}.parallelism`, parallelism, above(PARALLELISM_MAX_ABOVE_SOFT)));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FAILED_INDEXES_MAX_ABOVE_SOFT) {
    errors.push(invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, above(FAILED_INDEXES_MAX_ABOVE_SOFT)));
  }
  return errors;
};

const validateSuccessPolicyOfMode = (spec: DecodedJobSpec, path: string): FieldError[] =>
  isIndexed(spec) ? validateSuccessPolicy(spec, path) : [invalid(path, goValue(spec.successPolicy), 'requires indexed completion mode')];

const validatePodReplacementPolicy = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const supported = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  const policy = spec.podReplacementPolicy;
  return policy === undefined || supported.includes(policy) ? [] : [notSupported(path, policy, supported)];
};

const validateRestartPolicy = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  // Always is the default of pod specs, so it may only mean that the user said nothing.
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy === undefined || policy === 'Never') return [];
  return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
};
