import type { DeepReadonly, Namespace } from '../../shared/api/kubernetes.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { matchesLabelSelector, requirementsOf } from '../../shared/kube/selectors.ts';
import type { ClusterQueue } from './cluster-queue.ts';
import { takingParts, type AdmissionRecord } from './records.ts';
import type { ResourceFlavor } from './resource-flavor.ts';
import type { WorkerCluster } from './worker-cluster.ts';

/** The objects on the manager cluster now, by name. */
export type RecordWorld = {
  clusterQueue(name: string): DeepReadonly<ClusterQueue> | undefined;
  hasFlavor(name: string): boolean;
  /** Undefined: there is no such WorkerCluster. `uid` is undefined while unknown. */
  cluster(name: string): { readonly uid: string | undefined } | undefined;
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined;
};

/** The objects in the caches. */
export const recordWorld = (caches: {
  readonly clusterQueues: Pick<Lister<ClusterQueue>, 'get'>;
  readonly flavors: Pick<Lister<ResourceFlavor>, 'get'>;
  readonly clusters: Pick<Lister<WorkerCluster>, 'get'>;
  readonly namespaces: Pick<Lister<Namespace>, 'get'>;
}): RecordWorld => ({
  clusterQueue: (name) => caches.clusterQueues.get({ namespace: '', name }),
  hasFlavor: (name) => caches.flavors.get({ namespace: '', name }) !== undefined,
  cluster: (name) => {
    const cluster = caches.clusters.get({ namespace: '', name });
    return cluster && { uid: cluster.status?.clusterUID };
  },
  namespaceLabels: (name) => caches.namespaces.get({ namespace: '', name })?.metadata.labels,
});

/** Why the record of a Job of this namespace is no longer valid, though admission made it; undefined while it is valid. */
export function unresolved(record: AdmissionRecord, namespace: string, world: RecordWorld): string | undefined {
  const { clusterQueue, cluster, clusterUID } = record;
  const queue = world.clusterQueue(clusterQueue);
  if (queue === undefined) return `cluster queue ${clusterQueue} of its admission does not exist`;
  if (!matchesLabelSelector(requirementsOf(queue.spec.namespaceSelector), world.namespaceLabels(namespace))) {
    return `the namespaceSelector of cluster queue ${clusterQueue} does not select namespace ${namespace}`;
  }
  const groups = queue.spec.resourceGroups ?? [];
  for (const [resource, flavor] of takingParts(record).flatMap(({ flavors }) => Object.entries(flavors))) {
    if (!world.hasFlavor(flavor)) return `ResourceFlavor "${flavor}" of its admission does not exist`;
    const group = groups.find(({ coveredResources }) => coveredResources.includes(resource));
    if (group?.flavors.some(({ name }) => name === flavor) !== true) {
      return `cluster queue ${clusterQueue} no longer gives ${resource} in flavor ${flavor}`;
    }
  }
  const present = world.cluster(cluster);
  if (present === undefined) return `WorkerCluster "${cluster}" does not exist`;
  const isAnother = clusterUID !== undefined && present.uid !== undefined && present.uid !== clusterUID;
  return isAnother ? `WorkerCluster "${cluster}" leads to another cluster than the one of its admission (UID ${clusterUID})` : undefined;
}
