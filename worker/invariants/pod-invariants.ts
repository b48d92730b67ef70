import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { Finding } from '../../shared/runtime/violations.ts';
import { controllerNameOf } from '../job/job-view.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { resolveOwner } from '../job/pod-cache.ts';
import { hasTrackingFinalizer } from '../job/pod-view.ts';

/** What is promised of every pod and can be seen in the worker's caches. */
export const PodInvariant = {
  /** No pod is kept by the tracking finalizer whose Job is gone or has ended: nobody will count it any more. */
  NoFinalizersLeft: 'no_finalizers_left',
} as const;
export type PodInvariant = (typeof PodInvariant)[keyof typeof PodInvariant];

/** The Job of a pod may be heard of later than the pod; and what cannot be freed at once is tried again, every minute at least. */
export const POD_GRACE_MS: Readonly<Record<PodInvariant, number>> = { [PodInvariant.NoFinalizersLeft]: 600_000 };

/** What is not as promised, at this moment. */
export function findingsOfPod(pod: DeepReadonly<Pod> | undefined, jobs: Lister<Job>, controllerName: string): Finding<PodInvariant>[] {
  if (pod === undefined || !hasTrackingFinalizer(pod)) return [];
  const owner = controllerOf(pod);
  if (owner !== undefined && (owner.kind !== 'Job' || owner.apiVersion !== 'batch/v1')) return [];
  const job = resolveOwner(jobs, pod.metadata.namespace, owner);
  // Pods of others are theirs for as long as there is their Job.
  if (job !== undefined && (controllerNameOf(job) !== controllerName || !isFinished(job.status))) return [];
  const why = owner === undefined ? 'it belongs to no Job' : `its Job ${owner.name} ${job === undefined ? 'is gone' : 'has ended'}`;
  const message = `the tracking finalizer is on it, and ${why}`;
  return [{ invariant: PodInvariant.NoFinalizersLeft, mark: `${pod.metadata.uid} ${why}`, message }];
}
