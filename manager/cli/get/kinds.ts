import type { DeepReadonly, Job, KubeObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { exportedTraceId } from '../../../shared/api/job-trace.ts';
import { JOBS, type Resource } from '../../../shared/api/resources.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { userOf } from '../../api/creator.ts';
import { holdOf, queueNameOf } from '../../api/job-annotations.ts';
import { LOCAL_QUEUES, type LocalQueue } from '../../api/local-queue.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { ClusterCondition, WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { jobRow } from '../job-row.ts';
import { formatAge } from '../time-text.ts';

/** How objects of a kind are shown, one line for each. */
export type KindView = {
  /** In the plural, as it is asked for. */
  readonly name: string;
  readonly resource: Resource;
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

type ColumnOf<T> = Omit<Column, 'cell'> & { readonly cell: (object: T, nowMs: number) => string };

const view = <T extends KubeObject>(
  name: string,
  resource: Resource<T>,
  columns: readonly ColumnOf<T>[],
  { isOurs = () => true, note = () => '' }: { readonly isOurs?: (object: T) => boolean; readonly note?: (object: T) => string } = {},
): KindView =>
  // Objects come from a list of that resource.
  ({
    name,
    resource: resource as Resource,
    columns: columns as unknown as readonly Column[],
    isOurs: isOurs as KindView['isOurs'],
    note: note as KindView['note'],
  });

const nameColumn: ColumnOf<KubeObject> = { head: 'NAME', cell: ({ metadata }) => metadata.name };
const ageColumn: ColumnOf<KubeObject> = {
  head: 'AGE',
  cell: ({ metadata }, nowMs) => formatAge(nowMs - Date.parse(metadata.creationTimestamp)),
  spare: 2,
};

const record = (job: Job) => {
  const written = writtenRecordOf(job);
  return written.kind === 'Record' ? written.record : undefined;
};

const isManaged = ({ spec }: DeepReadonly<Job>): boolean => spec.managedBy === MANAGER_CONTROLLER_NAME;

/** What is shown of where a Job is: held is not what a Job that still runs is. */
export function stateOf(job: DeepReadonly<Job>): string {
  if (!isManaged(job)) return 'Unmanaged';
  const { state } = jobRow(job);
  const hold = holdOf(job);
  return state === 'Waiting' && hold.kind === 'Hold' && hold.held === true ? 'Held' : state;
}

const JOB_COLUMNS: readonly ColumnOf<Job>[] = [
  nameColumn,
  { head: 'QUEUE', cell: (job) => queueNameOf(job) ?? '-', spare: 3 },
  { head: 'CLUSTER', cell: (job) => jobRow(job).cluster ?? '-' },
  { head: 'STATE', cell: stateOf },
  { head: 'ACTIVE', cell: (job) => String(job.status?.active ?? 0), spare: 1 },
  { head: 'OK', cell: (job) => String(job.status?.succeeded ?? 0), spare: 4 },
  { head: 'FAILED', cell: (job) => String(job.status?.failed ?? 0), spare: 0 },
  ageColumn,
  { head: 'CLUSTERQUEUE', cell: (job) => record(job)?.clusterQueue ?? '-', wide: true },
  { head: 'USER', cell: (job) => userOf(job) ?? '-', wide: true },
  { head: 'REQUESTS', cell: (job) => quantities(record(job)?.requests), wide: true },
  { head: 'TRACE', cell: (job) => exportedTraceId(job) ?? '-', wide: true },
  { head: 'WHY', cell: (job) => whyOfJob(job) || '-', wide: true },
];

/** Why it waits, has failed, or is not Switchyard's. */
function whyOfJob(job: DeepReadonly<Job>): string {
  if (isManaged(job)) return jobRow(job).reason;
  return queueNameOf(job) === undefined
    ? `no label ${QUEUE_NAME_LABEL}; switchyard explain says how to mend that`
    : `spec.managedBy: ${job.spec.managedBy ?? 'nobody'}`;
}

const quantities = (amounts: Readonly<Record<string, string>> | undefined): string =>
  amounts === undefined
    ? '-'
    : Object.entries(amounts)
        .map(([resource, amount]) => `${resource}=${amount}`)
        .join(',');

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

export const KIND_VIEWS: readonly KindView[] = [
  view('jobs', JOBS, JOB_COLUMNS, { isOurs: isManaged, note: whyOfJob }),
  view('queues', LOCAL_QUEUES, QUEUE_COLUMNS),
  view('clusters', WORKER_CLUSTERS, CLUSTER_COLUMNS, { note: whyNotReady }),
];

const ALIASES: Readonly<Record<string, string>> = {
  job: 'jobs',
  queue: 'queues',
  localqueue: 'queues',
  localqueues: 'queues',
  lq: 'queues',
  cluster: 'clusters',
  workercluster: 'clusters',
  workerclusters: 'clusters',
  wc: 'clusters',
};

/** All words by which a kind may be asked for. */
export const KIND_WORDS: readonly string[] = [...KIND_VIEWS.map(({ name }) => name), ...Object.keys(ALIASES)];

export const kindView = (word: string): KindView | undefined =>
  KIND_VIEWS.find(({ name }) => name === (Object.hasOwn(ALIASES, word) ? ALIASES[word] : word));
