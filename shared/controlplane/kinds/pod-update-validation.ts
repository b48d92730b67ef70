import { forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { DecodedContainer, DecodedPod, DecodedPodSpec } from './decoded.ts';
import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validatePodAnnotationUpdates } from './pod-annotations-validation.ts';
import { validateTolerations } from './pod-scheduling-validation.ts';
import { validatePod } from './pod-validation.ts';
import { unifiedDiff } from '../apimachinery/unified-diff.ts';
import { goPodSpecText } from './go-pod-spec.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

const INT32_MAX = 2 ** 31 - 1;
/** Upstream's list; it leaves out scheduling gates and what gated pods may change. */
const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** ValidatePodUpdate of core/v1: a pod hardly changes once it exists. */
export const validatePodUpdate = (next: DecodedPod, previous: DecodedPod): FieldError[] => {
  const spec = next.spec ?? {};
  const old = previous.spec ?? {};
  const errors = [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validatePod(next),
    ...validatePodAnnotationUpdates(next, previous),
  ];
  for (const kind of ['containers', 'initContainers'] as const) {
    if ((spec[kind] ?? []).length !== (old[kind] ?? []).length) {
      return [...errors, forbidden(`spec.${kind}`, 'pod updates may not add or remove containers')];
    }
    errors.push(...validateImages(spec[kind] ?? [], `spec.${kind}`));
  }
  const deadline = validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  errors.push(...deadline.errors);
  if (deadline.stop) return errors;
  errors.push(...validateOnlyAddedTolerations(spec, old), ...validateOnlyRemovedGates(spec, old));
  if (semanticEqual(spec, old)) return errors;
  const gated = (old.schedulingGates ?? []).length > 0;
  if (gated) errors.push(...validateGatedDirectives(spec, old));
  const masked = withoutMutableFields(spec, old, gated);
  if (!semanticEqual(masked, old)) {
    const difference = unifiedDiff(goPodSpecText(old), goPodSpecText(masked));
    errors.push(forbidden('spec', `pod updates may not change fields other than ${UPDATABLE}\n${difference}`));
  }
  return errors;
};

const validateImages = (containers: readonly DecodedContainer[], path: string): FieldError[] =>
  containers.flatMap(({ image = '' }, i) => {
    if (image === '') return [required(`${path}[${i}].image`)];
    return image === image.trim() ? [] : [invalid(`${path}[${i}].image`, image, 'must not have leading or trailing whitespace')];
  });

/** A deadline can be set and brought forward. */
const validateDeadline = (next: number | undefined, old: number | undefined): { errors: FieldError[]; stop: boolean } => {
  const path = 'spec.activeDeadlineSeconds';
  const stop = (error: FieldError): { errors: FieldError[]; stop: boolean } => ({ errors: [error], stop: true });
  if (next === undefined) {
    const removed = old === undefined ? [] : [invalid(path, null, 'must not update from a positive integer to nil value')];
    return { errors: removed, stop: false };
  }
  if (next < 0 || next > INT32_MAX) return stop(invalid(path, next, `must be between 0 and ${INT32_MAX}, inclusive`));
  if (old !== undefined && old < next) return stop(invalid(path, next, 'must be less than or equal to previous value'));
  return { errors: [], stop: false };
};

const validateOnlyAddedTolerations = (next: DecodedPodSpec, old: DecodedPodSpec): FieldError[] => {
  const tolerations = next.tolerations ?? [];
  const kept = (old.tolerations ?? []).every((before) =>
    tolerations.some((after) => semanticEqual({ ...before, tolerationSeconds: after.tolerationSeconds }, after)),
  );
  if (!kept) return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
  return validateTolerations(tolerations, 'spec.tolerations');
};

const validateOnlyRemovedGates = (next: DecodedPodSpec, old: DecodedPodSpec): FieldError[] => {
  const before = new Set((old.schedulingGates ?? []).map(({ name }) => name ?? ''));
  return (next.schedulingGates ?? []).flatMap(({ name = '' }, i) =>
    before.has(name)
      ? []
      : [forbidden(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );
};

/** Until its last gate is gone, where a pod may run can be narrowed down (KEP-3838). */
const validateGatedDirectives = (next: DecodedPodSpec, old: DecodedPodSpec): FieldError[] => {
  const errors: FieldError[] = [];
  const narrowed = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => next.nodeSelector?.[key] === value);
  if (!narrowed) {
    const rule = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(invalid('spec.nodeSelector', next.nodeSelector, rule));
  }
  const before = old.affinity?.nodeAffinity;
  const after = next.affinity?.nodeAffinity;
  if (!semanticEqual(before, after)) errors.push(...validateNodeAffinityMutation(after, before));
  return errors;
};

type NodeAffinity = NonNullable<DecodedPodSpec['affinity']>['nodeAffinity'];
type Term = NonNullable<
  NonNullable<NonNullable<NodeAffinity>['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms']
>[number];

const validateNodeAffinityMutation = (next: NodeAffinity, old: NodeAffinity): FieldError[] => {
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  // Anything narrows what was not restricted at all; preferences are free.
  if (before.length === 0) return [];
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const after = next?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length !== after.length) {
    return [invalid(path, after.map(goTerm), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return before.flatMap((term, i) =>
    addsOnly(after[i] ?? {}, term)
      ? []
      : [invalid(`${path}[${i}]`, goTerm(after[i] ?? {}), 'only additions are allowed (no mutations or deletions)')],
  );
};

/** A term as Go writes upstream's internal type. */
const goTerm = ({ matchExpressions, matchFields }: Term): object => {
  const written = (requirements: Term['matchExpressions']): object[] | null =>
    requirements?.map(({ key = '', operator = '', values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null;
  return { MatchExpressions: written(matchExpressions), MatchFields: written(matchFields) };
};

/** An empty term matches nothing; adding to it would widen it. */
const addsOnly = (next: Term, old: Term): boolean => {
  if ((old.matchExpressions ?? []).length === 0 && (old.matchFields ?? []).length === 0) {
    return (next.matchExpressions ?? []).length === 0 && (next.matchFields ?? []).length === 0;
  }
  return (
    (old.matchExpressions ?? []).every((requirement, i) => semanticEqual(requirement, next.matchExpressions?.[i])) &&
    (old.matchFields ?? []).every((requirement, i) => semanticEqual(requirement, next.matchFields?.[i]))
  );
};

/** The new spec with the old values of everything that may change; what then still differs may not. */
const withoutMutableFields = (next: DecodedPodSpec, old: DecodedPodSpec, gated: boolean): DecodedPodSpec => {
  const masked: DecodedPodSpec = {
    ...next,
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  };
  for (const kind of ['containers', 'initContainers'] as const) {
    masked[kind] = next[kind]?.map((container, i) => ({ ...container, image: old[kind]?.[i]?.image }));
  }
  if (!gated) return masked;
  masked.nodeSelector = old.nodeSelector;
  const affinity = Object.fromEntries(
    Object.entries({ ...next.affinity, nodeAffinity: old.affinity?.nodeAffinity }).filter(([, value]) => value !== undefined),
  );
  masked.affinity = old.affinity === undefined && Object.keys(affinity).length === 0 ? undefined : affinity;
  return masked;
};
