import type { PlacementPolicy } from '../../api/cluster-queue.ts';
import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { PodAdjustments } from '../../api/adjusted-pod.ts';
import type { LostCluster } from '../../api/fenced-off.ts';
import type { ParsedRecord } from '../../api/records.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { createAdmissionCache, type AdmissionCache } from '../../admission/cache/admission-cache.ts';
import type { ClusterState } from '../../admission/quota/cluster-state.ts';
import type { FairSharingConfig } from '../../admission/fair-sharing/fair-strategy.ts';
import { localQueueOf } from '../../admission/fair-sharing/local-queue-order.ts';
import type { UsagePolicy } from '../../admission/fair-sharing/local-queue-usage.ts';
import { compareQueued } from '../../admission/workload/ordering.ts';
import type { PriorityClasses } from '../../admission/workload/priority.ts';
import { queueEntry, type QueueEntry } from '../../admission/queues/queue-entry.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { createReplayedUsage, type ReplayedUsage, type ReplayedUsageDeps } from './replayed-usage.ts';
import {
  buildQueueingSetup,
  type InadmissibleReason,
  type QueueingObjects,
  type QueueingSetup,
} from '../../admission/snapshot/snapshot.ts';
import { createUnaccountedJobs } from '../../admission/snapshot/unaccounted-jobs.ts';
import { workloadOf, type Workload } from '../../admission/workload/workload.ts';

/** All input of admission at one moment. Queries are answered by deciding again on a changed copy; a World is immutable. */
export type World = {
  readonly objects: QueueingObjects;
  readonly clusters: readonly ClusterState[];
  readonly priorityClasses: PriorityClasses;
  /** Workloads in order of arrival. */
  readonly workloads: readonly Workload[];
  readonly fairSharing?: FairSharingConfig | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it; absent: LeastRoom. */
  readonly defaultPlacement?: PlacementPolicy | undefined;
  /** How usage orders the LocalQueues of ClusterQueues that ask for it; absent: it does not. */
  readonly admissionFairSharing?: UsagePolicy | undefined;
  /**
   * Workloads that hold quota, as they are once none of their pods run, by key; Finished if they end then. Absent: they are pending with
   * their present state.
   */
  readonly rested?: ReadonlyMap<string, Workload>;
  /** Lost clusters by name, once all times have passed in which they might come back. */
  readonly losses?: ReadonlyMap<string, LostCluster>;
  /** After this time Jobs leave a lost cluster; 0: never. */
  readonly workerLostTimeoutMs?: number;
  /** Epoch milliseconds. */
  readonly nowMs: number;
};

/** The Workloads of these Jobs according to the records that they carry; only admission's key can verify those. */
export const workloadsOf = (kind: WorkKind, jobs: readonly DeepReadonly<WorkObject>[], adjustments: PodAdjustments): readonly Workload[] =>
  jobs
    .toSorted((a, b) => compareText(keyForAge(a), keyForAge(b)))
    .flatMap((job) => workloadOf(kind, job, writtenOn(kind, job), adjustments) ?? []);

const keyForAge = ({ metadata }: DeepReadonly<WorkObject>): string =>
  `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function writtenOn(kind: WorkKind, job: DeepReadonly<WorkObject>): ParsedRecord {
  const written = writtenRecordOf(job);
  if (written.kind !== 'Record') return written;
  const { record } = written;
  if (record.evicted === true && !kind.isSuspended(job))
    return { kind: 'Forged', problem: 'it was released although its record says that it was suspended', last: record };
  return { kind: 'Record', record };
}

export const queueingOf = ({ objects, fairSharing, defaultPlacement }: World): QueueingSetup =>
  buildQueueingSetup(objects, fairSharing, defaultPlacement);

/** The usage of LocalQueues from their status and from reservations, which {@link cacheOf} adds. Undefined if usage does not matter. */
export function usageIn(
  { admissionFairSharing: policy, objects, nowMs }: World,
  queueing: QueueingSetup,
  changed: ReplayedUsageDeps['changed'] = () => undefined,
): ReplayedUsage | undefined {
  if (policy === undefined) return undefined;
  return createReplayedUsage({
    policy,
    cache: () => ({ queueing: () => queueing }),
    localQueues: objects.localQueues,
    changed,
    now: () => nowMs,
  });
}

/** The reservations, counted as admission does when it starts. */
export function cacheOf(world: World, queueing: QueueingSetup, usage = usageIn(world, queueing)): AdmissionCache {
  const cache = createAdmissionCache(queueing, () => world.priorityClasses, usage?.holdings, usage?.usageOf);
  cache.setClusters(world.clusters);
  for (const workload of world.workloads) {
    cache.shapes.observe(workload, world.nowMs);
    const { phase, record } = workload;
    if (record !== undefined && phase !== 'Pending' && phase !== 'Finished') cache.admit(workload, record);
  }
  return cache;
}

/** Returns a function that finds the queue of a Workload in this world, or why it is in none. */
export function waitingIn(
  { priorityClasses, workloads }: World,
  queueing: QueueingSetup,
): (workload: Workload, arrival: number) => QueueEntry | InadmissibleReason {
  const unaccounted = createUnaccountedJobs();
  for (const workload of workloads) unaccounted.observe(workload);
  const keptOut = ({ namespace }: Workload): InadmissibleReason | undefined => unaccounted.reasonIn(namespace);
  return (workload, arrival) => queueEntry(workload, arrival, { queueing, priorityClasses, keptOut });
}

/** Pending Workloads by ClusterQueue, in the order of the queue now. */
export function waitingByQueue(world: World, queueing: QueueingSetup): ReadonlyMap<string, readonly QueueEntry[]> {
  const entryOf = waitingIn(world, queueing);
  const queues = new Map<string, QueueEntry[]>();
  for (const [arrival, workload] of world.workloads.entries()) {
    if (workload.phase !== 'Pending') continue;
    const entry = entryOf(workload, arrival);
    if ('reason' in entry) continue;
    const queue = queues.get(entry.clusterQueue) ?? [];
    queues.set(entry.clusterQueue, queue);
    queue.push(entry);
  }
  const used = usedIn(world, queueing);
  for (const queue of queues.values()) queue.sort((a, b) => used(a) - used(b) || compareQueued(a.queued, b.queued));
  return queues;
}

/** The usage of the LocalQueue of a pending Workload, if it orders the ClusterQueue. */
function usedIn(world: World, queueing: QueueingSetup): (entry: QueueEntry) => number {
  const usage = usageIn(world, queueing);
  if (usage === undefined) return () => 0;
  cacheOf(world, queueing, usage);
  // Weight 0 gives infinite usage, and two infinite values must still compare.
  return ({ queued }) => Math.min(usage.usageOf(localQueueOf(queued.workload)) ?? 0, Number.MAX_VALUE);
}

/** The ClusterQueues that share quota with this one, itself included. */
export function sharingWith({ tree }: QueueingSetup, clusterQueue: string): ReadonlySet<string> {
  const rootId = tree.clusterQueues.get(clusterQueue)?.rootId;
  return new Set([...tree.clusterQueues].filter(([, node]) => node.rootId === rootId).map(([name]) => name));
}
