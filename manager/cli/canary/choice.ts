import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { servesNamespace } from '../../api/served-namespaces.ts';
import { ClusterCondition, type WorkerCluster } from '../../api/worker-cluster.ts';

/** Clusters through which a canary can go, and why the others are left out. */
export type Choice = {
  readonly chosen: readonly string[];
  readonly left: readonly { readonly cluster: string; readonly why: string }[];
};

/** `named`: only these; none: all there are. */
export function chooseClusters(clusters: readonly DeepReadonly<WorkerCluster>[], named: readonly string[], namespace: string): Choice {
  const names = named.length === 0 ? clusters.map(({ metadata }) => metadata.name) : [...new Set(named)];
  const judged = names.toSorted().map((cluster) => {
    const found = clusters.find(({ metadata }) => metadata.name === cluster);
    return { cluster, why: found === undefined ? 'there is no WorkerCluster of this name' : whyNot(found, namespace) };
  });
  return {
    chosen: judged.flatMap(({ cluster, why }) => (why === undefined ? [cluster] : [])),
    left: judged.flatMap(({ cluster, why }) => (why === undefined ? [] : [{ cluster, why }])),
  };
}

function whyNot({ metadata, spec, status }: DeepReadonly<WorkerCluster>, namespace: string): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (spec.state !== undefined && spec.state !== 'Active') return `its state is ${spec.state}`;
  if (!servesNamespace(spec.servedNamespaces, namespace)) return `it takes no Jobs of namespace ${namespace}`;
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  if (ready?.status === 'True') return undefined;
  return ready === undefined ? 'it is not known to be ready' : `it is not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`;
}
