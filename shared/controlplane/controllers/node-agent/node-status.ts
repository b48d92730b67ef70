import { arch, release, type as operatingSystem } from 'node:os';
import { SIMULATE_NODE_LOSS_ANNOTATION } from '../../../api/names.ts';
import type { DeepReadonly, Node, Pod, Unsaved } from '../../../api/kubernetes.ts';
import { NODES, PODS } from '../../../api/resources.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/api-error.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { objectKey } from '../../../kube/keys.ts';
import { KUBERNETES_VERSION } from '../../apimachinery/kubernetes-version.ts';
import { parseDurationMs } from './simulated-containers.ts';

export type NodeShape = {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Quantities of cpu, memory, pods and others; what is absent has a generous default. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Where the API server asks for the logs of its pods, if it must ask. */
  readonly kubeletPort?: number;
};

export const HOST_IP = '127.0.0.1';
const CAPACITY = { cpu: '16', memory: '64Gi', 'ephemeral-storage': '100Gi', pods: '500' };
const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';
const UNREACHABLE_TAINT = 'node.kubernetes.io/unreachable';
/** --node-monitor-grace-period: how long kube-controller-manager waits for a silent kubelet. */
const MONITOR_GRACE_MS = 50_000;

/**
 * How long the loss of a node that is annotated as lost goes unnoticed: the duration in the annotation, else upstream's.
 * Undefined when the node is not lost.
 */
export function lossGraceMs(node: DeepReadonly<Node>): number | undefined {
  const value = node.metadata.annotations?.[SIMULATE_NODE_LOSS_ANNOTATION];
  if (value === undefined || value === 'false') return undefined;
  return parseDurationMs(value) ?? MONITOR_GRACE_MS;
}

export const isUnreachable = ({ spec }: DeepReadonly<Node>): boolean =>
  (spec?.taints ?? []).some(({ key, effect }) => key === UNREACHABLE_TAINT && effect === 'NoExecute');

/** Creates the node where there is none. Returns it as it is. */
export async function registerNode(client: KubeClient, shape: NodeShape): Promise<DeepReadonly<Node>> {
  try {
    return await client.create(NODES, nodeObject(shape));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(NODES, { namespace: '', name: shape.name });
  }
}

/** A node that works: its status, and no taint that says otherwise. `time` is a wire time. */
export async function markReady(client: KubeClient, shape: NodeShape, time: string): Promise<void> {
  const key = { namespace: '', name: shape.name };
  const { spec, metadata } = await client.patchStatus(NODES, key, { type: 'strategic', body: { status: nodeStatus(shape, time) } });
  // A new node is tainted until the node life-cycle controller, whose part this is here, has seen it ready.
  const taints = (spec?.taints ?? []).filter((taint) => taint.key !== NOT_READY_TAINT && taint.key !== UNREACHABLE_TAINT);
  if (taints.length === (spec?.taints ?? []).length) return;
  await client.patch(NODES, key, { type: 'merge', body: { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints } } });
}

/**
 * What the node life-cycle controller does about a kubelet that has fallen silent: conditions, taints, and pods that are no longer ready.
 */
export async function markUnreachable(
  client: KubeClient,
  { metadata: { name }, status }: DeepReadonly<Node>,
  pods: readonly DeepReadonly<Pod>[],
  time: string,
): Promise<void> {
  const key = { namespace: '', name };
  const conditions = (status?.conditions ?? []).map(({ type }) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastTransitionTime: time,
  }));
  const { spec, metadata } = await client.patchStatus(NODES, key, { type: 'strategic', body: { status: { conditions } } });
  for (const pod of pods) await markNotReady(client, pod, time);
  const others = (spec?.taints ?? []).filter((taint) => taint.key !== UNREACHABLE_TAINT);
  const ours = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE_TAINT, effect, timeAdded: time }));
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints: [...others, ...ours] } };
  await client.patch(NODES, key, { type: 'merge', body });
}

async function markNotReady(client: KubeClient, pod: DeepReadonly<Pod>, time: string): Promise<void> {
  if (!(pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')) return;
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: time }];
  try {
    await client.patchStatus(PODS, objectKey(pod), {
      type: 'strategic',
      body: { metadata: { uid: pod.metadata.uid }, status: { conditions } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function nodeObject({ name, labels }: NodeShape): Unsaved<Node> {
  const wellKnown = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': architecture() };
  return { metadata: { name, labels: { ...wellKnown, ...labels } }, spec: {} };
}

const architecture = (): string => (arch() === 'x64' ? 'amd64' : arch());

function nodeStatus({ name, capacity, kubeletPort }: NodeShape, now: string): Node['status'] {
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
    nodeInfo: {
      architecture: architecture(),
      bootID: '',
      containerRuntimeVersion: `process://${process.versions.node}`,
      kernelVersion: release(),
      kubeProxyVersion: '',
      kubeletVersion: KUBERNETES_VERSION.gitVersion,
      machineID: '',
      operatingSystem: 'linux',
      osImage: operatingSystem(),
      systemUUID: '',
    },
    ...(kubeletPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } }),
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
