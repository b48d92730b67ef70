/** A promise of the Job controller, watched over a whole run. One file holds one family of them. */
import type { DeepReadonly, Job, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '../../../shared/api/names.ts';
import type { Change } from '../cluster-history.ts';

/** What is known of the world beside its history. */
export type Circumstances = {
  /** The worker was told that this many creations of pods of the Job (by UID) had failed, which may have happened. */
  doubtfulCreations(jobUid: string): number;
  /** The worker was told that a write of the Job's status (by UID) had failed, which may have happened. */
  isStatusInDoubt(jobUid: string): boolean;
  /** What a worker has asked for to take the tracking finalizer off a pod, and to delete a pod, oldest first. */
  finalizerRemovals(namespace: string, name: string): readonly Attempt[];
  deletions(namespace: string, name: string): readonly Attempt[];
};

/** One call. A worker was told at `failedMs` that it had failed; until then, and when it succeeds, that is undefined. */
export type Attempt = { readonly sentMs: number; failedMs: number | undefined };

export type Rest = { readonly jobs: Iterable<Job>; readonly pods: Iterable<Pod> };

export interface Invariant {
  /** Looks at the next change. Returns how the promise was broken. */
  observe(change: Change): readonly string[];
  /** Looks at a world in which nothing moves any more. */
  atRest(rest: Rest): readonly string[];
}

export const controllerUidOf = (pod: DeepReadonly<Pod>): string | undefined =>
  pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

export const isTracked = (pod: DeepReadonly<Pod> | undefined): boolean =>
  pod?.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;

export const phaseOf = (pod: DeepReadonly<Pod>): string => pod.status?.phase ?? 'Pending';
export const hasEnded = (pod: DeepReadonly<Pod>): boolean => phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed';
export const isGoing = ({ metadata }: DeepReadonly<Job | Pod>): boolean => metadata.deletionTimestamp !== undefined;
export const isActive = (pod: DeepReadonly<Pod>): boolean => !hasEnded(pod) && !isGoing(pod);

export const hasCondition = (job: DeepReadonly<Job>, ...types: readonly string[]): boolean =>
  job.status?.conditions?.some(({ type, status }) => status === 'True' && types.includes(type)) ?? false;
export const isOver = (job: DeepReadonly<Job>): boolean => hasCondition(job, 'Complete', 'Failed');

/** The index a pod runs for; undefined when it has none that the Job knows. */
export function indexOf(job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): number | undefined {
  const index = givenIndexOf(pod);
  return index !== undefined && index < (job.spec.completions ?? 0) ? index : undefined;
}

/** The index a pod was made for. The Job may be smaller by now, and may grow again. */
export function givenIndexOf(pod: DeepReadonly<Pod>): number | undefined {
  const text = pod.metadata.annotations?.[JOB_COMPLETION_INDEX];
  return text === undefined ? undefined : Number(text);
}

/** `0,2-4` as numbers. */
export const parseIndexText = (text: string | null | undefined): number[] =>
  (text ?? '')
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
    });

export const matchesSelector = (job: DeepReadonly<Job>, pod: DeepReadonly<Pod>): boolean =>
  Object.entries(job.spec.selector?.matchLabels ?? {}).every(([label, value]) => pod.metadata.labels?.[label] === value);

export const describeJob = (job: DeepReadonly<Job>): string =>
  `${job.metadata.namespace}/${job.metadata.name} (${job.metadata.uid.slice(0, 8)})`;
