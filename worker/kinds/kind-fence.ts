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
  return new FenceOfCopies(deps);
}

class FenceOfCopies implements KindFence {
  readonly #deps: KindFenceDeps;
  /** By UID, the copies whose fence is tripped, or that are not resumed yet: since when, on the clock's `monotonic`. */
  readonly #stopped = new Map<string, { readonly sinceMs: number; readonly key: string; readonly namespace: string | undefined }>();
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;

  constructor(deps: KindFenceDeps) {
    this.#deps = deps;
    deps.kinds.addHandler({
      // In a steady state nothing is done for a copy.
      changed: ({ key, copy }) => {
        const origin = copy.metadata.labels?.[ORIGIN_LABEL];
        if (origin !== undefined && (isSuspendedByWorker(copy) || deps.stateOf(origin) === 'Fenced')) deps.queue.add(key);
      },
      deleted: ({ copy }) => void this.#stopped.delete(copy.metadata.uid),
    });
    this.handler = {
      added: (pod) => this.#podChanged(pod),
      updated: (pod) => this.#podChanged(pod),
      deleted: (pod) => this.#podChanged(pod),
    };
    this.controller = {
      name: 'kind-fence',
      queue: deps.queue,
      concurrency: CONCURRENCY,
      reconcile: (key) => this.#reconcile(key),
      log: deps.log,
    };
  }

  onChange(origin: string | undefined): void {
    const { kinds, queue } = this.#deps;
    for (const { key } of kinds.ofOrigin(origin)) {
      // Failures of before must not put off a stop.
      queue.forget(key);
      queue.add(key);
    }
  }

  #podChanged(pod: DeepReadonly<Pod>): void {
    const { jobs, kinds, queue } = this.#deps;
    if (this.#stopped.size === 0) return;
    const copy = copyOfPod(pod, jobs);
    if (copy === undefined) return;
    if (copy !== 'unknown') for (const { key } of kinds.ofOriginal(copy.originUid)) queue.add(key);
    else for (const { key, namespace } of this.#stopped.values()) if (namespace === pod.metadata.namespace) queue.add(key);
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { kinds, stateOf, clock, pods, jobs } = this.#deps;
    const watched = kinds.get(key);
    if (watched === undefined) return undefined;
    const { kind, copy } = watched;
    const { labels, annotations, uid, deletionTimestamp } = copy.metadata;
    const origin = labels?.[ORIGIN_LABEL];
    if (origin === undefined) return undefined;
    const fence = annotations?.[FENCING_ANNOTATION] === 'off' ? 'Open' : stateOf(origin);
    const suspended = valueAt(copy, kind.suspend) === true;
    if (fence !== 'Fenced' && !isSuspendedByWorker(copy)) this.#stopped.delete(uid);
    else if (!this.#stopped.has(uid)) this.#stopped.set(uid, { sinceMs: clock.monotonic(), key, namespace: copy.metadata.namespace });
    const running = podsOfCopy(pods, jobs, copy);
    const step = decideFencedCopy(
      {
        fence,
        suspended,
        marked: isSuspendedByWorker(copy),
        deleting: deletionTimestamp !== undefined,
        stoppedSinceMs: this.#stopped.get(uid)?.sinceMs,
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
        return this.#suspend(kind, copy).catch(async (error: unknown) => {
          if (step.isLate) await this.#deletePods(kind, copy, running);
          throw error;
        });
      case 'Resume':
        return this.#resume(kind, copy);
      case 'DeletePods':
        return this.#deletePods(kind, copy, running);
    }
  }

  /** On the version that was looked at: what a manager has suspended meanwhile is not marked as suspended here. */
  async #suspend(kind: FencedKind, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
    const { clock, recorder } = this.#deps;
    const mark = { [FENCED_ANNOTATION]: toWireTime(clock.now()) };
    if (await this.#patch(kind, copy, true, mark)) recorder.event(kind.resource, copy, 'Warning', 'Fenced', STOPPED);
    return undefined;
  }

  /** False where the copy is gone. A conflict brings a newer version into the cache, and another look. */
  async #patch(
    kind: FencedKind,
    copy: DeepReadonly<WorkOfKind>,
    isSuspended: boolean,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<boolean> {
    const { uid, resourceVersion } = copy.metadata;
    const metadata = { uid, resourceVersion, annotations };
    try {
      await this.#deps.client.patch(kind.resource, objectKey(copy), {
        type: 'merge',
        body: withValueAt({ metadata }, kind.suspend, isSuspended),
      });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (isConflict(error)) throw new Error(`${kind.resource.kind} ${keyOfObject(copy)} has changed meanwhile`, { cause: error });
      throw error;
    }
  }

  async #deletePods(kind: FencedKind, copy: DeepReadonly<WorkOfKind>, running: readonly DeepReadonly<Pod>[]): Promise<undefined> {
    const { client, recorder } = this.#deps;
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

  /** Writes of the manager from before its answer may come by the watch of copies later than the answer: the server is asked. */
  async #resume(kind: FencedKind, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
    const { client, stateOf, recorder } = this.#deps;
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
    if (await this.#patch(kind, stored, false, marks)) recorder.event(kind.resource, copy, 'Normal', 'FenceLifted', GOES_ON);
    return undefined;
  }
}
