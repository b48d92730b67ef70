/**
 * Renews the pods that have a pod fence: each says by an annotation that its manager and its worker were in reach just now. Their sidecars
 * see that through the API server and the kubelet, so that no renewal arrives where one of the four is away. A pod is renewed only while
 * the fence of its manager is open, and first when its sidecar runs.
 */
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { originOf } from '../../shared/api/copy-identity.ts';
import { POD_FENCE_RENEWAL_ANNOTATION } from '../../shared/api/names.ts';
import { hasPodFence, POD_RENEWAL_SECONDS, podRenewal, runningPodFence } from '../../shared/api/pod-fence.ts';
import { PODS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import type { ControllerOptions, ReconcileResult } from '../../shared/kube/controller.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { resolveOwner } from '../job/pod-cache.ts';
import { controllerNameOf } from '../job/job-view.ts';
import { isDeleting, isTerminal } from '../job/pod-view.ts';

export type PodRenewalsDeps = {
  /** Without a rate limit: a renewal that was decided is sent. */
  readonly client: Pick<WriteClient, 'patch'>;
  readonly jobs: Lister<Job>;
  readonly pods: Lister<Pod>;
  readonly queue: Workqueue;
  /** Whether the fence of this manager is open now. */
  readonly isOpen: (origin: string) => boolean;
  /** No two give the same. */
  readonly newWord: () => string;
  readonly controllerName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the worker stops. */
  readonly signal: AbortSignal;
};

export interface PodRenewals {
  /** Of the pods. */
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;
}

/** Nothing is known of a request that has had no answer for so long, and the next one is due. */
const ANSWER_MS = 10_000;
const CONCURRENCY = 16;

export function createPodRenewals({
  client,
  jobs,
  pods,
  queue,
  isOpen,
  newWord,
  controllerName,
  clock,
  log,
  signal,
}: PodRenewalsDeps): PodRenewals {
  /** By UID, of which start of its sidecar the worker knows. */
  const starts = new Map<string, number>();

  const see = (pod: DeepReadonly<Pod>): void => {
    if (!hasPodFence(pod)) return;
    const start = startToRenew(pod);
    if (start === undefined) starts.delete(pod.metadata.uid);
    else if (starts.get(pod.metadata.uid) !== start) {
      starts.set(pod.metadata.uid, start);
      // Its containers wait for it.
      queue.add(keyOfObject(pod));
    }
  };

  async function renew(key: string): Promise<ReconcileResult> {
    const pod = pods.get(parseKey(key));
    const start = pod && hasPodFence(pod) ? startToRenew(pod) : undefined;
    const origin = pod && originOfPod(pod);
    if (pod === undefined || start === undefined || origin === undefined) return undefined;
    if (isOpen(origin)) {
      const annotations = { [POD_FENCE_RENEWAL_ANNOTATION]: podRenewal(start, newWord()) };
      const body = { metadata: { uid: pod.metadata.uid, annotations } };
      try {
        await withDeadline(clock, ANSWER_MS, signal, (over) =>
          client.patch(PODS, parseKey(key), { type: 'merge', body }, { signal: over }),
        );
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    }
    return { requeueAfterMs: POD_RENEWAL_SECONDS * 1000 };
  }

  function originOfPod(pod: DeepReadonly<Pod>): string | undefined {
    const job = resolveOwner(jobs, pod.metadata.namespace, controllerOf(pod));
    return job !== undefined && controllerNameOf(job) === controllerName ? originOf(job) : undefined;
  }

  return {
    handler: { added: see, updated: see, deleted: ({ metadata: { uid } }) => void starts.delete(uid) },
    controller: { name: 'pod-renewals', queue, concurrency: CONCURRENCY, reconcile: renew, log },
  };
}

const startToRenew = (pod: DeepReadonly<Pod>): number | undefined =>
  isTerminal(pod) || isDeleting(pod) ? undefined : runningPodFence(pod);
