import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import type { Cohort } from '../api/cohort.ts';
import type { LocalQueue } from '../api/local-queue.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import { clusterItem } from './cluster-row.ts';
import type { JobIndex } from './job-index.ts';
import { cohortNodes, queueNode, type Queued } from './queue-tree.ts';
import { seesIt, type Rights } from './rights.ts';
import type { CauseCount, CohortNode, OverviewItem } from './views.ts';

export type OverviewSources = {
  readonly index: JobIndex;
  readonly workerClusters: Lister<WorkerCluster>;
  readonly clusterQueues: Lister<ClusterQueue>;
  readonly localQueues: Lister<LocalQueue>;
  readonly cohorts: Lister<Cohort>;
};

/** The id of an overview item: the kind, a slash and the name. */
export const clusterId = (name: string): string => `cluster/${name}`;
export const queueId = (name: string): string => `queue/${name}`;
export const cohortId = (name: string): string => `cohort/${name}`;
export const localQueueId = (key: string): string => `local/${key}`;
export const TOTALS_ID = 'totals';
export const ENDED_ID = 'ended';

const RUNNING_SHOWN = 48;
const WAITING_SHOWN = 16;
const ENDED_SHOWN = 24;
const CAUSES_SHOWN = 6;

/** The ids of all items that a viewer with these rights sees. */
export function overviewIds(
  { workerClusters, clusterQueues, localQueues }: OverviewSources,
  cohorts: readonly CohortNode[],
  rights: Rights,
): string[] {
  return [
    TOTALS_ID,
    ENDED_ID,
    ...workerClusters.list().flatMap(({ metadata }) => (seesIt(rights.clusters, metadata.name) ? [clusterId(metadata.name)] : [])),
    ...clusterQueues.list().flatMap(({ metadata }) => (seesIt(rights.queues, metadata.name) ? [queueId(metadata.name)] : [])),
    ...(rights.queues === 'All' ? cohorts.map(({ name }) => cohortId(name)) : []),
    ...localQueues.list().flatMap((queue) => (standsAlone(queue, rights) ? [localQueueId(keyOfObject(queue))] : [])),
  ];
}

/** The viewer may see the LocalQueue, but not its ClusterQueue. */
const standsAlone = ({ metadata, spec }: DeepReadonly<LocalQueue>, rights: Rights): boolean =>
  seesIt(rights.namespaces, metadata.namespace) && !seesIt(rights.queues, spec.clusterQueue);

/** One item as a viewer sees it; undefined where it does not exist, or the viewer may not see it. */
export function overviewItem(
  sources: OverviewSources,
  cohorts: readonly CohortNode[],
  id: string,
  rights: Rights,
): OverviewItem | undefined {
  const { index, workerClusters, clusterQueues, localQueues } = sources;
  if (id === TOTALS_ID)
    return {
      kind: 'Totals',
      states: index.totals(rights.namespaces),
      namespaces: index.namespaces().filter((each) => seesIt(rights.namespaces, each)).length,
    };
  if (id === ENDED_ID) return { kind: 'Ended', jobs: index.ended(rights.namespaces, ENDED_SHOWN) };
  const [kind] = id.split('/', 1);
  const name = id.slice((kind ?? '').length + 1);
  switch (kind) {
    case 'cluster': {
      const cluster = seesIt(rights.clusters, name) ? workerClusters.get({ namespace: '', name }) : undefined;
      if (cluster === undefined) return undefined;
      const { count, first } = index.runningOn(name, rights.namespaces, RUNNING_SHOWN);
      return clusterItem(cluster, index.heldOn(name), count, first);
    }
    case 'queue': {
      const queue = seesIt(rights.queues, name) ? clusterQueues.get({ namespace: '', name }) : undefined;
      return queue && queueNode(queue, queuedIn(sources, name, rights));
    }
    case 'cohort':
      return rights.queues === 'All' ? cohorts.find((each) => each.name === name) : undefined;
    case 'local': {
      const [namespace = '', own = ''] = name.split('/');
      const queue = localQueues.get({ namespace, name: own });
      if (queue === undefined || !standsAlone(queue, rights)) return undefined;
      const { count, first } = index.waitingIn(name, WAITING_SHOWN);
      return {
        kind: 'LocalQueue',
        key: name,
        clusterQueue: queue.spec.clusterQueue,
        waiting: count,
        causes: countsOf([index.causesIn(name)]),
        first,
      };
    }
    default:
      return undefined;
  }
}

/** The first queued Jobs of all LocalQueues of this ClusterQueue, and what they all wait for. */
export function queuedIn({ index, localQueues }: OverviewSources, clusterQueue: string, rights: Rights): Queued {
  const keys = localQueues
    .list()
    .filter(({ metadata, spec }) => spec.clusterQueue === clusterQueue && seesIt(rights.namespaces, metadata.namespace))
    .map(keyOfObject);
  return {
    causes: countsOf(keys.map((key) => index.causesIn(key))),
    first: keys
      .flatMap((key) => index.waitingIn(key, WAITING_SHOWN).first)
      .toSorted((a, b) => a.createdMs - b.createdMs || (a.key < b.key ? -1 : 1))
      .slice(0, WAITING_SHOWN),
  };
}

/** The commonest first. */
function countsOf(parts: readonly ReadonlyMap<string, number>[]): readonly CauseCount[] {
  const sums = new Map<string, number>();
  for (const part of parts) for (const [cause, count] of part) sums.set(cause, (sums.get(cause) ?? 0) + count);
  return [...sums]
    .map(([cause, count]) => ({ cause, count }))
    .toSorted((a, b) => b.count - a.count || (a.cause < b.cause ? -1 : 1))
    .slice(0, CAUSES_SHOWN);
}

export const cohortsOf = ({ cohorts, clusterQueues }: OverviewSources): readonly CohortNode[] =>
  cohortNodes(cohorts.list(), clusterQueues.list());
