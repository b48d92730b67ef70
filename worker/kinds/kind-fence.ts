/**
 * The fence of kinds beside Jobs: their operators run the copies, and this stops them while the manager is out of reach. Which kinds there
 * are, the Leases of managers say. A kind is announced as fenced once its objects are in the cache and the worker may suspend them.
 */
import { type FencedKind, fencedKindName, isSuspendedByWorker, type WorkOfKind } from '../../shared/api/fenced-kinds.ts';
import { valueAt, withValueAt } from '../../shared/api/field-path.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { FENCED_ANNOTATION, FENCING_ANNOTATION, ORIGIN_LABEL, RESUMED_FROM_ANNOTATION } from '../../shared/api/names.ts';
import { PODS } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { isAbsent, isConflict, isForbidden, isNotFound } from '../../shared/kube/api-error.ts';
import { clientMay } from '../../shared/kube/access-reviews.ts';
import type { RawClient, ReadClient, WatchClient, WriteClient } from '../../shared/kube/client.ts';
import { findTrueCondition } from '../../shared/kube/conditions.ts';
import type { ControllerOptions, ReconcileResult } from '../../shared/kube/controller.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { createInformer, type EventHandler, type Informer } from '../../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../../shared/kube/informer-of-namespaces.ts';
import { keyOfObject, objectKey, parseKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import type { FenceState } from '../fence/origin-fence.ts';
import { compactCopy, copyIndexers, OF_ORIGIN, OF_ORIGINAL } from './copy-cache.ts';
import { copyOfPod, podsOfCopy } from './copy-pods.ts';
import { decideFencedCopy } from './fenced-copy.ts';

export type KindFenceDeps = {
  readonly client: ReadClient & WriteClient & WatchClient & RawClient;
  readonly pods: Lister<Pod>;
  readonly jobs: Lister<Job>;
  readonly queue: Workqueue;
  readonly recorder: Pick<EventRecorder, 'event'>;
  /** Where copies are; empty: anywhere. */
  readonly namespaces: readonly string[];
  readonly stateOf: (origin: string) => FenceState;
  /** Another kind is fenced now. */
  readonly onFenced: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

export interface KindFence {
  /** Of the pods of all kinds. */
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;
  /** Copies of these kinds are to be stopped. */
  see(kinds: readonly FencedKind[]): void;
  /** By `fencedKindName`, in alphabetical order. */
  fenced(): readonly string[];
  /** Something else may be done for the copies of this origin now; without one, for all copies. */
  onChange(origin: string | undefined): void;
  /** Watches the kinds until the signal aborts. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

type Part = { readonly kind: FencedKind; readonly name: string; readonly copies: Informer<WorkOfKind>; isFenced: boolean };

/** A kind that the cluster does not serve, or that the worker may not list there, is asked for again. */
const ASK_AGAIN_MS = 60_000;
const RETRY_MS = 2_000;
const CONCURRENCY = 4;
const SEPARATOR = '|';

const STOPPED = 'The manager of this copy is out of reach: it is suspended until the manager has come back and looked at this cluster';
const GOES_ON = 'The manager of this copy has come back and looked at this cluster: it goes on';

export function createKindFence(deps: KindFenceDeps): KindFence {
  const { client, pods, jobs, queue, recorder, namespaces, stateOf, onFenced, clock, random, log } = deps;
  const everywhere = namespaces.length === 0 ? [''] : namespaces;
  const parts = new Map<string, Part>();
  /** By UID, the copies whose fence is tripped, or that are not resumed yet: since when, on the clock's `monotonic`. */
  const stopped = new Map<string, { readonly sinceMs: number; readonly key: string; readonly namespace: string | undefined }>();
  const started = Promise.withResolvers<AbortSignal>();
  const watching: Promise<void>[] = [];

  const keyOfCopy = (part: Part, copy: DeepReadonly<WorkOfKind>): string => `${part.name}${SEPARATOR}${keyOfObject(copy)}`;
  const enqueue = (part: Part, copies: readonly DeepReadonly<WorkOfKind>[]): void => {
    for (const copy of copies) queue.add(keyOfCopy(part, copy));
  };

  function see(kinds: readonly FencedKind[]): void {
    for (const kind of kinds) {
      const name = fencedKindName(kind.resource);
      if (parts.has(name)) continue;
      const part: Part = { kind, name, copies: informerOf(kind), isFenced: false };
      parts.set(name, part);
      part.copies.addHandler({
        added: (copy) => wakeWhereStopped(part, copy),
        updated: (copy) => wakeWhereStopped(part, copy),
        deleted: ({ metadata: { uid } }) => void stopped.delete(uid),
      });
      watching.push(started.promise.then((signal) => watch(part, signal)));
    }
  }

  /** In a steady state nothing is done for a copy. */
  function wakeWhereStopped(part: Part, copy: DeepReadonly<WorkOfKind>): void {
    const origin = copy.metadata.labels?.[ORIGIN_LABEL];
    if (origin !== undefined && (isSuspendedByWorker(copy) || stateOf(origin) === 'Fenced')) queue.add(keyOfCopy(part, copy));
  }

  function informerOf(kind: FencedKind): Informer<WorkOfKind> {
    const transform = (object: WorkOfKind): WorkOfKind => compactCopy(kind, object);
    const options = { client, clock, random, log, resource: kind.resource, transform, indexers: copyIndexers };
    if (namespaces.length === 0) return createInformer(options);
    return createInformerOfNamespaces(kind.resource, namespaces, (namespace) => createInformer({ ...options, namespace }));
  }

  async function watch(part: Part, signal: AbortSignal): Promise<void> {
    const { name, copies, kind } = part;
    if (!(await untilUsable(kind, signal))) return;
    const running = copies.run(signal);
    await Promise.race([copies.waitForSync(), aborted(signal)]);
    if (!signal.aborted) {
      part.isFenced = true;
      log.info('copies of a kind are stopped when their manager is out of reach', { kind: name });
      onFenced();
    }
    await running;
  }

  /** Asks until its objects can be listed, and may be suspended; false when the signal has aborted. */
  async function untilUsable({ resource }: FencedKind, signal: AbortSignal): Promise<boolean> {
    const name = fencedKindName(resource);
    for (let isNew = true; !signal.aborted; isNew = false) {
      try {
        const usable = await Promise.all(everywhere.map((namespace) => isUsable(resource, namespace, signal)));
        if (!usable.includes(false)) return true;
        if (isNew) warn(name);
        await sleep(clock, ASK_AGAIN_MS, signal);
      } catch (error) {
        if (signal.aborted) return false;
        if (isForbidden(error) && isNew) warn(name, error);
        else if (!isAbsent(error) && !isForbidden(error)) log.warn('a kind of work cannot be listed yet', { kind: name, error });
        await sleep(clock, isAbsent(error) || isForbidden(error) ? ASK_AGAIN_MS : RETRY_MS, signal);
      }
    }
    return false;
  }

  function warn(kind: string, error?: unknown): void {
    log.warn(
      'copies of a kind are not stopped when their manager is out of reach, and managers are told so: the worker may not list, watch and ' +
        'patch them; grant it (chart switchyard-worker: managerAccess.kinds or rbac.kinds)',
      { kind, error },
    );
  }

  async function isUsable(resource: FencedKind['resource'], namespace: string, signal: AbortSignal): Promise<boolean> {
    await client.list(resource, { namespace, limit: 1, signal });
    const resourceAttributes = { group: resource.group, resource: resource.plural, verb: 'patch', namespace };
    return clientMay(client, { resourceAttributes }, signal);
  }

  async function reconcile(key: string): Promise<ReconcileResult> {
    const [name = '', ofCopy = ''] = key.split(SEPARATOR);
    const part = parts.get(name);
    const copy = part?.copies.get(parseKey(ofCopy));
    const { labels, annotations, uid, deletionTimestamp } = copy?.metadata ?? {};
    const origin = labels?.[ORIGIN_LABEL];
    if (part === undefined || copy === undefined || uid === undefined || origin === undefined) return undefined;
    const fence = annotations?.[FENCING_ANNOTATION] === 'off' ? 'Open' : stateOf(origin);
    const suspended = valueAt(copy, part.kind.suspend) === true;
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
        return suspend(part, copy).catch(async (error: unknown) => {
          if (step.isLate) await deletePods(part, copy, running);
          throw error;
        });
      case 'Resume':
        return resume(part, copy);
      case 'DeletePods':
        return deletePods(part, copy, running);
    }
  }

  /** On the version that was looked at: what a manager has suspended meanwhile is not marked as suspended here. */
  async function suspend({ kind }: Part, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
    const mark = { [FENCED_ANNOTATION]: toWireTime(clock.now()) };
    if (await patch(kind, copy, true, mark)) recorder.event(kind.resource, copy, 'Warning', 'Fenced', STOPPED);
    return undefined;
  }

  /** Writes of the manager from before its answer may come by the watch of copies later than the answer: the server is asked. */
  async function resume({ kind }: Part, copy: DeepReadonly<WorkOfKind>): Promise<undefined> {
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

  async function deletePods({ kind }: Part, copy: DeepReadonly<WorkOfKind>, running: readonly DeepReadonly<Pod>[]): Promise<undefined> {
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
    if (copy !== 'unknown') for (const part of parts.values()) enqueue(part, part.copies.byIndex(OF_ORIGINAL, copy.originUid));
    else for (const { key, namespace } of stopped.values()) if (namespace === pod.metadata.namespace) queue.add(key);
  }

  return {
    handler: { added: podChanged, updated: podChanged, deleted: podChanged },
    controller: { name: 'kind-fence', queue, concurrency: CONCURRENCY, reconcile, log },
    see,
    fenced: () => [...parts.values()].flatMap(({ name, isFenced }) => (isFenced ? [name] : [])).toSorted(),
    onChange(origin) {
      for (const part of parts.values()) enqueue(part, origin === undefined ? part.copies.list() : part.copies.byIndex(OF_ORIGIN, origin));
    },
    async run(signal) {
      started.resolve(signal);
      await aborted(signal);
      await Promise.all(watching);
    },
  };
}
