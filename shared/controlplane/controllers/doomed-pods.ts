import type { DeepReadonly, Node, Pod } from '../../api/kubernetes.ts';

/** A pod that is to be removed, and why; the reasons are upstream's metric labels. */
export type Doomed = { readonly pod: DeepReadonly<Pod>; readonly reason: 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled' };

const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service';

export const isTerminal = (pod: DeepReadonly<Pod>): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Upstream's four passes, in its order; a pod is named by the first that finds it. */
export function doomedPods(
  pods: readonly DeepReadonly<Pod>[],
  nodes: readonly DeepReadonly<Node>[],
  goneNodes: ReadonlySet<string>,
  terminatedThreshold: number,
): Doomed[] {
  const doomed = new Map<string, Doomed>();
  const add = (found: readonly DeepReadonly<Pod>[], reason: Doomed['reason']): void => {
    for (const pod of found) if (!doomed.has(pod.metadata.uid)) doomed.set(pod.metadata.uid, { pod, reason });
  };
  add(surplus(pods, terminatedThreshold), 'terminated');
  const outOfService = new Set(nodes.filter(isOutOfService).map((node) => node.metadata.name));
  add(
    pods.filter((pod) => isDeleting(pod) && outOfService.has(pod.spec.nodeName ?? '')),
    'out-of-service',
  );
  add(
    pods.filter((pod) => goneNodes.has(pod.spec.nodeName ?? '')),
    'orphaned',
  );
  add(
    pods.filter((pod) => isDeleting(pod) && (pod.spec.nodeName ?? '') === ''),
    'unscheduled',
  );
  return [...doomed.values()];
}

const isDeleting = (pod: DeepReadonly<Pod>): boolean => pod.metadata.deletionTimestamp !== undefined;

function surplus(pods: readonly DeepReadonly<Pod>[], threshold: number): DeepReadonly<Pod>[] {
  if (threshold <= 0) return [];
  const terminated = pods.filter((pod) => !['Pending', 'Running', 'Unknown'].includes(pod.status?.phase ?? 'Pending'));
  return terminated.sort(byAge).slice(0, Math.max(0, terminated.length - threshold));
}

function byAge(a: DeepReadonly<Pod>, b: DeepReadonly<Pod>): number {
  const evicted = Number(b.status?.reason === 'Evicted') - Number(a.status?.reason === 'Evicted');
  return evicted || compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || compare(a.metadata.name, b.metadata.name);
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function isOutOfService(node: DeepReadonly<Node>): boolean {
  const ready = (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return !ready && (node.spec?.taints ?? []).some((taint) => taint.key === OUT_OF_SERVICE_TAINT);
}
