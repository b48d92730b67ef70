import type { DeepReadonly, Node, Pod } from '../../../api/kubernetes.ts';
import { PODS } from '../../../api/resources.ts';
import { ApiError } from '../../../kube/api-error.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { objectKey } from '../../../kube/keys.ts';
import { pathTo } from '../../../kube/request-path.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { toWireTime } from '../../../api/wire-time.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { type Amounts, amountsOf, misfits, requestsOf } from './fit.ts';

const BINDINGS_IN_FLIGHT_MAX = 16;
/** Pods are scheduled together that arrive, or become possible, within this time. */
const BATCH_MS = 2;
const RETRY_MS = 1000;

type Waiting = { readonly pods: Map<string, DeepReadonly<Pod>>; readonly requests: Amounts; readonly priority: number };

/** Gives pods without a node one that has room for them, highest priority first, then in order of arrival. */
export class Scheduler {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #recorder: EventRecorder;
  readonly #nodes = new Map<string, { readonly node: DeepReadonly<Node>; readonly allocatable: Amounts }>();
  /** What the pods of a node take, and on which node each pod is, assumed ones included. */
  readonly #used = new Map<string, Record<string, bigint>>();
  readonly #placed = new Map<string, { readonly node: string; readonly requests: Amounts }>();
  /** Pods without a node, by what decides where they fit: all of one shape fail or fit alike. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #shapes = new Map<string, string>();
  readonly #toldUnschedulable = new Set<string>();
  #bindings = 0;
  #pass: { cancel(): void } | undefined;
  #stopped = false;

  constructor(deps: { readonly client: KubeClient; readonly clock: Clock; readonly log: Logger; readonly recorder: EventRecorder }) {
    this.#client = deps.client;
    this.#recorder = deps.recorder;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  nodeChanged(node: DeepReadonly<Node>): void {
    this.#nodes.set(node.metadata.name, { node, allocatable: amountsOf(node.status?.allocatable) });
    this.#schedulePass();
  }

  nodeGone(name: string): void {
    this.#nodes.delete(name);
  }

  podChanged(pod: DeepReadonly<Pod>): void {
    const { uid } = pod.metadata;
    const over = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const node = pod.spec.nodeName ?? '';
    if (over) return this.podGone(pod);
    if (node !== '') {
      this.#forgetWaiting(pod);
      if (this.#placed.get(uid)?.node !== node) this.#place(uid, node, requestsOf(pod));
    } else if (isSchedulable(pod) && !this.#placed.has(uid)) this.#wait(pod);
    else if (!isSchedulable(pod)) this.#forgetWaiting(pod);
  }

  podGone(pod: DeepReadonly<Pod>): void {
    this.#forgetWaiting(pod);
    this.#toldUnschedulable.delete(pod.metadata.uid);
    if (this.#displace(pod.metadata.uid)) this.#schedulePass();
  }

  stop(): void {
    this.#stopped = true;
    this.#pass?.cancel();
  }

  #wait(pod: DeepReadonly<Pod>): void {
    const shape = shapeOf(pod);
    const waiting = this.#waiting.get(shape) ?? { pods: new Map(), requests: requestsOf(pod), priority: pod.spec.priority ?? 0 };
    waiting.pods.set(pod.metadata.uid, pod);
    this.#waiting.set(shape, waiting);
    this.#shapes.set(pod.metadata.uid, shape);
    this.#schedulePass();
  }

  #forgetWaiting({ metadata: { uid } }: DeepReadonly<Pod>): void {
    const shape = this.#shapes.get(uid);
    if (shape === undefined) return;
    this.#shapes.delete(uid);
    const waiting = this.#waiting.get(shape);
    waiting?.pods.delete(uid);
    if (waiting?.pods.size === 0) this.#waiting.delete(shape);
  }

  #place(uid: string, node: string, requests: Amounts): void {
    this.#displace(uid);
    this.#placed.set(uid, { node, requests });
    const used = this.#used.get(node) ?? {};
    for (const [name, amount] of Object.entries(requests)) used[name] = (used[name] ?? 0n) + amount;
    this.#used.set(node, used);
  }

  #displace(uid: string): boolean {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return false;
    this.#placed.delete(uid);
    const used = this.#used.get(placed.node) ?? {};
    for (const [name, amount] of Object.entries(placed.requests)) used[name] = (used[name] ?? 0n) - amount;
    return true;
  }

  #schedulePass(delayMs = BATCH_MS): void {
    if (this.#stopped || this.#pass !== undefined || this.#waiting.size === 0) return;
    this.#pass = this.#clock.schedule(() => {
      this.#pass = undefined;
      this.#scheduleAll();
    }, delayMs);
  }

  #scheduleAll(): void {
    const shapes = [...this.#waiting.values()].sort((a, b) => b.priority - a.priority);
    for (const waiting of shapes) {
      for (const pod of waiting.pods.values()) {
        if (this.#bindings >= BINDINGS_IN_FLIGHT_MAX) return;
        const placement = this.#nodeFor(pod, waiting.requests);
        if (typeof placement !== 'string') {
          this.#tellUnschedulable(waiting.pods.values(), placement.reasons);
          break;
        }
        this.#forgetWaiting(pod);
        this.#place(pod.metadata.uid, placement, waiting.requests);
        void this.#bind(pod, placement);
      }
    }
  }

  /** The node with the least of it taken, or how many nodes each reason excludes. */
  #nodeFor(pod: DeepReadonly<Pod>, requests: Amounts): string | { readonly reasons: ReadonlyMap<string, number> } {
    const reasons = new Map<string, number>();
    let best: { readonly name: string; readonly pods: bigint } | undefined;
    for (const [name, { node, allocatable }] of this.#nodes) {
      const free = this.#freeOn(name, allocatable);
      const found = misfits(pod, node, requests, free);
      for (const reason of found) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (found.length > 0) continue;
      if (best === undefined || (free.pods ?? 0n) > best.pods) best = { name, pods: free.pods ?? 0n };
    }
    return best?.name ?? { reasons };
  }

  #freeOn(node: string, allocatable: Amounts): Amounts {
    const used = this.#used.get(node) ?? {};
    return Object.fromEntries(Object.entries(allocatable).map(([resource, amount]) => [resource, amount - (used[resource] ?? 0n)]));
  }

  async #bind(pod: DeepReadonly<Pod>, node: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    this.#bindings++;
    try {
      const body = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace, name, uid },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      };
      await this.#client.raw({ method: 'POST', path: `${pathTo(PODS, namespace, name)}/binding`, body });
      this.#recorder.event(PODS, pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
    } catch (error) {
      this.#displace(uid);
      // Gone, deleted or bound by somebody else: the watch tells what became of it.
      if (!(error instanceof ApiError) || (error.code !== 404 && error.code !== 409)) {
        this.#log.warn('binding a pod failed', { pod: `${namespace}/${name}`, node, error });
        this.#clock.schedule(() => {
          if (!this.#stopped) this.#wait(pod);
        }, RETRY_MS);
      }
    } finally {
      this.#bindings--;
      this.#schedulePass(0);
    }
  }

  #tellUnschedulable(pods: Iterable<DeepReadonly<Pod>>, reasons: ReadonlyMap<string, number>): void {
    const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
    const { size } = this.#nodes;
    const message = size === 0 ? 'no nodes available to schedule pods' : `0/${size} nodes are available: ${parts.join(', ')}.`;
    for (const pod of pods) {
      if (this.#toldUnschedulable.has(pod.metadata.uid)) continue;
      this.#toldUnschedulable.add(pod.metadata.uid);
      this.#recorder.event(PODS, pod, 'Warning', 'FailedScheduling', message);
      void this.#writeUnschedulable(pod, message);
    }
  }

  async #writeUnschedulable(pod: DeepReadonly<Pod>, message: string): Promise<void> {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: toWireTime(this.#clock.now()),
    };
    const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    try {
      await this.#client.patchStatus(PODS, objectKey(pod), { type: 'strategic', body });
    } catch (error) {
      // The condition informs people; a pod that is gone or bound by now needs none.
      this.#log.debug('telling that a pod is unschedulable failed', { pod: pod.metadata.name, error });
    }
  }
}

function isSchedulable({ metadata, spec }: DeepReadonly<Pod>): boolean {
  if (metadata.deletionTimestamp !== undefined || (spec.schedulingGates ?? []).length > 0) return false;
  return (spec.schedulerName ?? 'default-scheduler') === 'default-scheduler';
}

function shapeOf({ spec }: DeepReadonly<Pod>): string {
  const amounts = [...(spec.initContainers ?? []), ...spec.containers].map((container) => container.resources?.requests);
  return JSON.stringify([spec.priority ?? 0, amounts, spec.overhead, spec.nodeSelector, spec.affinity?.nodeAffinity, spec.tolerations]);
}
