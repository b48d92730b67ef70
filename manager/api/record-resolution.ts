import type { DeepReadonly, Namespace } from '../../shared/api/kubernetes.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { matchesLabelSelector, requirementsOf } from '../../shared/kube/selectors.ts';
import type { ClusterQueue } from './cluster-queue.ts';
import type { AdmissionRecord } from './records.ts';
import type { ResourceFlavor } from './resource-flavor.ts';
import type { WorkerCluster } from './worker-cluster.ts';

/** What there is on the manager cluster now, by name. */
export type RecordWorld = {
  clusterQueue(name: string): DeepReadonly<ClusterQueue> | undefined;
  hasFlavor(name: string): boolean;
  hasCluster(name: string): boolean;
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined;
};

/** The same, as caches show it. */
export const recordWorld = (caches: {
  readonly clusterQueues: Pick<Lister<ClusterQueue>, 'get'>;
  readonly flavors: Pick<Lister<ResourceFlavor>, 'get'>;
  readonly clusters: Pick<Lister<WorkerCluster>, 'get'>;
  readonly namespaces: Pick<Lister<Namespace>, 'get'>;
}): RecordWorld => ({
  clusterQueue: (name) => caches.clusterQueues.get({ namespace: '', name }),
  hasFlavor: (name) => caches.flavors.get({ namespace: '', name }) !== undefined,
  hasCluster: (name) => caches.clusters.get({ namespace: '', name }) !== undefined,
  namespaceLabels: (name) => caches.namespaces.get({ namespace: '', name })?.metadata.labels,
});

/** Why the record of a Job of this namespace no longer stands, though admission made it; undefined while it does. */
export function unresolved(record: AdmissionRecord, namespace: string, world: RecordWorld): string | undefined {
  const { clusterQueue, flavors, cluster } = record;
  const queue = world.clusterQueue(clusterQueue);
  if (queue === undefined) return `cluster queue ${clusterQueue} of its admission does not exist`;
  if (!matchesLabelSelector(requirementsOf(queue.spec.namespaceSelector), world.namespaceLabels(namespace))) {
    return `the namespaceSelector of cluster queue ${clusterQueue} does not select namespace ${namespace}`;
  }
  const groups = queue.spec.resourceGroups ?? [];
  for (const [resource, flavor] of Object.entries(flavors)) {
    if (!world.hasFlavor(flavor)) return `ResourceFlavor "${flavor}" of its admission does not exist`;
    const group = groups.find(({ coveredResources }) => coveredResources.includes(resource));
    if (group?.flavors.some(({ name }) => name === flavor) !== true) {
      return `cluster queue ${clusterQueue} no longer gives ${resource} in flavor ${flavor}`;
    }
  }
  return world.hasCluster(cluster) ? undefined : `WorkerCluster "${cluster}" does not exist`;
}
