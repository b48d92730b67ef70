/**
 * The fence of kinds beside Jobs: their operators run the copies, and this stops them while the manager is out of reach. Which kinds there
 * are, watched-kinds.ts says.
 */
import { type FencedKind, isSuspendedByWorker, type WorkOfKind } from '../../shared/api/fenced-kinds.ts';
import { valueAt, withValueAt } from '../../shared/api/field-path.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { FENCED_ANNOTATION, FENCING_ANNOTATION, ORIGIN_LABEL, RESUMED_FROM_ANNOTATION } from '../../shared/api/names.ts';
import { PODS } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { findTrueCondition } from '../../shared/kube/conditions.ts';
import type { ControllerOptions, ReconcileResult } from '../../shared/kube/controller.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { keyOfObject, objectKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { FenceState } from '../fence/origin-fence.ts';
import { copyOfPod, podsOfCopy } from './copy-pods.ts';
import { decideFencedCopy } from './fenced-copy.ts';
import type { WatchedKinds } from './watched-kinds.ts';

export type KindFenceDeps = {
  readonly client: ReadClient & WriteClient;
  readonly kinds: WatchedKinds;
  readonly pods: Lister<Pod>;
  readonly jobs: Lister<Job>;
  readonly queue: Workqueue;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly stateOf: (origin: string) => FenceState;
  readonly clock: Clock;
  readonly log: Logger;
};

export interface KindFence {
  /** Of the pods of all kinds. */
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;
  /** Something else may be done for the copies of this origin now; without one, for all copies. */
  onChange(origin: string | undefined): void;
}

const CONCURRENCY = 4;

const STOPPED = 'The manager of this copy is out of reach: it is suspended until the manager has come back and looked at this cluster';
const GOES_ON = 'The manager of this copy has come back and looked at this cluster: it goes on';

export function createKindFence(deps: KindFenceDeps): KindFence {
  const { client, kinds, pods, jobs, queue, recorder, stateOf, clock, log } = deps;
  /** By UID, the copies whose fence is tripped, or that are not resumed yet: since when, on the clock's `monotonic`. */
  const stopped = new Map<string, { readonly sinceMs: number; readonly key: string; readonly namespace: string | undefined }>();

  kinds.addHandler({
    // In a steady state nothing is done for a copy.
    changed({ key, copy }) {
      const origin = copy.metadata.labels?.[ORIGIN_LABEL];
      if (origin !== undefined && (isSuspendedByWorker(copy) || stateOf(origin) === 'Fenced')) queue.add(key);
    },
    deleted: ({ copy }) => void stopped.delete(copy.metadata.uid),
  });

  async function reconcile(key: string): Promise<ReconcileResult> {
    const watched = kinds.get(key);
    if (watched === undefined) return undefined;
    const { kind, copy } = watched;
    const { labels, annotations, uid, deletionTimestamp } = copy.metadata;
    const origin = labels?.[ORIGIN_LABEL];
    if (origin === undefined) return undefined;
    const fence = annotations?.[FENCING_ANNOTATION] === 'off' ? 'Open' : stateOf(origin);
    const suspended = valueAt(copy, kind.suspend) === true;
    if (fence !== 'Fenced' && !isSuspendedByWorker(copy)) stopped.delete(uid);
    else if (!stopped.has(uid)) stopped.set(uid, { sinceMs: clock.monotonic(), key, namespace: copy.metadata.namespace });
    const running = podsOfCopy(pods, jobs, copy);
    const step = decideFencedCopy(
      {
        fence,
        suspended,
        marked: isSuspendedByWorker(copy),
        deleting: deletionTimestamp !== undefined,
        stoppedSinceMs: stopped.get(uid)?.sinceMs,
        pods: running.length,
      },
      clock.monotonic(),
    );
    switch (step.kind) {
      case 'Nothing':
        return undefined;
      case 'Wait':
        return { requeueAfterMs: step.forMs };
      case 'Suspend':
        // Where the server refuses it, the pods are what is left to stop.
        return suspend(kind, copy).catch(async (error: unknown) => {
          if (step.isLate) await deletePods(kind, copy, running);
          throw error;
        });
      case 'Resume':
        return resume(kind, copy);
      case 'DeletePods':
        return deletePods(kind, copy, running);
    }
  }

  /** On the version that was looked at: what a manager has suspended meanwhile is not marked as suspended here. */
  async function suspend(kind: FencedKind, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
    const mark = { [FENCED_ANNOTATION]: toWireTime(clock.now()) };
    if (await patch(kind, copy, true, mark)) recorder.event(kind.resource, copy, 'Warning', 'Fenced', STOPPED);
    return undefined;
  }

  /** Writes of the manager from before its answer may come by the watch of copies later than the answer: the server is asked. */
  async function resume(kind: FencedKind, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
    let stored: WorkOfKind;
    try {
      stored = await client.get(kind.resource, objectKey(copy));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    const { uid, deletionTimestamp } = stored.metadata;
    if (uid !== copy.metadata.uid || deletionTimestamp !== undefined || !isSuspendedByWorker(stored)) return undefined;
    if (stateOf(copy.metadata.labels?.[ORIGIN_LABEL] ?? '') !== 'Open') return undefined;
    const suspendedSince = findTrueCondition(stored.status?.conditions, kind.suspendedCondition ?? 'Suspended')?.lastTransitionTime;
    // Until its operator has noticed the resume, the condition of before proves no rest.
    const marks = { [FENCED_ANNOTATION]: null, [RESUMED_FROM_ANNOTATION]: suspendedSince ?? '' };
    if (await patch(kind, stored, false, marks)) recorder.event(kind.resource, copy, 'Normal', 'FenceLifted', GOES_ON);
    return undefined;
  }

  /** False where the copy is gone. A conflict brings a newer version into the cache, and another look. */
  async function patch(
    kind: FencedKind,
    copy: DeepReadonly<WorkOfKind>,
    isSuspended: boolean,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<boolean> {
    const { uid, resourceVersion } = copy.metadata;
    const metadata = { uid, resourceVersion, annotations };
    try {
      await client.patch(kind.resource, objectKey(copy), { type: 'merge', body: withValueAt({ metadata }, kind.suspend, isSuspended) });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (isConflict(error)) throw new Error(`${kind.resource.kind} ${keyOfObject(copy)} has changed meanwhile`, { cause: error });
      throw error;
    }
  }

  async function deletePods(kind: FencedKind, copy: DeepReadonly<WorkOfKind>, running: readonly DeepReadonly<Pod>[]): Promise<undefined> {
    const left = running.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const pod of left) {
      try {
        await client.delete(PODS, objectKey(pod), { uid: pod.metadata.uid });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }
    if (left.length > 0)
      recorder.event(kind.resource, copy, 'Warning', 'FencedPodsDeleted', `Deleted ${left.length} pods that its operator had left running`);
    return undefined;
  }

  function podChanged(pod: DeepReadonly<Pod>): void {
    if (stopped.size === 0) return;
    const copy = copyOfPod(pod, jobs);
    if (copy === undefined) return;
    if (copy !== 'unknown') for (const { key } of kinds.ofOriginal(copy.originUid)) queue.add(key);
    else for (const { key, namespace } of stopped.values()) if (namespace === pod.metadata.namespace) queue.add(key);
  }

  return {
    handler: { added: podChanged, updated: podChanged, deleted: podChanged },
    controller: { name: 'kind-fence', queue, concurrency: CONCURRENCY, reconcile, log },
    onChange(origin) {
      for (const { key } of kinds.ofOrigin(origin)) {
        // Failures of before must not put off a stop.
        queue.forget(key);
        queue.add(key);
      }
    },
  };
}
