import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { apiVersionOf, type Resource } from '../../../shared/api/resources.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { LOCAL_QUEUES, type LocalQueue } from '../../api/local-queue.ts';
import { ClusterCondition, WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { formatAge } from '../time-text.ts';

/** How objects of a kind are shown, one line for each. */
export type KindView = {
  /** In the plural, as it is asked for. */
  readonly name: string;
  /** Several: objects of several kinds in one table. */
  readonly resources: readonly Resource[];
  /** Which of all are shown when none is named. */
  readonly isOurs: (object: KubeObject) => boolean;
  readonly columns: readonly Column[];
  /** What is said of an object beside its line, or below it; '' where there is nothing. */
  readonly note: (object: KubeObject) => string;
};

export type Column = {
  readonly head: string;
  readonly cell: (object: KubeObject, nowMs: number) => string;
  /** Shown with `-o wide` only. */
  readonly wide?: true;
  /** Left out in this order, the least first, when lines are too long for the terminal; absent: never. */
  readonly spare?: number;
};

export type ColumnOf<T> = Omit<Column, 'cell'> & { readonly cell: (object: T, nowMs: number) => string };

const view = <T extends KubeObject>(
  name: string,
  resource: Resource<T>,
  columns: readonly ColumnOf<T>[],
  note: (object: T) => string = () => '',
): KindView =>
  // Objects come from a list of that resource.
  ({
    name,
    resources: [resource as Resource],
    columns: columns as unknown as readonly Column[],
    isOurs: () => true,
    note: note as KindView['note'],
  });

const nameColumn: ColumnOf<KubeObject> = { head: 'NAME', cell: ({ metadata }) => metadata.name };
export const ageColumn: ColumnOf<{ readonly metadata: { readonly creationTimestamp: string } }> = {
  head: 'AGE',
  cell: ({ metadata }, nowMs) => formatAge(nowMs - Date.parse(metadata.creationTimestamp)),
  spare: 2,
};

const QUEUE_COLUMNS: readonly ColumnOf<LocalQueue>[] = [
  nameColumn,
  { head: 'CLUSTERQUEUE', cell: ({ spec }) => spec.clusterQueue },
  { head: 'WAITING', cell: ({ status }) => String(status?.pendingWorkloads ?? 0) },
  { head: 'ADMITTED', cell: ({ status }) => String(status?.admittedWorkloads ?? 0) },
  ageColumn,
  {
    head: 'STOPPED',
    cell: ({ spec }) => (spec.stopPolicy === undefined || spec.stopPolicy === 'None' ? '-' : spec.stopPolicy),
    wide: true,
  },
];

/** In one word; the conditions say the rest. */
export function clusterState({ spec, status }: WorkerCluster): string {
  if (findCondition(status?.conditions, ClusterCondition.Removing)?.status === 'True') return 'Leaving';
  if (spec.state !== undefined && spec.state !== 'Active') return spec.state;
  const ready = findCondition(status?.conditions, ClusterCondition.Ready)?.status;
  return ready === 'True' ? 'Ready' : ready === 'False' ? 'NotReady' : 'Unknown';
}

const CLUSTER_COLUMNS: readonly ColumnOf<WorkerCluster>[] = [
  nameColumn,
  { head: 'STATE', cell: clusterState },
  { head: 'VERSION', cell: ({ status }) => status?.version ?? '-', spare: 1 },
  { head: 'CPU', cell: ({ status, spec }) => (spec.capacity ?? status?.allocatable)?.['cpu']?.toString() ?? '-', spare: 0 },
  { head: 'MEMORY', cell: ({ status, spec }) => (spec.capacity ?? status?.allocatable)?.['memory']?.toString() ?? '-', spare: 0 },
  ageColumn,
  { head: 'WORKER', cell: ({ status }) => status?.worker?.version ?? '-', wide: true },
  { head: 'RTT', cell: ({ status }) => (status?.roundTripMs === undefined ? '-' : `${status.roundTripMs}ms`), wide: true },
  { head: 'WHY', cell: (cluster) => whyNotReady(cluster) || '-', wide: true },
];

function whyNotReady({ status }: WorkerCluster): string {
  const ready = findCondition(status?.conditions, ClusterCondition.Ready);
  return ready === undefined || ready.status === 'True' ? '' : `${ready.reason}: ${ready.message}`;
}

export const QUEUES_VIEW = view('queues', LOCAL_QUEUES, QUEUE_COLUMNS);
export const CLUSTERS_VIEW = view('clusters', WORKER_CLUSTERS, CLUSTER_COLUMNS, whyNotReady);

const WORDS: Readonly<Record<string, KindView>> = {
  queues: QUEUES_VIEW,
  queue: QUEUES_VIEW,
  localqueue: QUEUES_VIEW,
  localqueues: QUEUES_VIEW,
  lq: QUEUES_VIEW,
  clusters: CLUSTERS_VIEW,
  cluster: CLUSTERS_VIEW,
  workercluster: CLUSTERS_VIEW,
  workerclusters: CLUSTERS_VIEW,
  wc: CLUSTERS_VIEW,
};

/** The words for kinds that are no work. */
export const VIEW_WORDS: readonly string[] = Object.keys(WORDS);

/** The view that a word asks for; undefined for a kind of work. */
export const kindView = (word: string): KindView | undefined => (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined);

/** Lists leave kind and version out of their items. */
export const wholeObject = (resource: Resource, { metadata, ...object }: KubeObject): KubeObject => {
  // As kubectl: who wrote which field is not what is asked for.
  const { managedFields: _managedFields, ...shown } = metadata as KubeObject['metadata'] & { readonly managedFields?: unknown };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: shown, ...object };
};
