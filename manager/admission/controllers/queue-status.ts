import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, KubeObject, ObjectKey } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { StatusClient } from '../../../shared/kube/client.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { MATCHES_NOTHING, matchesLabelSelector } from '../../../shared/kube/selectors.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { createTimeSlices } from '../../../shared/runtime/time-slices.ts';
import { createWakeUp } from '../../../shared/runtime/wake-up.ts';
import { CLUSTER_QUEUES, type ClusterQueue, type ClusterQueueStatus, type FlavorUsage } from '../../api/cluster-queue.ts';
import { COHORTS, type Cohort } from '../../api/cohort.ts';
import { LOCAL_QUEUES, type LocalQueue, type LocalQueueStatus } from '../../api/local-queue.ts';
import type { Condition } from '../../api/schema-parts.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { shareOf, shownShare, weightedShare } from '../preemption/fair-sharing.ts';
import { formatAmount, inBaseUnit, minus, ZERO } from '../../api/amount.ts';
import type { JobWatcher } from './job-watcher.ts';
import type { PendingQueues } from '../queues/pending-queues.ts';
import { countsOf, NONE, type Counts } from './admission-state.ts';
import { createQueueGauges, type QueueGauges } from './queue-gauges.ts';
import { splitFlavorResource, subtreeQuota, type QuotaNode } from '../quota/quota-tree.ts';
import { notSelected, type QueueingSetup } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';

export type QueueStatusDeps = {
  readonly client: StatusClient;
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly watcher: Pick<JobWatcher, 'pendingOf' | 'isPending'>;
  readonly informers: {
    readonly clusterQueues: Lister<ClusterQueue>;
    readonly localQueues: Lister<LocalQueue>;
    readonly cohorts: Lister<Cohort>;
  };
  /** Whether shares are reported. */
  readonly fairSharing: boolean;
  readonly metrics: AdmissionMetrics;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Keeps the status of ClusterQueues, Cohorts and LocalQueues, and the gauges, up to date, at most once a second. */
export interface QueueStatus {
  changed(): void;
  run(signal: AbortSignal): Promise<void>;
}

const INTERVAL_MS = 1_000;
/** Milliseconds for which an update blocks the event loop at a time. */
const SLICE_MS = 5;

export function createQueueStatus(deps: QueueStatusDeps): QueueStatus {
  const { client, cache, informers, fairSharing, clock, log } = deps;
  const changes = createWakeUp(clock, INTERVAL_MS);
  const gauges = createQueueGauges();

  const write = async <T extends KubeObject & { status?: object }>(
    resource: Resource<T>,
    key: ObjectKey,
    status: object,
  ): Promise<void> => {
    try {
      await client.patchStatus(resource, key, { type: 'merge', body: { status } }, { fieldManager: MANAGER_FIELD_MANAGER });
    } catch (error) {
      if (isNotFound(error)) return;
      log.warn('the status of a queue could not be written', { kind: resource.kind, ...key, error });
      changes.wake();
    }
  };

  const update = async (signal: AbortSignal): Promise<void> => {
    const slices = createTimeSlices(clock, SLICE_MS);
    const mayGoOn = async (): Promise<boolean> => {
      await slices.nextWhenOver(signal);
      return !signal.aborted;
    };
    const setup = cache.queueing();
    const counts = countsOf(deps, setup);
    const observing = observe(deps, gauges, setup, counts);
    while (observing.next().done !== true) if (!(await mayGoOn())) return;
    const nowMs = clock.now();
    for (const queue of informers.clusterQueues.list()) {
      if (!(await mayGoOn())) return;
      const status = clusterQueueStatus(queue.metadata.name, setup, cache.usage(), counts);
      const conditions = [activeCondition(problemOfQueue(queue.metadata.name, setup), queue.status?.conditions ?? [], nowMs)];
      const fair = fairSharing ? fairSharingStatus(setup.tree.clusterQueues.get(queue.metadata.name), cache.usage()) : undefined;
      const next: ClusterQueueStatus = { ...status, conditions, ...omitUndefined({ fairSharing: fair }) };
      if (!isDeepStrictEqual(next, queue.status)) await write(CLUSTER_QUEUES, objectKey(queue), { ...next, fairSharing: fair ?? null });
    }
    for (const cohort of informers.cohorts.list()) {
      if (!(await mayGoOn())) return;
      const fair = fairSharing ? fairSharingStatus(setup.tree.cohorts.get(cohort.metadata.name), cache.usage()) : undefined;
      if (!isDeepStrictEqual(fair, cohort.status?.fairSharing)) await write(COHORTS, objectKey(cohort), { fairSharing: fair ?? null });
    }
    for (const queue of informers.localQueues.list()) {
      if (!(await mayGoOn())) return;
      const count = counts.localQueues.get(`${queue.metadata.namespace}/${queue.metadata.name}`) ?? NONE;
      const conditions = [activeCondition(problemOfLocalQueue(queue, setup), queue.status?.conditions ?? [], nowMs)];
      const next: LocalQueueStatus = {
        pendingWorkloads: count.pending,
        admittedWorkloads: count.admitted,
        conditions,
        // The usage of a LocalQueue is written by admission fair sharing.
        ...omitUndefined({ fairSharing: queue.status?.fairSharing }),
      };
      if (!isDeepStrictEqual(next, queue.status)) await write(LOCAL_QUEUES, objectKey(queue), next);
    }
  };

  return {
    changed: changes.wake,
    run: (signal) => changes.run(() => update(signal), signal),
  };
}

function clusterQueueStatus(name: string, setup: QueueingSetup, usage: Usage, counts: Counts): ClusterQueueStatus {
  const count = counts.clusterQueues.get(name) ?? NONE;
  const node = setup.tree.clusterQueues.get(name);
  return {
    pendingWorkloads: count.pending,
    admittedWorkloads: count.admitted,
    flavorsUsage: node === undefined ? [] : flavorsUsage(node, usage),
  };
}

const fairSharingStatus = (node: QuotaNode | undefined, usage: Usage): ClusterQueueStatus['fairSharing'] =>
  node && { weightedShare: shownShare(shareOf(node, usage)) };

function flavorsUsage(node: QuotaNode, usage: Usage): FlavorUsage[] {
  const byFlavor = new Map<string, FlavorUsage>();
  for (const [key] of node.quotas) {
    const { flavor, resource } = splitFlavorResource(key);
    const total = usage.get(node.id, key);
    const over = minus(total, subtreeQuota(node, key));
    const entry = byFlavor.get(flavor) ?? { name: flavor, resources: [] };
    byFlavor.set(flavor, entry);
    entry.resources.push({
      name: resource,
      total: formatAmount(resource, total),
      ...(node.parent !== undefined && over > ZERO ? { borrowed: formatAmount(resource, over) } : {}),
    });
  }
  return [...byFlavor.values()];
}

type Problem = { readonly reason: string; readonly message: string } | undefined;

function problemOfQueue(name: string, setup: QueueingSetup): Problem {
  const queue = setup.queues.get(name);
  if (queue === undefined)
    return setup.inactive.get(name) ?? { reason: 'Unknown', message: 'the cluster queue has not been looked at yet' };
  if (queue.stopPolicy !== 'None') return { reason: 'Stopped', message: `stopPolicy is ${queue.stopPolicy}` };
  return queue.namespaces === MATCHES_NOTHING
    ? { reason: 'NoNamespaceSelected', message: 'spec.namespaceSelector is absent, which selects no namespace; {} selects all' }
    : undefined;
}

function problemOfLocalQueue({ metadata: { namespace }, spec: { clusterQueue } }: DeepReadonly<LocalQueue>, setup: QueueingSetup): Problem {
  if (!setup.tree.clusterQueues.has(clusterQueue) && !setup.tree.cycles.has(clusterQueue))
    return { reason: 'ClusterQueueNotFound', message: `cluster queue ${clusterQueue} does not exist` };
  const queue = setup.queues.get(clusterQueue);
  const problem = problemOfQueue(clusterQueue, setup);
  if (problem !== undefined || queue === undefined || matchesLabelSelector(queue.namespaces, setup.namespaces.get(namespace)))
    return problem;
  return { reason: 'NamespaceNotAllowed', message: notSelected(queue, namespace) };
}

function activeCondition(problem: Problem, present: readonly Condition[], nowMs: number): Condition {
  const status = problem === undefined ? 'True' : 'False';
  const before = findCondition(present, 'Active');
  return {
    type: 'Active',
    status,
    reason: problem?.reason ?? 'Ready',
    message: problem?.message ?? 'Jobs can be admitted',
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : toWireTime(nowMs),
  };
}

/** Sets the gauges of all queues; those of deleted queues are removed. */
function* observe(
  { cache, queues, metrics, fairSharing }: QueueStatusDeps,
  gauges: QueueGauges,
  setup: QueueingSetup,
  counts: Counts,
): Generator<undefined, void> {
  if (fairSharing) {
    for (const [cluster_queue, node] of setup.tree.clusterQueues) {
      gauges.set(metrics.weightedShare, { cluster_queue }, measuredShare(node, cache.usage()));
      yield;
    }
    for (const [cohort, node] of setup.tree.cohorts) {
      gauges.set(metrics.cohortWeightedShare, { cohort }, measuredShare(node, cache.usage()));
      yield;
    }
  }
  for (const [cluster_queue, { active, inadmissible }] of queues.counts()) {
    gauges.set(metrics.pending, { cluster_queue, status: 'active' }, active);
    gauges.set(metrics.pending, { cluster_queue, status: 'inadmissible' }, inadmissible);
    yield;
  }
  for (const [cluster_queue, node] of setup.tree.clusterQueues) {
    gauges.set(metrics.active, { cluster_queue }, counts.clusterQueues.get(cluster_queue)?.admitted ?? 0);
    for (const [key, quota] of node.quotas) {
      const { flavor, resource } = splitFlavorResource(key);
      gauges.set(metrics.nominalQuota, { cluster_queue, flavor, resource }, inBaseUnit(resource, quota.nominal));
      gauges.set(metrics.usage, { cluster_queue, flavor, resource }, inBaseUnit(resource, cache.usage().get(node.id, key)));
    }
    yield;
  }
  gauges.endRound();
}

/** Kueue reports an infinite share as NaN. */
function measuredShare(node: QuotaNode, usage: Usage): number {
  const share = weightedShare(shareOf(node, usage));
  return share === Infinity ? Number.NaN : share;
}
