import type { Container, DeepReadonly, Job, JobSpec, PodSpec, PodTemplateSpec, Unsaved } from '../../../../shared/api/kubernetes.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  CONTROLLER_UID_LABEL,
  JOB_CONTROLLER_ANNOTATION,
  JOB_NAME_LABEL,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
} from '../../../../shared/api/names.ts';
import { isCompact } from '../compact-job.ts';
import { podsAtOnce } from '../pod-count.ts';
import type { CopyOptions } from '../../copy-options.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { copiedAnnotations, copiedLabels, variablesForPods } from '../../copy/copied-metadata.ts';
import { copiedPod } from '../../copy/copied-pod.ts';
import { copyName } from '../../copy-marks.ts';
import { isAtRest } from './copy-rest.ts';
import { mergePatchBetween, sameJson } from '../../../api/json-diff.ts';
import { withPodFence } from './pod-fence.ts';

/**
 * The Job to create on a worker cluster for a Job of the manager cluster: all fields of the user, unknown ones included, without fields
 * that belong to the original or were generated for it. Parts are shared with the original: the result is sent, and never changed.
 */
export function remoteJob(local: DeepReadonly<Job>, options: CopyOptions): Unsaved<Job> {
  if (isCompact(local))
    throw new Error(`no copy can be made of Job ${local.metadata.namespace}/${local.metadata.name}: parts of it are not cached`);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: copyName(local, options.local),
      namespace: local.metadata.namespace,
      labels: copiedLabels(local, options.origin, (name) => generatedLabels(local).includes(name)),
      annotations: copiedAnnotations(local, options),
    },
    spec: copiedSpec(local, options),
  };
}

/** The copy was sent with `managedBy`, and lacks it: an unintended controller may run it. */
export const hasLostController = ({ metadata, spec }: DeepReadonly<Job>): boolean => {
  const sent = metadata.annotations?.[JOB_CONTROLLER_ANNOTATION];
  return sent !== undefined && spec.managedBy !== sent;
};

/** The copy has lost its controller, or another controller runs copies there now, and the copy has not started. */
export const hasOtherController = (copy: DeepReadonly<Job>, jobController: string | undefined): boolean =>
  hasLostController(copy) || (jobController !== undefined && !isBegun(copy) && controllerOf(copy) !== jobController);
const isBegun = ({ status }: DeepReadonly<Job>): boolean => Object.keys(status ?? {}).length > 0;
const controllerOf = ({ spec }: DeepReadonly<Job>): string => spec.managedBy ?? BUILT_IN_JOB_CONTROLLER_NAME;

/**
 * Fields of the spec that stay mutable after creation: an edit of the original is carried to the copy. `ttlSecondsAfterFinished` is not
 * among them: the copy has none.
 */
export const MUTABLE_FIELDS = [
  'parallelism',
  'completions',
  'backoffLimit',
  'activeDeadlineSeconds',
  'maxFailedIndexes',
  'podReplacementPolicy',
] as const satisfies readonly (keyof JobSpec)[];

/**
 * Scheduling directives of the pod template, mutable while a Job is suspended and no pod of it runs (KEP-2926), as are its resources
 * (KEP-5440).
 */
const SCHEDULING_DIRECTIVES = ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates'] as const;

/**
 * The change of `spec` by which a copy follows its original, as the body of a merge patch; undefined when there is none. A copy whose pods
 * would request other resources than the original's is changed before it is resumed, for which it must be at rest.
 */
export function specChange(copy: DeepReadonly<Job>, wanted: Unsaved<Job>, suspend: boolean): Record<string, unknown> | undefined {
  const change: Record<string, unknown> = {};
  const rests = copy.spec.suspend === true && isAtRest(copy);
  const resources = resourcesChange(copy.spec.template.spec, wanted.spec.template.spec);
  const spec = nextSpec(copy, wanted);
  const isTooMany = podsAtOnce({ spec }) > Math.max(podsAtOnce(copy), podsAtOnce(wanted));
  const stays = suspend || isTooMany || (resources !== undefined && !rests);
  if ((copy.spec.suspend ?? false) !== stays) change['suspend'] = stays;
  for (const field of MUTABLE_FIELDS) {
    if (!sameJson(copy.spec[field], spec[field])) change[field] = spec[field] ?? null;
  }
  const template = rests ? { ...schedulingChange(copy, wanted), ...resources } : {};
  if (Object.keys(template).length > 0) change['template'] = { spec: template };
  return Object.keys(change).length === 0 ? undefined : change;
}

/**
 * The next spec of the copy. An API server changes completions only together with an equal parallelism. Where the original went through
 * such a change and has another parallelism since, its copy follows in two steps, and rests in between where it would have too many pods.
 * The copy gets more pods only when none terminates.
 */
function nextSpec(copy: DeepReadonly<Job>, { spec: wanted }: Unsaved<Job>): DeepReadonly<JobSpec> {
  const { completions } = wanted;
  if (podsAtOnce({ spec: wanted }) > podsAtOnce(copy) && copy.spec.suspend !== true && hasStoppingPods(copy)) {
    return { ...wanted, ...omitUndefined({ parallelism: copy.spec.parallelism, completions: copy.spec.completions }) };
  }
  const isTwoSteps = completions !== undefined && completions !== copy.spec.completions && completions !== wanted.parallelism;
  return isTwoSteps ? { ...wanted, parallelism: completions } : wanted;
}

/**
 * Pods of the copy terminate, or are yet to. With a higher parallelism now, a Job controller would start further pods beside them
 * (`TerminatingOrFailed`): more than the Job is charged for.
 */
const hasStoppingPods = (copy: DeepReadonly<Job>): boolean =>
  (copy.status?.terminating ?? 0) > 0 || (copy.status?.active ?? 0) > podsAtOnce(copy);

export const changesTemplate = (change: Record<string, unknown> | undefined): boolean => change?.['template'] !== undefined;

function schedulingChange(copy: DeepReadonly<Job>, wanted: Unsaved<Job>): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const field of SCHEDULING_DIRECTIVES) {
    const patch = mergePatchBetween(copy.spec.template.spec?.[field], wanted.spec.template.spec?.[field]);
    if (patch !== undefined) change[field] = patch;
  }
  return change;
}

/** The changed resources of two pod specs. A merge patch replaces lists whole, so a container is sent with all its fields. */
function resourcesChange(copy: DeepReadonly<PodSpec> | undefined, wanted: DeepReadonly<PodSpec> | undefined): object | undefined {
  const change = {
    ...omitUndefined({
      containers: containersChange(copy?.containers, wanted?.containers),
      initContainers: containersChange(copy?.initContainers, wanted?.initContainers),
    }),
    ...(sameJson(copy?.resources, wanted?.resources) ? {} : { resources: wanted?.resources ?? null }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

type Containers = readonly DeepReadonly<Container>[] | undefined;
function containersChange(copy: Containers, wanted: Containers): Containers {
  const wantedOf = new Map((wanted ?? []).map((container) => [container.name, container.resources]));
  const differs = (copy ?? []).some(({ name, resources }) => wantedOf.has(name) && !sameJson(resources ?? {}, wantedOf.get(name) ?? {}));
  return differs ? wanted : undefined;
}

/** Labels that the API server generates into the template (and, for a Job without labels, into the Job itself). */
const GENERATED_LABELS = [LEGACY_CONTROLLER_UID_LABEL, LEGACY_JOB_NAME_LABEL, CONTROLLER_UID_LABEL, JOB_NAME_LABEL];

function copiedSpec(local: DeepReadonly<Job>, options: CopyOptions): JobSpec {
  const { ttlSecondsAfterFinished: _ttl, managedBy: _managedBy, selector, template, ...rest } = local.spec as JobSpec;
  const copied: JobSpec = {
    ...rest,
    suspend: false,
    template: copiedTemplate(local, template, options),
    ...(options.jobController === BUILT_IN_JOB_CONTROLLER_NAME ? {} : { managedBy: options.jobController }),
    // A selector is either the user's own, together with its labels, or generated anew for the copy.
    ...(local.spec.manualSelector === true && selector !== undefined ? { selector } : {}),
  };
  return options.podFence === undefined ? copied : withPodFence(copied, options.podFence);
}

function copiedTemplate(local: DeepReadonly<Job>, template: PodTemplateSpec, options: CopyOptions): PodTemplateSpec {
  const { metadata, spec } = template;
  const placed = metadata?.labels === undefined ? metadata : { ...metadata, labels: without(metadata.labels, generatedLabels(local)) };
  return {
    ...template,
    ...omitUndefined({ metadata: placed }),
    ...(spec === undefined ? {} : { spec: copiedPod(spec, options.flavors, variablesForPods(local, options)) }),
  };
}

/** With `manualSelector` no label is generated: labels of these names are the user's own. */
const generatedLabels = (local: DeepReadonly<Job>): readonly string[] => (local.spec.manualSelector === true ? [] : GENERATED_LABELS);

const without = (map: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
