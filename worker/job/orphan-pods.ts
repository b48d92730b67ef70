/**
 * Frees pods that nobody will count any more of their tracking finalizer, so that they can go: pods without a
 * controller, pods whose Job is gone, pods whose Job is finished.
 *
 * Whether a Job is gone is not believed from the cache alone (UPSTREAM.md D3): beside the built-in controller ours may
 * hear of a pod before it hears of its Job, and a finalizer taken off too early is a pod never counted.
 */
import type { DeepReadonly, Job, LabelSelector, Pod } from '../../shared/api/kubernetes.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import type { Reconcile } from '../../shared/kube/controller.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { matchesLabelSelector, requirementsOf } from '../../shared/kube/selectors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobMemory } from './job-memory.ts';
import { controllerNameOf } from './job-view.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { ownerlessPods, resolveOwner, uncountedPods } from './pod-cache.ts';
import { hasTrackingFinalizer } from './pod-view.ts';
import { REQUESTS_MAX, removeTrackingFinalizer } from './tracking-finalizer.ts';

/** What is in the queue: one pod, or whatever is left of a Job that is finished or gone. */
export type OrphanKey =
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | {
      readonly kind: 'job';
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly selector: DeepReadonly<LabelSelector> | undefined;
      /** The deletion of the Job was seen. */
      readonly gone: boolean;
    };

export const formatOrphanKey = (key: OrphanKey): string => JSON.stringify(key);
export const orphanKeyOfJob = (job: DeepReadonly<Job>, gone: boolean): string => {
  const { namespace, name, uid } = job.metadata;
  return formatOrphanKey({ kind: 'job', namespace, name, uid, selector: job.spec.selector, gone });
};

export type OrphanReconcilerDeps = {
  readonly client: ReadClient & WriteClient;
  readonly jobs: Lister<Job>;
  readonly pods: Lister<Pod>;
  readonly memory: Pick<JobMemory, 'finalizerExpectations'>;
  readonly controllerName: string;
  readonly log: Logger;
};

export function createOrphanReconciler(deps: OrphanReconcilerDeps): Reconcile {
  const { client, jobs, pods, memory, controllerName, log } = deps;

  return async function reconcileOrphans(text: string): Promise<undefined> {
    // The queue holds what formatOrphanKey wrote.
    const key = JSON.parse(text) as OrphanKey;
    if (key.kind === 'pod') {
      const pod = pods.get(key);
      if (pod !== undefined) await free(pod, undefined);
      return undefined;
    }
    const requirements = requirementsOf(key.selector);
    // UPSTREAM.md Q23: what is owned needs no matching labels, as nobody else will ever free it.
    const ownerless = ownerlessPods(pods, key.namespace).filter((pod) => matchesLabelSelector(requirements, pod.metadata.labels));
    const left = [...uncountedPods(pods, key), ...ownerless];
    const goneUid = key.gone ? key.uid : undefined;
    const failures = await inParallel(left, REQUESTS_MAX, (pod) => free(pod, goneUid).then(nothing, (error: unknown) => ({ error })));
    const failed = failures.filter((failure) => failure !== undefined);
    if (failed.length > 0) throw new Error(`free the pods of job ${key.namespace}/${key.name}`, { cause: failed[0]?.error });
    return undefined;
  };

  async function free(pod: DeepReadonly<Pod>, goneUid: string | undefined): Promise<void> {
    if (!hasTrackingFinalizer(pod) || isRemovalPending(pod) || !(await isOrphan(pod, goneUid))) return;
    const freed = await removeTrackingFinalizer(client, pod);
    if (freed !== undefined)
      log.debug('freed an orphaned pod of its finalizer', { namespace: pod.metadata.namespace, pod: pod.metadata.name });
  }

  /** The Job's last sync has taken the finalizer off, and the cache has not seen that yet. */
  function isRemovalPending(pod: DeepReadonly<Pod>): boolean {
    const jobUid = controllerOf(pod)?.uid;
    return jobUid !== undefined && memory.finalizerExpectations.pending(jobUid).has(pod.metadata.uid);
  }

  /** Nobody will count this pod: it has no owner, or its owner is ours and done, or its owner is gone. */
  async function isOrphan(pod: DeepReadonly<Pod>, goneUid: string | undefined): Promise<boolean> {
    const owner = controllerOf(pod);
    if (owner === undefined) return true;
    if (owner.kind !== 'Job' || owner.apiVersion !== 'batch/v1') return false;
    const { namespace } = pod.metadata;
    const job = resolveOwner(jobs, namespace, owner);
    if (job !== undefined) return controllerNameOf(job) === controllerName && isFinished(job.status);
    return owner.uid === goneUid || (await isGone(namespace, owner.name, owner.uid));
  }

  async function isGone(namespace: string, name: string, uid: string): Promise<boolean> {
    try {
      return (await client.get(JOBS, { namespace, name })).metadata.uid !== uid;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw new Error(`see whether job ${namespace}/${name} is gone`, { cause: error });
    }
  }
}

const nothing = (): undefined => undefined;
