import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { formatAmount } from '../api/amount.ts';
import type { LocalQueue } from '../api/local-queue.ts';
import { healthOf } from './cluster-row.ts';
import type { OverviewSources } from './overview.ts';
import { queueNode } from './queue-tree.ts';
import { seesIt, type Rights } from './rights.ts';
import type { ClustersView, LocalQueueUse, QueuesView } from './views.ts';

type QueueSources = Pick<OverviewSources, 'clusterQueues' | 'localQueues' | 'index'>;

/** A LocalQueue with the use of its Jobs. */
export function localQueueUse({ index }: Pick<OverviewSources, 'index'>, queue: DeepReadonly<LocalQueue>): LocalQueueUse {
  const key = keyOfObject(queue);
  return {
    key,
    waiting: queue.status?.pendingWorkloads ?? index.waitingIn(key, 0).count,
    admitted: queue.status?.admittedWorkloads ?? 0,
    holds: Object.fromEntries([...index.heldBy(key)].map(([resource, amount]) => [resource, formatAmount(resource, amount)])),
  };
}

/** Whether a LocalQueue that the viewer may see leads to the ClusterQueue. */
export const leadsThere = ({ localQueues }: Pick<OverviewSources, 'localQueues'>, clusterQueue: string, rights: Rights): boolean =>
  localQueues.list().some(({ metadata, spec }) => spec.clusterQueue === clusterQueue && seesIt(rights.namespaces, metadata.namespace));

/**
 * The ClusterQueues that the viewer may see, and those of the viewer's LocalQueues: how much of each is used in all, and by these
 * LocalQueues. The figures of a queue cover all tenants, and name none.
 */
export function queuesView(sources: QueueSources, rights: Rights): QueuesView {
  const own = sources.localQueues.list().filter(({ metadata }) => seesIt(rights.namespaces, metadata.namespace));
  const leading = Map.groupBy(own, ({ spec }) => spec.clusterQueue);
  const queues = sources.clusterQueues
    .list()
    .filter(({ metadata: { name } }) => seesIt(rights.queues, name) || leading.has(name))
    .map((queue) => {
      const { name, waiting, admitted, quota, cohort, problem } = queueNode(queue, { first: [], causes: [] });
      const isSeen = seesIt(rights.queues, name);
      return {
        name,
        waiting,
        admitted,
        quota: quota.map(({ flavor, resource, used, of }) => ({ flavor, resource, used, nominal: of })),
        localQueues: (leading.get(name) ?? []).map((each) => localQueueUse(sources, each)).toSorted((a, b) => (a.key < b.key ? -1 : 1)),
        ...omitUndefined({ cohort: isSeen ? cohort : undefined, problem }),
      };
    });
  return { queues: queues.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

/**
 * WorkerClusters by name and state, for viewers who may see Jobs somewhere: their Jobs name the clusters. The rest is for viewers who may
 * get the WorkerCluster.
 */
export function clustersView({ workerClusters }: Pick<OverviewSources, 'workerClusters'>, rights: Rights): ClustersView {
  const seesJobs = rights.namespaces === 'All' || rights.namespaces.size > 0;
  const clusters = workerClusters.list().flatMap((cluster) => {
    const { name } = cluster.metadata;
    const isSeen = seesIt(rights.clusters, name);
    if (!isSeen && !seesJobs) return [];
    const { state, health, problem } = healthOf(cluster);
    return [{ name, state, health, ...(isSeen ? omitUndefined({ problem, version: cluster.status?.version }) : {}) }];
  });
  return { clusters: clusters.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}
