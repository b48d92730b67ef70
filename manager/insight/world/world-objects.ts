import type { PlacementPolicy } from '../../api/cluster-queue.ts';
import { COPIES_FINALIZER } from '../../../shared/api/names.ts';
import type { DeepReadonly, JobCondition, WorkObject } from '../../../shared/api/kubernetes.ts';
import { QuantityError } from '../../../shared/kube/quantity.ts';
import type { PodAdjustments } from '../../api/adjusted-pod.ts';
import type { LostCluster } from '../../api/fenced-off.ts';
import type { LimitRange } from '../../api/limit-range.ts';
import { fenceThere } from '../../api/lost-clusters.ts';
import { formatNeededObject } from '../../api/needed-objects.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import { DispatchedReason, SwitchyardCondition } from '../../api/reasons.ts';
import { writtenRecordOf } from '../../api/records.ts';
import { atRestMessage } from '../../api/rest-proof.ts';
import type { RuntimeClass } from '../../api/runtime-class.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';
import { clusterStateOf, type ClusterState } from '../../admission/quota/cluster-state.ts';
import { endedRecord } from '../../admission/cache/execution-time.ts';
import type { FairSharingConfig } from '../../admission/fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from '../../admission/fair-sharing/local-queue-usage.ts';
import { type FindObjects, withLacks } from '../../admission/queues/cluster-objects.ts';
import { priorityClassesOf } from '../../admission/workload/priority.ts';
import type { QueueingObjects } from '../../admission/snapshot/snapshot.ts';
import { workloadOf, type Workload } from '../../admission/workload/workload.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { workloadsOf, type World } from './world.ts';

/** All objects of the manager cluster that admission reads. */
export type WorldObjects = QueueingObjects & {
  readonly jobs: readonly DeepReadonly<WorkObject>[];
  readonly workerClusters: readonly DeepReadonly<WorkerCluster>[];
  readonly workloadPriorityClasses: readonly DeepReadonly<WorkloadPriorityClass>[];
  readonly priorityClasses: readonly DeepReadonly<PriorityClass>[];
  readonly limitRanges: readonly DeepReadonly<LimitRange>[];
  readonly runtimeClasses: readonly DeepReadonly<RuntimeClass>[];
};

/** The manager's flags for admission; absent: the defaults. */
export type ManagerFlags = {
  /** How ClusterQueues share what their Cohorts lend; absent: by priority and age. */
  readonly fairSharing?: FairSharingConfig | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it; absent: LeastRoom. */
  readonly defaultPlacement?: PlacementPolicy | undefined;
  /** How usage orders the LocalQueues of ClusterQueues that ask for it; absent: it does not. */
  readonly admissionFairSharing?: UsagePolicy | undefined;
  /** After this time Jobs leave a lost cluster; 0: never. */
  readonly workerLostTimeoutMs?: number;
};

/** The world that these objects describe. */
export function worldOf(kind: WorkKind, objects: WorldObjects, flags: ManagerFlags, nowMs: number): World {
  const { clusterQueues, localQueues, resourceFlavors, cohorts, namespaces, jobs, workerClusters, limitRanges, runtimeClasses } = objects;
  const overheads = new Map(runtimeClasses.map(({ metadata, overhead }) => [metadata.name, overhead?.podFixed]));
  const adjustments: PodAdjustments = {
    limitRanges: (namespace) => limitRanges.filter(({ metadata }) => metadata.namespace === namespace),
    overhead: (name) => overheads.get(name),
  };
  const find = missingIn(workerClusters);
  const workloads = workloadsOf(kind, jobs, adjustments).map((workload) => withLacks(workload, find));
  const placed = new Set(workloads.flatMap(({ uid, phase }) => (phase === 'Pending' || phase === 'Finished' ? [] : [uid])));
  const rested = jobs.flatMap((job) => {
    const workload = placed.has(job.metadata.uid) ? restedWorkload(kind, job, adjustments, nowMs) : undefined;
    return workload === undefined ? [] : [withLacks(workload, find)];
  });
  return {
    objects: { clusterQueues, localQueues, resourceFlavors, cohorts, namespaces },
    clusters: workerClusters.flatMap(readable),
    losses: new Map(workerClusters.flatMap((cluster) => lossOf(cluster) ?? [])),
    priorityClasses: priorityClassesOf(objects.workloadPriorityClasses, objects.priorityClasses),
    workloads,
    rested: new Map(rested.map((workload) => [workload.key, workload])),
    nowMs,
    ...flags,
  };
}

/** The Workload of a Job that holds quota, once it is suspended and none of its pods run; Finished if it ends then. */
export function restedWorkload(
  kind: WorkKind,
  job: DeepReadonly<WorkObject>,
  adjustments: PodAdjustments,
  nowMs: number,
): Workload | undefined {
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' ? endedRecord(written.record, nowMs) : undefined;
  const others = (job.status?.conditions ?? []).filter(({ type }) => type !== SwitchyardCondition.Dispatched);
  const atRest: JobCondition[] =
    record === undefined
      ? []
      : [{ type: SwitchyardCondition.Dispatched, status: 'False', reason: DispatchedReason.AtRest, message: atRestMessage(record) }];
  // The finalizer is removed once nothing is left, and with it the last obstacle to a deletion.
  const finalizers = (job.metadata.finalizers ?? []).filter((each) => each !== COPIES_FINALIZER);
  const rested = kind.home.rested({ ...job, metadata: { ...job.metadata, finalizers } }, [...others, ...atRest]);
  return workloadOf(kind, rested, record === undefined ? { kind: 'None' } : { kind: 'Record', record }, adjustments);
}

/** The objects that clusters lack, as their WorkerClusters list them; all others count as present. */
function missingIn(workerClusters: readonly DeepReadonly<WorkerCluster>[]): FindObjects {
  const clusters = new Map<string, Map<string, 'Missing'>>();
  for (const { metadata, status } of workerClusters)
    for (const name of status?.missingObjects ?? [])
      clusters.set(name, (clusters.get(name) ?? new Map<string, 'Missing'>()).set(metadata.name, 'Missing'));
  return (namespace, object) => clusters.get(formatNeededObject(namespace, object)) ?? NOWHERE;
}
const NOWHERE: ReadonlyMap<string, 'Missing'> = new Map();

/** A cluster whose capacity cannot be read accepts no Jobs; the other clusters are unaffected. */
function readable(cluster: DeepReadonly<WorkerCluster>): ClusterState[] {
  try {
    return [clusterStateOf(cluster)];
  } catch (error) {
    if (error instanceof QuantityError) return [];
    throw error;
  }
}

/** A lost cluster, once all times have passed in which it might come back. */
function lossOf(cluster: DeepReadonly<WorkerCluster>): (readonly [string, LostCluster])[] | undefined {
  const since = cluster.status?.lostSince;
  if (since === undefined) return undefined;
  const forEver = Number.POSITIVE_INFINITY;
  const givenUpMs = cluster.spec.state === 'Lost' ? forEver : undefined;
  return [[cluster.metadata.name, { ...fenceThere(cluster), since, lostMs: forEver, givenUpMs }]];
}
