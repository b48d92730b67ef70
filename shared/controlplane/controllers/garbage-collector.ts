import type { OwnerReference } from '../../api/kubernetes.ts';
import { ApiError, isConflict, isNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { runController } from '../../kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createWorkqueue, type Workqueue } from '../../kube/workqueue.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { decideFate, type OwnerState } from './garbage-collector/decide-fate.ts';
import { ObjectMonitors, toGraphObject } from './garbage-collector/object-monitors.ts';
import {
  awaitsDependents,
  awaitsOrphaning,
  blocks,
  FOREGROUND_FINALIZER,
  type GraphObject,
  isNamedBy,
  ORPHAN_FINALIZER,
  OwnerGraph,
} from './garbage-collector/owner-graph.ts';

const WORKERS = 4;
const RATE_LIMIT = { baseDelayMs: 5, maxDelayMs: 30_000 };
/** UIDs never come back, so an owner once found absent stays so where it was looked for; this bounds the memory of it. */
const ABSENT_OWNERS_MAX = 10_000;

/**
 * Deletes what its owners left behind, as kube-controller-manager's garbage collector does: after a background
 * deletion the dependents go, a foreground deletion waits for them, an orphaning one lets go of them first.
 */
export function createGarbageCollector(deps: ControllerDeps): Controller {
  return { run: (signal) => new GarbageCollector(deps, signal).run(signal) };
}

class GarbageCollector {
  readonly #deps: ControllerDeps;
  readonly #client: KubeClient;
  readonly #graph = new OwnerGraph();
  readonly #monitors: ObjectMonitors;
  /** UIDs of objects whose owners, or whose dependents, may have gone. */
  readonly #toJudge: Workqueue;
  /** UIDs of objects that wait for their dependents to be let go. */
  readonly #toOrphan: Workqueue;
  /** Places at which an owner was looked for in vain. */
  readonly #absentOwners = new Set<string>();
  readonly #recorder: EventRecorder;

  constructor(deps: ControllerDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#client = deps.client;
    this.#recorder = createEventRecorder({ ...deps, component: 'garbage-collector-controller', signal });
    this.#monitors = new ObjectMonitors(deps, { changed: (object) => this.#changed(object), gone: (uid) => this.#gone(uid) });
    this.#toJudge = createWorkqueue({ name: 'garbage_collector_attempt_to_delete', clock: deps.clock, rateLimit: RATE_LIMIT });
    this.#toOrphan = createWorkqueue({ name: 'garbage_collector_attempt_to_orphan', clock: deps.clock, rateLimit: RATE_LIMIT });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    const workers: Promise<void>[] = [];
    const start = (): void => {
      const common = { log, concurrency: WORKERS };
      workers.push(runController({ ...common, name: 'garbage-collector', queue: this.#toJudge, reconcile: (uid) => this.#judge(uid) }));
      workers.push(
        runController({ ...common, name: 'garbage-collector-orphan', queue: this.#toOrphan, reconcile: (uid) => this.#orphan(uid) }),
      );
    };
    // Judging begins when everything that exists is known.
    await this.#monitors.run(signal, start);
    this.#toJudge.shutDown();
    this.#toOrphan.shutDown();
    await Promise.all(workers);
  }

  #changed(object: GraphObject): void {
    const previous = this.#graph.set(object);
    if (awaitsOrphaning(object)) this.#toOrphan.add(object.uid);
    else if (awaitsDependents(object)) {
      this.#toJudge.add(object.uid);
      const hasChanged = previous === undefined || !awaitsDependents(previous);
      for (const dependent of hasChanged ? this.#graph.dependentsOf(object.uid) : []) this.#toJudge.add(dependent.uid);
    }
    const suspicious = object.owners.some((reference) => {
      const owner = this.#graph.get(reference.uid);
      return owner === undefined || awaitsDependents(owner) || !isNamedBy(owner, reference, object.namespace);
    });
    if (suspicious && !object.deleting) this.#toJudge.add(object.uid);
    this.#wakeWaiting(previous?.owners ?? []);
  }

  #gone(uid: string): void {
    const known = this.#graph.remove(uid);
    for (const dependent of this.#graph.dependentsOf(uid)) this.#toJudge.add(dependent.uid);
    this.#wakeWaiting(known?.owners ?? []);
  }

  /** An owner that waits for its dependents looks again when one of them has changed or gone. */
  #wakeWaiting(owners: readonly OwnerReference[]): void {
    for (const { uid } of owners) {
      const owner = this.#graph.get(uid);
      if (owner !== undefined && awaitsDependents(owner)) this.#toJudge.add(uid);
    }
  }

  async #judge(uid: string): Promise<void> {
    const object = this.#graph.get(uid);
    if (object === undefined) return;
    if (awaitsDependents(object)) return this.#finishForeground(object);
    // What is already on its way is not touched again.
    if (object.deleting || object.owners.length === 0) return;
    const states = await Promise.all(object.owners.map((owner) => this.#stateOf(owner, object)));
    const fate = decideFate(object, states, this.#graph.dependentsOf(uid));
    switch (fate.kind) {
      case 'keep':
        return;
      case 'detach':
        return this.#detach(object, fate.ownerUids);
      case 'delete':
        if (fate.unblockFirst) await this.#unblock(object);
        return this.#delete(object, fate.policy);
    }
  }

  async #stateOf(owner: OwnerReference, dependent: GraphObject): Promise<OwnerState> {
    const resource = this.#monitors.resourceOf(owner.apiVersion, owner.kind);
    if (resource === undefined)
      throw new Error(`the kind ${owner.kind} of ${owner.apiVersion}, owner of ${describe(dependent)}, is not served`);
    const known = this.#graph.get(owner.uid);
    if (known?.resource.namespaced === true && known.namespace !== dependent.namespace) this.#reportForeign(owner, dependent);
    if (resource.namespaced && dependent.namespace === '') return 'misplaced';
    const namespace = resource.namespaced ? dependent.namespace : '';
    if (known !== undefined && isNamedBy(known, owner, namespace)) return awaitsDependents(known) ? 'awaiting-dependents' : 'solid';
    const place = JSON.stringify([owner.uid, owner.apiVersion, owner.kind, namespace, owner.name]);
    if (this.#absentOwners.has(place)) return 'absent';
    const live = await this.#live(resource, namespace, owner.name);
    if (live?.uid !== owner.uid) {
      if (this.#absentOwners.size >= ABSENT_OWNERS_MAX) this.#absentOwners.clear();
      this.#absentOwners.add(place);
      return 'absent';
    }
    return awaitsDependents(live) ? 'awaiting-dependents' : 'solid';
  }

  #reportForeign({ apiVersion, kind, name, uid }: OwnerReference, dependent: GraphObject): void {
    const { namespace, name: ownName, uid: ownUid, resourceVersion } = dependent;
    const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`;
    // An Event refers to its object by these fields alone.
    const object = { metadata: { namespace, name: ownName, uid: ownUid, resourceVersion, creationTimestamp: '' } };
    this.#recorder.event(dependent.resource, object, 'Warning', 'OwnerRefInvalidNamespace', message);
  }

  async #live(resource: GraphObject['resource'], namespace: string, name: string): Promise<GraphObject | undefined> {
    try {
      return toGraphObject(resource, await this.#client.get(resource, { namespace, name }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Deletes exactly the object that was judged. When it changed meanwhile, its owners must still be the same. */
  async #delete(object: GraphObject, propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
    const { resource, uid, resourceVersion } = object;
    try {
      try {
        await this.#client.delete(resource, object, { propagationPolicy, uid, resourceVersion });
      } catch (error) {
        if (!isConflict(error)) throw error;
        const live = await this.#live(resource, object.namespace, object.name);
        if (live === undefined || live.uid !== uid) return;
        if (JSON.stringify(live.owners) !== JSON.stringify(object.owners)) throw error;
        await this.#client.delete(resource, object, { propagationPolicy, uid });
      }
      this.#deps.log.debug('deleted an object without owners', { object: describe(object), propagationPolicy });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #finishForeground(owner: GraphObject): Promise<void> {
    const blocking = this.#graph.dependentsOf(owner.uid).filter((dependent) => blocks(dependent, owner.uid));
    if (blocking.length === 0) return this.#removeFinalizer(owner, FOREGROUND_FINALIZER);
    for (const dependent of blocking) {
      if (!dependent.deleting) this.#toJudge.add(dependent.uid);
    }
  }

  async #orphan(uid: string): Promise<void> {
    const owner = this.#graph.get(uid);
    if (owner === undefined || !awaitsOrphaning(owner)) return;
    await Promise.all(this.#graph.dependentsOf(uid).map((dependent) => this.#detach(dependent, [uid])));
    await this.#removeFinalizer(owner, ORPHAN_FINALIZER);
  }

  async #detach(object: GraphObject, ownerUids: readonly string[]): Promise<void> {
    const metadata = { uid: object.uid, ownerReferences: ownerUids.map((uid) => ({ $patch: 'delete', uid })) };
    await this.#patchOwners(object, metadata, (owners) => owners.filter((owner) => !ownerUids.includes(owner.uid)));
  }

  async #unblock(object: GraphObject): Promise<void> {
    const unblocked = object.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    await this.#patchOwners(object, { uid: object.uid, ownerReferences: unblocked }, () => unblocked);
  }

  /** A strategic merge patch, or where the kind has none (custom resources) a merge patch of the live list. */
  async #patchOwners(
    object: GraphObject,
    metadata: object,
    change: (owners: readonly OwnerReference[]) => OwnerReference[],
  ): Promise<void> {
    try {
      try {
        await this.#client.patch(object.resource, object, { type: 'strategic', body: { metadata } });
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 415) throw error;
        const live = await this.#live(object.resource, object.namespace, object.name);
        if (live === undefined || live.uid !== object.uid) return;
        const ownerReferences = change(live.owners);
        const body = { metadata: { uid: live.uid, resourceVersion: live.resourceVersion, ownerReferences } };
        await this.#client.patch(object.resource, object, { type: 'merge', body });
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #removeFinalizer(object: GraphObject, finalizer: string): Promise<void> {
    const live = await this.#live(object.resource, object.namespace, object.name);
    if (live === undefined || live.uid !== object.uid || !live.finalizers.includes(finalizer)) return;
    const finalizers = live.finalizers.filter((each) => each !== finalizer);
    const body = { metadata: { resourceVersion: live.resourceVersion, finalizers } };
    try {
      await this.#client.patch(object.resource, object, { type: 'merge', body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const describe = (object: GraphObject): string =>
  `${object.resource.plural} ${object.namespace === '' ? object.name : `${object.namespace}/${object.name}`}`;
