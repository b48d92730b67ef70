import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { DecodedJob, DecodedJobSpec, DecodedPodSpec, DecodedPodTemplate } from './decoded.ts';
import { goValue, writtenSelector } from './go-value.ts';
import { isConditionTrue } from './job-status-validation.ts';
import { validateJobSpec } from './job-validation.ts';
import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

/** ValidateJobUpdate of batch/v1. The rules of the spec come a second time, so their causes appear twice, as upstream's do. */
export const validateJobUpdate = (next: DecodedJob, previous: DecodedJob): FieldError[] => {
  const spec = next.spec ?? {};
  const old = previous.spec ?? {};
  return [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateJobSpec(spec, 'spec'),
    ...validateCompletionsUpdate(spec, old),
    ...validateImmutable(spec.selector, old.selector, 'spec.selector', () => writtenSelector(spec.selector)),
    ...validateTemplateUpdate(spec, previous),
    ...validateImmutable(spec.completionMode, old.completionMode, 'spec.completionMode'),
    ...validateImmutable(spec.podFailurePolicy, old.podFailurePolicy, 'spec.podFailurePolicy', goValue),
    ...validateImmutable(spec.backoffLimitPerIndex, old.backoffLimitPerIndex, 'spec.backoffLimitPerIndex'),
    ...validateImmutable(spec.managedBy, old.managedBy, 'spec.managedBy'),
    ...validateImmutable(spec.successPolicy, old.successPolicy, 'spec.successPolicy', goValue),
  ];
};

const validateImmutable = (next: unknown, previous: unknown, path: string, render = (value: unknown): unknown => value): FieldError[] =>
  semanticEqual(next, previous) ? [] : [invalid(path, render(next), 'field is immutable')];

/** Indexed Jobs may grow and shrink (KEP-3715), but only so that all their indexes may run at once. */
const validateCompletionsUpdate = (spec: DecodedJobSpec, old: DecodedJobSpec): FieldError[] => {
  if (spec.completionMode !== 'Indexed') return validateImmutable(spec.completions, old.completions, 'spec.completions');
  // Removing completions has already been refused: Indexed Jobs require them.
  if (spec.completions === old.completions || spec.completions === undefined || spec.completions === spec.parallelism) return [];
  return [invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism')];
};

/**
 * The template never changes, except while the Job is suspended and nothing of it runs: then its labels and annotations, its
 * scheduling directives (KEP-2926) and the resources of its containers may. What counts is the Job as it was before this update.
 */
const validateTemplateUpdate = (spec: DecodedJobSpec, previous: DecodedJob): FieldError[] => {
  const template = spec.template ?? {};
  const old = previous.spec?.template ?? {};
  if (!isAtRest(previous)) return validateImmutable(template, old, 'spec.template', goValue);
  return validateImmutable(template.spec, withMutableFieldsOf(template, old), 'spec.template.spec', goValue);
};

const isAtRest = ({ spec = {}, status = {} }: DecodedJob): boolean =>
  spec.suspend === true &&
  (status.startTime === undefined || isConditionTrue(status.conditions, 'Suspended')) &&
  (status.active ?? 0) === 0;

/** The old pod spec with everything taken from the new one that may change at rest; what then still differs may not. */
const withMutableFieldsOf = (next: DecodedPodTemplate, old: DecodedPodTemplate): DecodedPodSpec => {
  const spec = next.spec ?? {};
  const masked: DecodedPodSpec = {
    ...old.spec,
    nodeSelector: spec.nodeSelector,
    tolerations: spec.tolerations,
    schedulingGates: spec.schedulingGates,
    affinity: maskedAffinity(spec.affinity, old.spec?.affinity),
  };
  for (const kind of ['containers', 'initContainers'] as const) {
    const before = old.spec?.[kind] ?? [];
    const after = spec[kind] ?? [];
    const sameNames = before.length === after.length && before.every(({ name }, i) => name === after[i]?.name);
    if (sameNames) masked[kind] = before.map((container, i) => ({ ...container, resources: after[i]?.resources }));
  }
  return masked;
};

/** Only the affinity to nodes is a directive that may change. */
const maskedAffinity = (next: DecodedPodSpec['affinity'], old: DecodedPodSpec['affinity']): DecodedPodSpec['affinity'] => {
  if (next !== undefined) return { ...old, nodeAffinity: next.nodeAffinity };
  if (old === undefined) return undefined;
  const rest = Object.entries(old).filter(([key, value]) => key !== 'nodeAffinity' && value !== undefined);
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
};
