import type { DeepReadonly, Pod, ReplicaSet, ReplicaSetStatus } from '../../api/kubernetes.ts';
import { apiVersionOf, PODS, REPLICA_SETS } from '../../api/resources.ts';
import { toWireTime } from '../../api/wire-time.ts';
import { isNotFound } from '../../kube/api-error.ts';
import { findTrueCondition } from '../../kube/conditions.ts';
import { type ReconcileResult, runController } from '../../kube/controller.ts';
import { controllerOf } from '../../kube/controller-of.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createControllerExpectations } from '../../kube/expectations.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { keyOf, keyOfObject, objectKey, parseKey } from '../../kube/keys.ts';
import { createWorkqueue } from '../../kube/workqueue.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { Controller, ControllerDeps } from './controllers.ts';

const WORKERS = 4;
const RATE_LIMIT = { baseDelayMs: 5, maxDelayMs: 1_000_000 };
/** Pods that one reconcile makes or deletes at most. */
const BURST = 500;
const BY_CONTROLLER = 'controller';

/** Keeps as many pods of each ReplicaSet as it asks for. Pods that it did not make are neither adopted nor counted. */
export const createReplicaSetController = (deps: ControllerDeps): Controller => ({
  run: (signal) => new ReplicaSets(deps, signal).run(signal),
});

class ReplicaSets {
  readonly #deps: ControllerDeps;
  readonly #replicaSets: Informer<ReplicaSet>;
  readonly #pods: Informer<Pod>;
  readonly #recorder: EventRecorder;
  readonly #expectations;

  constructor(deps: ControllerDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#replicaSets = createInformer({ ...deps, resource: REPLICA_SETS });
    this.#pods = createInformer({ ...deps, resource: PODS, indexers: { [BY_CONTROLLER]: (pod) => [controllerOf(pod)?.uid ?? ''] } });
    this.#recorder = createEventRecorder({ ...deps, component: 'replicaset-controller', signal });
    this.#expectations = createControllerExpectations(deps.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const queue = createWorkqueue({ name: 'replicaset', clock: this.#deps.clock, rateLimit: RATE_LIMIT });
    const changed = (replicaSet: DeepReadonly<ReplicaSet>): void => queue.add(keyOfObject(replicaSet));
    this.#replicaSets.addHandler({
      added: changed,
      updated: changed,
      deleted: (replicaSet) => this.#expectations.forget(replicaSet.metadata.uid),
    });
    const podChanged = (pod: DeepReadonly<Pod>): string | undefined => {
      const owner = controllerOf(pod);
      if (owner?.kind !== REPLICA_SETS.kind) return undefined;
      queue.add(keyOf(pod.metadata.namespace, owner.name));
      return owner.uid;
    };
    this.#pods.addHandler({
      added: (pod) => this.#expectations.creationObserved(podChanged(pod) ?? ''),
      updated: (pod, previous) => {
        const uid = podChanged(pod) ?? '';
        if (isLeaving(pod) && !isLeaving(previous)) this.#expectations.deletionObserved(uid);
      },
      deleted: (pod) => {
        const uid = podChanged(pod) ?? '';
        if (!isLeaving(pod)) this.#expectations.deletionObserved(uid);
      },
    });
    const informing = Promise.all([this.#replicaSets.run(signal), this.#pods.run(signal)]);
    const synced = await Promise.allSettled([this.#replicaSets.waitForSync(signal), this.#pods.waitForSync(signal)]);
    const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    // A controller that stops before it has seen all pods has nothing to work on.
    const working = synced.every(({ status }) => status === 'fulfilled')
      ? runController({ ...this.#deps, name: 'replica-set', queue, concurrency: WORKERS, reconcile })
      : undefined;
    await informing;
    queue.shutDown();
    await working;
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const replicaSet = this.#replicaSets.get(parseKey(key));
    if (replicaSet === undefined) return undefined;
    const { uid, deletionTimestamp } = replicaSet.metadata;
    const pods = this.#pods.byIndex(BY_CONTROLLER, uid).filter((pod) => !isTerminal(pod));
    const active = pods.filter((pod) => !isLeaving(pod));
    let failure: string | undefined;
    if (deletionTimestamp === undefined && this.#expectations.satisfied(uid)) failure = await this.#adjust(replicaSet, active);
    const { clock } = this.#deps;
    const { minReadySeconds = 0 } = replicaSet.spec;
    const readySince = active.flatMap((pod) => readySinceMs(pod) ?? []);
    const status: ReplicaSetStatus = {
      ...replicaSet.status,
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: readySince.length,
      availableReplicas: readySince.filter((sinceMs) => sinceMs + minReadySeconds * 1000 <= clock.now()).length,
      terminatingReplicas: pods.length - active.length,
      observedGeneration: replicaSet.metadata.generation ?? 0,
      conditions: this.#failureCondition(replicaSet, failure),
    };
    if (!semanticEqual(status, replicaSet.status)) await this.#writeStatus(replicaSet, status);
    if (failure !== undefined) throw new Error(failure);
    const waits = readySince.map((sinceMs) => sinceMs + minReadySeconds * 1000 - clock.now()).filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) };
  }

  /** Makes or deletes pods until there are as many as asked for. Returns why that failed, if it did. */
  async #adjust(replicaSet: DeepReadonly<ReplicaSet>, active: readonly DeepReadonly<Pod>[]): Promise<string | undefined> {
    const { uid } = replicaSet.metadata;
    const missing = (replicaSet.spec.replicas ?? 1) - active.length;
    if (missing === 0) return undefined;
    const count = Math.min(Math.abs(missing), BURST);
    if (missing > 0) this.#expectations.expectCreations(uid, count);
    else this.#expectations.expectDeletions(uid, count);
    const one = missing > 0 ? () => this.#create(replicaSet) : (pod: DeepReadonly<Pod> | undefined) => this.#delete(replicaSet, pod);
    const doomed = missing > 0 ? Array.from({ length: count }, () => undefined) : active.toSorted(byWorth).slice(0, count);
    const results = await Promise.allSettled(doomed.map(one));
    const failed = results.filter((result) => result.status === 'rejected');
    for (const _ of failed) {
      if (missing > 0) this.#expectations.creationObserved(uid);
      else this.#expectations.deletionObserved(uid);
    }
    const [first] = failed;
    return first === undefined ? undefined : textOf(first.reason);
  }

  async #create(replicaSet: DeepReadonly<ReplicaSet>): Promise<void> {
    const { name, namespace, uid } = replicaSet.metadata;
    const { metadata = {}, spec } = structuredClone(replicaSet.spec.template ?? {}) as { metadata?: object; spec?: Pod['spec'] };
    const controller = {
      apiVersion: apiVersionOf(REPLICA_SETS),
      kind: REPLICA_SETS.kind,
      name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    try {
      const pod = await this.#deps.client.create(PODS, {
        metadata: { ...metadata, namespace, generateName: `${name}-`, ownerReferences: [controller] },
        spec: spec ?? { containers: [] },
      });
      this.#recorder.event(REPLICA_SETS, replicaSet, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      this.#recorder.event(REPLICA_SETS, replicaSet, 'Warning', 'FailedCreate', `Error creating: ${textOf(error)}`);
      throw error;
    }
  }

  async #delete(replicaSet: DeepReadonly<ReplicaSet>, pod: DeepReadonly<Pod> | undefined): Promise<void> {
    if (pod === undefined) return;
    const { name, uid } = pod.metadata;
    try {
      await this.#deps.client.delete(PODS, objectKey(pod), { uid });
      this.#recorder.event(REPLICA_SETS, replicaSet, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      if (isNotFound(error)) {
        this.#expectations.deletionObserved(replicaSet.metadata.uid);
        return;
      }
      this.#recorder.event(REPLICA_SETS, replicaSet, 'Warning', 'FailedDelete', `Error deleting: ${textOf(error)}`);
      throw error;
    }
  }

  #failureCondition({ status }: DeepReadonly<ReplicaSet>, failure: string | undefined): NonNullable<ReplicaSetStatus['conditions']> {
    const others = (status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure');
    if (failure === undefined) return others.map((each) => ({ ...each }));
    const known = status?.conditions?.find(({ type, message }) => type === 'ReplicaFailure' && message === failure);
    const lastTransitionTime = known?.lastTransitionTime ?? toWireTime(this.#deps.clock.now());
    return [...others, { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failure, lastTransitionTime }];
  }

  /** On the resourceVersion that was decided on: a conflict brings this controller back. */
  async #writeStatus(replicaSet: DeepReadonly<ReplicaSet>, status: ReplicaSetStatus): Promise<void> {
    try {
      await this.#deps.client.replaceStatus(REPLICA_SETS, { ...replicaSet, status } as ReplicaSet);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const isLeaving = ({ metadata }: DeepReadonly<Pod>): boolean => metadata.deletionTimestamp !== undefined;
const isTerminal = ({ status }: DeepReadonly<Pod>): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const readySinceMs = ({ status }: DeepReadonly<Pod>): number | undefined => {
  const ready = findTrueCondition(status?.conditions, 'Ready');
  return ready === undefined ? undefined : Date.parse(ready.lastTransitionTime ?? '');
};

const PHASES = ['Pending', 'Unknown', 'Running'];

/** Pods of least use first (ActivePods): without a node, not running, not ready, ready for the shortest time, newest. */
function byWorth(left: DeepReadonly<Pod>, right: DeepReadonly<Pod>): number {
  const worth = (pod: DeepReadonly<Pod>): number[] => [
    (pod.spec.nodeName ?? '') === '' ? 0 : 1,
    PHASES.indexOf(pod.status?.phase ?? 'Pending'),
    readySinceMs(pod) === undefined ? 0 : 1,
    -(readySinceMs(pod) ?? 0),
    -Date.parse(pod.metadata.creationTimestamp),
  ];
  const [ofLeft, ofRight] = [worth(left), worth(right)];
  const at = ofLeft.findIndex((value, index) => value !== ofRight[index]);
  return at < 0 ? 0 : (ofLeft[at] ?? 0) - (ofRight[at] ?? 0);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
