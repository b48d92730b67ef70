/**
 * A pod that was freed of its finalizer, in order to be deleted, will never be counted: whatever it does is in vain. When its
 * deletion is refused it is therefore the first to be tried again, before another pod of its Job is given up; and it is tried again
 * until it is gone, also when the Job would have room for it by now.
 */
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import type { PodChange } from '../cluster-history.ts';
import {
  type Circumstances,
  controllerUidOf,
  describeJob,
  hasCondition,
  type Invariant,
  isActive,
  isGoing,
  isOver,
  isTracked,
  matchesSelector,
} from './invariant.ts';

export interface RemovalBegun extends Invariant {
  /** Pods that are at work and will not be counted, in a world in which each worker has had time to delete them. */
  inVain(): { readonly pod: Pod; readonly problem: string }[];
}

export function createRemovalBegun(circumstances: Circumstances): RemovalBegun {
  const jobs = new Map<string, Job>();
  /** Those that have lost their finalizer while they were at work, and still are, by UID. */
  const begun = new Map<string, Pod>();

  return {
    observe(change) {
      if (change.kind === 'Pod') return observePod(change);
      if (change.gone) jobs.delete(change.object.metadata.uid);
      else jobs.set(change.object.metadata.uid, change.object);
      return [];
    },
    atRest: () => [],
    inVain: () =>
      [...begun.values()].flatMap((pod) => {
        const job = jobOf(pod);
        return job === undefined
          ? []
          : [{ pod, problem: `${describeJob(job)}: pod ${pod.metadata.name} is at work without a finalizer, and nobody deletes it` }];
      }),
  };

  function observePod({ object: pod, previous, gone }: PodChange): string[] {
    const { uid } = pod.metadata;
    if (gone || !isActive(pod) || isTracked(pod)) {
      begun.delete(uid);
      return [];
    }
    const isGivenUp = previous !== undefined && isTracked(previous);
    if (!isGivenUp) {
      if (begun.has(uid)) begun.set(uid, pod);
      return [];
    }
    const job = jobOf(pod);
    const problems = job === undefined ? [] : [...begun.values()].flatMap((other) => passedOver(job, other, pod));
    begun.set(uid, pod);
    return problems;
  }

  /** The Job whose pod this is, as long as it is not at its end: then all finalizers go. */
  function jobOf(pod: Pod): Job | undefined {
    const job = jobs.get(controllerUidOf(pod) ?? '');
    if (job === undefined || isGoing(job) || isOver(job) || hasCondition(job, 'FailureTarget', 'SuccessCriteriaMet')) return undefined;
    return matchesSelector(job, pod) ? job : undefined;
  }

  /** Whether `next` was given up although the deletion of `waiting` had failed before, and was not tried again. */
  function passedOver(job: Job, waiting: Pod, next: Pod): string[] {
    if (jobOf(waiting) !== job) return [];
    const { namespace, name } = waiting.metadata;
    const freedMs = circumstances.finalizerRemovals(namespace, name)[0]?.sentMs ?? Number.POSITIVE_INFINITY;
    const isPassedOver = ({ sentMs }: { readonly sentMs: number }): boolean => {
      const before = circumstances.deletions(namespace, name).filter((each) => each.sentMs >= freedMs && each.sentMs <= sentMs);
      return before.length > 0 && before.every(({ failedMs }) => failedMs !== undefined && failedMs < sentMs);
    };
    if (!circumstances.finalizerRemovals(namespace, next.metadata.name).every(isPassedOver)) return [];
    return [`${describeJob(job)}: pod ${next.metadata.name} was given up while ${name}, whose deletion had failed, is still at work`];
  }
}
