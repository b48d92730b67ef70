import type { DeepReadonly, Node, Pod } from '../../api/kubernetes.ts';
import { NODES, PODS } from '../../api/resources.ts';
import { type ReconcileResult, runController } from '../../kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { createRateLimiter } from '../../kube/rate-limiter.ts';
import { createWorkqueue } from '../../kube/workqueue.ts';
import { toWireTime } from '../../api/wire-time.ts';
import { sleep } from '../../runtime/clock.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { PodLogs } from '../subresources/pod-log.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { isTerminal } from './doomed-pods.ts';
import type { ContainerRuntime } from './node-agent/container-runtime.ts';
import { HOST_IP, isUnreachable, lossGraceMs, markReady, markUnreachable, type NodeShape, registerNode } from './node-agent/node-status.ts';
import { createPodLogFiles } from './node-agent/pod-log-files.ts';
import { PodWorker } from './node-agent/pod-worker.ts';
import { createProcessContainers } from './node-agent/process-containers.ts';
import { Scheduler } from './node-agent/scheduler.ts';
import { createSimulatedContainers, isSimulated } from './node-agent/simulated-containers.ts';

export type NodeAgentOptions = {
  /** Where logs and working directories of containers are kept. */
  readonly directory: string;
  /** Default: one node, `node-1`. */
  readonly nodes?: readonly NodeShape[];
  /** Where `kubectl logs` finds the logs. */
  readonly logs?: PodLogs;
  /** Where an API server in another process asks for them. */
  readonly kubeletPort?: number;
  /** What runs the containers that are not imagined; default: processes of this machine. */
  readonly containers?: ContainerRuntime;
};

const NODE_RATE_LIMIT = { baseDelayMs: 100, maxDelayMs: 10_000 };
const NODE_RETRY_MS = 1000;
const BY_NODE = 'node';
const SCHEDULER = 'default-scheduler';
/** --event-qps and --event-burst of a kubelet, and those of the scheduler's client. */
const EVENT_RATE_LIMIT = { qps: 50, burst: 100 };

/**
 * Scheduler and kubelet of an embedded control plane: registers nodes, gives pods without one a node with room, and
 * runs their containers as local processes, or imagines them where a pod is annotated so. When it ends, so does
 * everything it started.
 */
export function createNodeAgent(deps: ControllerDeps, options: NodeAgentOptions): Controller {
  return { run: (signal) => new NodeAgent(deps, options).run(signal) };
}

type RunningPod = { readonly worker: PodWorker; readonly ended: Promise<void>; readonly node: string; isLost: boolean };

class NodeAgent {
  readonly #deps: ControllerDeps;
  readonly #options: NodeAgentOptions;
  readonly #shapes: ReadonlyMap<string, NodeShape>;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  readonly #processes: ContainerRuntime;
  readonly #simulation: ContainerRuntime;
  readonly #workers = new Map<string, RunningPod>();
  /** Nodes that are lost, and since when. */
  readonly #lostSinceMs = new Map<string, number>();
  /** Pods whose end was seen; a late event about them starts nothing again. */
  readonly #over = new Set<string>();
  /** Who tells what happens to the pods of each node. */
  readonly #kubelets = new Map<string, EventRecorder>();
  #nodeController: EventRecorder | undefined;
  #addresses = 0;
  #stopped = false;

  constructor(deps: ControllerDeps, options: NodeAgentOptions) {
    this.#deps = deps;
    this.#options = options;
    const { nodes = [{ name: 'node-1' }], kubeletPort } = options;
    this.#shapes = new Map(nodes.map((shape) => [shape.name, { ...shape, ...omitUndefined({ kubeletPort }) }]));
    this.#nodes = createInformer({ ...deps, resource: NODES });
    this.#pods = createInformer({ ...deps, resource: PODS, indexers: { [BY_NODE]: ({ spec }) => [spec.nodeName ?? ''] } });
    this.#processes = options.containers ?? createProcessContainers(options.directory, deps.clock);
    this.#simulation = createSimulatedContainers(deps.clock, deps.random);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { directory, logs } = this.#options;
    const forgetLogs = logs?.add(
      createPodLogFiles(directory, this.#deps.clock, {
        hasPod: (uid) => this.#workers.has(uid),
        isRunning: (uid, container, run) => this.#workers.get(uid)?.worker.isRunning(container, run) ?? false,
      }),
    );
    await this.#register(signal);
    this.#recordEvents(signal);
    const scheduler = new Scheduler({ ...this.#deps, recorder: this.#recorderOf(SCHEDULER, signal) });
    const { clock, log } = this.#deps;
    const queue = createWorkqueue({ name: 'node_agent_nodes', clock, rateLimit: NODE_RATE_LIMIT });
    const nodeChanged = (node: DeepReadonly<Node>): void => {
      scheduler.nodeChanged(node);
      queue.add(node.metadata.name);
    };
    this.#nodes.addHandler({ added: nodeChanged, updated: nodeChanged, deleted: ({ metadata }) => scheduler.nodeGone(metadata.name) });
    const changed = (pod: DeepReadonly<Pod>): void => {
      scheduler.podChanged(pod);
      this.#podChanged(pod);
    };
    this.#pods.addHandler({
      added: changed,
      updated: changed,
      deleted: (pod) => {
        scheduler.podGone(pod);
        this.#podGone(pod);
      },
    });
    const reconcile = (name: string): Promise<ReconcileResult> => this.#reconcileNode(name);
    const working = runController({ name: 'node-agent', queue, concurrency: 1, reconcile, log });
    await Promise.all([this.#nodes.run(signal), this.#pods.run(signal)]);
    queue.shutDown();
    await working;
    this.#stopped = true;
    scheduler.stop();
    forgetLogs?.();
    await this.#end();
  }

  #recordEvents(signal: AbortSignal): void {
    for (const node of this.#shapes.keys()) this.#kubelets.set(node, this.#recorderOf('kubelet', signal, node));
    this.#nodeController = this.#recorderOf('node-controller', signal);
  }

  /** Each source writes as many events as upstream's would, so that what it tells never costs much beside what it does. */
  #recorderOf(component: string, signal: AbortSignal, host?: string): EventRecorder {
    const rateLimiter = createRateLimiter({ ...EVENT_RATE_LIMIT, clock: this.#deps.clock });
    return createEventRecorder({ ...this.#deps, component, ...omitUndefined({ host }), rateLimiter, signal });
  }

  async #end(): Promise<void> {
    const workers = [...this.#workers.values()];
    // What the API knows of these pods stays as it is: on the next start they are found to be lost.
    for (const { worker } of workers) worker.abandon();
    await Promise.all([this.#processes.close(), this.#simulation.close()]);
    await Promise.all(workers.map(({ ended }) => ended));
  }

  #podChanged(pod: DeepReadonly<Pod>): void {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (this.#lostSinceMs.has(pod.spec.nodeName ?? '')) return;
    const known = this.#workers.get(uid);
    if (known === undefined) {
      const ours = this.#shapes.has(pod.spec.nodeName ?? '');
      if (ours && !isTerminal(pod) && !this.#over.has(uid)) this.#start(pod);
    } else known.worker.update(pod);
    if (deletionTimestamp !== undefined) this.#workers.get(uid)?.worker.delete(deletionGracePeriodSeconds);
  }

  #podGone(pod: DeepReadonly<Pod>): void {
    const { uid } = pod.metadata;
    const known = this.#workers.get(uid);
    known?.worker.abandon();
    void this.#cleanUp(pod, known?.ended);
  }

  async #cleanUp(pod: DeepReadonly<Pod>, ended: Promise<void> | undefined): Promise<void> {
    await ended;
    this.#over.delete(pod.metadata.uid);
    try {
      await this.#runtimeOf(pod).removePod(pod);
    } catch (error) {
      this.#deps.log.warn('the files of a pod could not be removed', { pod: pod.metadata.name, error });
    }
  }

  #start(pod: DeepReadonly<Pod>): void {
    if (this.#stopped) return;
    const { uid, name, namespace } = pod.metadata;
    const recorder = this.#kubelets.get(pod.spec.nodeName ?? '');
    if (recorder === undefined) throw new Error(`${pod.spec.nodeName} is no node of this agent`);
    const deps = { ...this.#deps, recorder, runtime: this.#runtimeOf(pod), podIp: this.#nextAddress(), hostIp: HOST_IP };
    const worker = pod.status?.phase === 'Running' ? PodWorker.resume(deps, pod) : new PodWorker(deps, pod);
    const ended = worker
      .run()
      .catch((error: unknown) => this.#deps.log.error('running a pod failed', { pod: `${namespace}/${name}`, error }))
      .then(() => {
        this.#workers.delete(uid);
        // A pod that was lost with its node has not come to its end.
        if (!running.isLost) this.#over.add(uid);
      });
    const running: RunningPod = { worker, ended, node: pod.spec.nodeName ?? '', isLost: false };
    this.#workers.set(uid, running);
  }

  #runtimeOf(pod: DeepReadonly<Pod>): ContainerRuntime {
    return isSimulated(pod) ? this.#simulation : this.#processes;
  }

  /** Every address of 127.0.0.0/8 is this machine, so each pod can have its own to listen on. */
  #nextAddress(): string {
    const number = (this.#addresses++ % 65_000) + 257;
    return `127.1.${Math.floor(number / 256)}.${number % 256}`;
  }

  /** Nodes that are lost from the beginning are known as such before their pods are. */
  async #register(signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#deps;
    for (const shape of this.#shapes.values()) {
      while (!signal.aborted) {
        try {
          const node = await registerNode(client, shape);
          if (lossGraceMs(node) === undefined) await markReady(client, shape, toWireTime(clock.now()));
          else this.#lostSinceMs.set(shape.name, clock.now());
          break;
        } catch (error) {
          log.warn('registering a node failed', { node: shape.name, error });
          await sleep(clock, NODE_RETRY_MS, signal);
        }
      }
    }
  }

  /** Plays the loss of a node while it is annotated as lost, and its return. */
  async #reconcileNode(name: string): Promise<ReconcileResult> {
    const { client, clock } = this.#deps;
    const node = this.#nodes.get({ namespace: '', name });
    const shape = this.#shapes.get(name);
    if (node === undefined || shape === undefined) return undefined;
    const graceMs = lossGraceMs(node);
    if (graceMs === undefined) {
      if (this.#lostSinceMs.has(name)) await this.#restoreNode(shape);
      return undefined;
    }
    const sinceMs = this.#lostSinceMs.get(name) ?? clock.now();
    if (!this.#lostSinceMs.has(name)) this.#loseNode(name);
    this.#lostSinceMs.set(name, sinceMs);
    if (sinceMs + graceMs > clock.now()) return { requeueAfterMs: sinceMs + graceMs - clock.now() };
    if (isUnreachable(node)) return undefined;
    const pods = this.#podsOn(name);
    await markUnreachable(client, node, pods, toWireTime(clock.now()));
    this.#nodeController?.event(NODES, node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    for (const pod of pods) {
      if (!isTerminal(pod)) this.#nodeController?.event(PODS, pod, 'Warning', 'NodeNotReady', 'Node is not ready');
    }
    return undefined;
  }

  /** As when the power fails: everything ends, and nobody is told. */
  #loseNode(name: string): void {
    for (const running of this.#workers.values()) {
      if (running.node !== name) continue;
      running.isLost = true;
      running.worker.abandon();
    }
  }

  async #restoreNode(shape: NodeShape): Promise<void> {
    await Promise.all([...this.#workers.values()].filter(({ isLost }) => isLost).map(({ ended }) => ended));
    await markReady(this.#deps.client, shape, toWireTime(this.#deps.clock.now()));
    this.#lostSinceMs.delete(shape.name);
    for (const pod of this.#podsOn(shape.name)) this.#podChanged(pod);
  }

  #podsOn(node: string): readonly DeepReadonly<Pod>[] {
    return this.#pods.byIndex(BY_NODE, node);
  }
}
