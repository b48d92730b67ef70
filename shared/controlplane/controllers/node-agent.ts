import { arch } from 'node:os';
import type { DeepReadonly, Node, Pod, Unsaved } from '../../api/kubernetes.ts';
import { NODES, PODS } from '../../api/resources.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { createInformer } from '../../kube/informer.ts';
import { sleep, toWireTime } from '../../runtime/clock.ts';
import type { PodLogs } from '../pod-log.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { isTerminal } from './doomed-pods.ts';
import type { ContainerRuntime } from './node-agent/container-runtime.ts';
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
};

export type NodeShape = {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Quantities of cpu, memory, pods and others; what is absent has a generous default. */
  readonly capacity?: Readonly<Record<string, string>>;
};

const CAPACITY = { cpu: '16', memory: '64Gi', 'ephemeral-storage': '100Gi', pods: '500' };
const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';
const HOST_IP = '127.0.0.1';
const NODE_RETRY_MS = 1000;

/**
 * Scheduler and kubelet of an embedded control plane: registers nodes, gives pods without one a node with room, and
 * runs their containers as local processes, or imagines them where a pod is annotated so. When it ends, so does
 * everything it started.
 */
export function createNodeAgent(deps: ControllerDeps, options: NodeAgentOptions): Controller {
  return { run: (signal) => new NodeAgent(deps, options).run(signal) };
}

class NodeAgent {
  readonly #deps: ControllerDeps;
  readonly #options: NodeAgentOptions;
  readonly #nodes: readonly NodeShape[];
  readonly #processes: ContainerRuntime;
  readonly #simulation: ContainerRuntime;
  readonly #workers = new Map<string, { readonly worker: PodWorker; readonly ended: Promise<void> }>();
  /** Pods whose end was seen; a late event about them starts nothing again. */
  readonly #over = new Set<string>();
  #addresses = 0;
  #stopped = false;

  constructor(deps: ControllerDeps, options: NodeAgentOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#nodes = options.nodes ?? [{ name: 'node-1' }];
    this.#processes = createProcessContainers(options.directory, deps.clock, deps.log);
    this.#simulation = createSimulatedContainers(deps.clock, deps.random);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { directory, logs } = this.#options;
    const forgetLogs = logs?.add(createPodLogFiles(directory, this.#deps.clock, (uid) => this.#workers.has(uid)));
    await this.#register(signal);
    const scheduler = new Scheduler(this.#deps);
    const nodes = createInformer({ ...this.#deps, resource: NODES });
    const pods = createInformer({ ...this.#deps, resource: PODS });
    nodes.addHandler({
      added: (node) => scheduler.nodeChanged(node),
      updated: (node) => scheduler.nodeChanged(node),
      deleted: (node) => scheduler.nodeGone(node.metadata.name),
    });
    const changed = (pod: DeepReadonly<Pod>): void => {
      scheduler.podChanged(pod);
      this.#podChanged(pod);
    };
    pods.addHandler({
      added: changed,
      updated: changed,
      deleted: (pod) => {
        scheduler.podGone(pod);
        this.#podGone(pod);
      },
    });
    await Promise.all([nodes.run(signal), pods.run(signal)]);
    this.#stopped = true;
    scheduler.stop();
    forgetLogs?.();
    await this.#end();
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
    const known = this.#workers.get(uid);
    if (known === undefined) {
      const ours = this.#nodes.some(({ name }) => name === pod.spec.nodeName);
      if (ours && !isTerminal(pod) && !this.#over.has(uid)) this.#start(pod);
    }
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
    const deps = { ...this.#deps, runtime: this.#runtimeOf(pod), podIp: this.#nextAddress(), hostIp: HOST_IP };
    const worker = pod.status?.phase === 'Running' ? PodWorker.resume(deps, pod) : new PodWorker(deps, pod);
    const ended = worker
      .run()
      .catch((error: unknown) => this.#deps.log.error('running a pod failed', { pod: `${namespace}/${name}`, error }))
      .then(() => {
        this.#workers.delete(uid);
        this.#over.add(uid);
      });
    this.#workers.set(uid, { worker, ended });
  }

  #runtimeOf(pod: DeepReadonly<Pod>): ContainerRuntime {
    return isSimulated(pod) ? this.#simulation : this.#processes;
  }

  /** Every address of 127.0.0.0/8 is this machine, so each pod can have its own to listen on. */
  #nextAddress(): string {
    const number = (this.#addresses++ % 65_000) + 257;
    return `127.1.${Math.floor(number / 256)}.${number % 256}`;
  }

  async #register(signal: AbortSignal): Promise<void> {
    for (const shape of this.#nodes) {
      while (!signal.aborted) {
        try {
          await this.#registerOne(shape);
          break;
        } catch (error) {
          this.#deps.log.warn('registering a node failed', { node: shape.name, error });
          await sleep(this.#deps.clock, NODE_RETRY_MS, signal);
        }
      }
    }
  }

  async #registerOne(shape: NodeShape): Promise<void> {
    const { client, clock } = this.#deps;
    const node = nodeObject(shape);
    try {
      await client.create(NODES, node);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const key = { namespace: '', name: shape.name };
    const status = nodeStatus(shape, toWireTime(clock.now()));
    const { spec } = await client.patchStatus(NODES, key, { type: 'strategic', body: { status } });
    // A new node is tainted until the node life-cycle controller, whose part this is here, has seen it ready.
    const taints = (spec?.taints ?? []).filter((taint) => taint.key !== NOT_READY_TAINT);
    if (taints.length < (spec?.taints ?? []).length) await client.patch(NODES, key, { type: 'merge', body: { spec: { taints } } });
  }
}

function nodeObject({ name, labels }: NodeShape): Unsaved<Node> {
  const wellKnown = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': architecture() };
  return { metadata: { name, labels: { ...wellKnown, ...labels } }, spec: {} };
}

const architecture = (): string => (arch() === 'x64' ? 'amd64' : arch());

function nodeStatus({ name, capacity }: NodeShape, now: string): Node['status'] {
  const amounts = { ...CAPACITY, ...capacity };
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: HOST_IP },
      { type: 'Hostname', address: name },
    ],
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'the node agent is running'),
    ],
  };
}
