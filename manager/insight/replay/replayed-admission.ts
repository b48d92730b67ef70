import type { AdmissionRecord } from '../../api/records.ts';
import { createAdmissionCache, isSameAdmission, type AdmissionCache } from '../../admission/cache/admission-cache.ts';
import type { ClusterState } from '../../admission/quota/cluster-state.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import type { LoggedSettings } from '../../admission/decision-log/decision-log.ts';
import { settingsFrom } from '../../admission/decision-log/logged-settings.ts';
import { createPendingQueues } from '../../admission/queues/pending-queues.ts';
import { NO_PRIORITY_CLASSES, resolvePriority, type PriorityClasses, type PriorityWish } from '../../admission/workload/priority.ts';
import { putInQueue, queueEntry } from '../../admission/queues/queue-entry.ts';
import { createReplayedUsage } from '../world/replayed-usage.ts';
import type { ReplayedSetup } from './replayed-setup.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { runCycle, type CycleResult } from '../../admission/queues/scheduling-cycle.ts';
import { changeOf } from '../../admission/snapshot/setup-changes.ts';
import { buildQueueingSetup } from '../../admission/snapshot/snapshot.ts';
import type { Workload } from '../../admission/workload/workload.ts';

/**
 * Admission as in the manager, without clusters, writes and clocks: the same queues, cache and cycles. Events are passed in instead of
 * observed on Jobs.
 */
export interface ReplayedAdmission {
  /** The Workload is pending from now on. */
  waits(workload: Workload, arrival: number): void;
  /** The Workload holds quota by this record, or holds another amount than before. */
  holds(workload: Workload, record: AdmissionRecord): void;
  /** The Workload neither holds quota nor waits any more. */
  leaves(key: string): void;
  /** Applies changes of the setup. */
  refresh(): void;
  /** Begins a pass over the queues. Returns the keys of the Workloads to evict. */
  beginPass(): readonly string[];
  cycle(nowMs: number, most: number): CycleResult & { readonly decisions: readonly Decision[] };
  reservation(key: string): Reservation | undefined;
  /** Whether the ClusterQueue admits nothing until pods of its Workloads are ready. */
  isBlocked(clusterQueue: string): boolean;
  /** The ClusterQueue of the Workload's LocalQueue, if it exists. */
  clusterQueueOf(workload: Pick<Workload, 'namespace' | 'queue'>): string | undefined;
  /** The interval at which LocalQueues are compared again, in milliseconds; undefined if usage does not matter. */
  readonly samplingMs: number | undefined;
  sample(nowMs: number): void;
}

export type ReplayedAdmissionDeps = {
  readonly setup: ReplayedSetup;
  readonly settings: LoggedSettings;
  readonly now: () => number;
  /** Calls back at a time in epoch milliseconds. */
  readonly at: (timeMs: number, retry: () => void) => void;
};

export function createReplayedAdmission({ setup, settings, now, at }: ReplayedAdmissionDeps): ReplayedAdmission {
  const { fairSharing, admissionFairSharing, defaultPlacement } = settingsFrom(settings);
  let priorityClasses = NO_PRIORITY_CLASSES;
  let isNew = true;
  const pending = new Map<string, { readonly workload: Workload; readonly arrival: number }>();
  const usage =
    admissionFairSharing &&
    createReplayedUsage({ policy: admissionFairSharing, cache: () => cache, changed: (...which) => queues.usageChanged(...which), now });
  const cache: AdmissionCache = createAdmissionCache(
    buildQueueingSetup({ clusterQueues: [], localQueues: [], resourceFlavors: [], cohorts: [], namespaces: [] }),
    () => priorityClasses,
    usage?.holdings,
    usage?.usageOf,
  );
  const queues = createPendingQueues((localQueue) => usage?.usageOf(localQueue));

  const enqueue = (workload: Workload, arrival: number): void => {
    const entry = queueEntry(workload, arrival, { queueing: cache.queueing(), priorityClasses });
    if ('reason' in entry) queues.delete(workload.key);
    else putInQueue(queues, cache, entry);
  };

  const requeue = (concerned: (workload: Workload) => boolean = () => true): void => {
    for (const { workload, arrival } of pending.values()) if (concerned(workload)) enqueue(workload, arrival);
  };

  const wakeSharers = ({ record }: Reservation): void => {
    queues.wake(cache.rootOf(record.clusterQueue));
    queues.wakeWaitingForCluster();
  };

  const release = (key: string): void => {
    const reservation = cache.forget(key);
    if (reservation !== undefined) wakeSharers(reservation);
  };

  const refresh = (): void => {
    const changes = setup.takeChanges();
    if (changes.priorities) {
      const before = priorityClasses;
      const next = setup.priorityClasses();
      priorityClasses = next;
      const concerned = ({ priorityWish }: Workload): boolean => classValue(priorityWish, before) !== classValue(priorityWish, next);
      requeue(concerned);
      cache.reprioritize(concerned);
    }
    if (changes.queueing) {
      const before = cache.queueing();
      const next = buildQueueingSetup(setup.objects(), fairSharing, defaultPlacement);
      const { tried, requeued: rerouted } = changeOf(changes.objects, before, next);
      cache.setQueueing(next);
      queues.usageChanged();
      if (isNew) {
        queues.wakeAll();
        requeue();
      } else {
        queues.wakeAll(tried);
        if (rerouted !== undefined) requeue(rerouted);
      }
      isNew = false;
    }
    if (changes.clusters) {
      const before = cache.clusters();
      const next = setup.clusters();
      cache.setClusters(next);
      if (restrictions(next) !== restrictions(before)) requeue();
      queues.wakeAfterClusterChange();
    }
    cache.continueVisits(() => false);
  };

  return {
    waits: (workload, arrival) => {
      release(workload.key);
      pending.set(workload.key, { workload, arrival });
      enqueue(workload, arrival);
    },
    holds: (workload, record) => {
      pending.delete(workload.key);
      queues.delete(workload.key);
      const before = cache.get(workload.key);
      cache.admit(workload, record);
      const after = cache.get(workload.key);
      const isLess = before !== undefined && [...before.held].some(([resource, amount]) => amount > (after?.held.get(resource) ?? 0));
      if (before !== undefined && (isLess || !isSameAdmission(before.record, record))) wakeSharers(before);
    },
    leaves: (key) => {
      pending.delete(key);
      queues.delete(key);
      release(key);
    },
    refresh,
    beginPass: () => {
      refresh();
      const withdrawn = cache.withdraw(({ key }) => queues.has(key));
      for (const { record } of withdrawn) queues.wake(cache.rootOf(record.clusterQueue));
      if (withdrawn.length > 0) queues.wakeWaitingForCluster();
      return [...cache.displaced()].map(({ reservation }) => reservation.workload.key);
    },
    cycle: (nowMs, most) => {
      let decisions: readonly Decision[] = [];
      const admit = ({ head: { queued }, record }: Extract<Decision, { kind: 'Admit' }>): boolean => {
        queues.delete(queued.workload.key);
        pending.delete(queued.workload.key);
        cache.assume(queued.workload, record);
        return true;
      };
      const result = runCycle({ cache, queues, admit, at, decided: (all) => void (decisions = all) }, nowMs, most);
      return { ...result, decisions };
    },
    reservation: (key) => cache.get(key),
    isBlocked: cache.isBlocked,
    clusterQueueOf: ({ namespace, queue }) => cache.queueing().localQueues.get(`${namespace}/${queue ?? ''}`)?.clusterQueue,
    samplingMs: admissionFairSharing?.samplingIntervalMs,
    sample: (nowMs) => usage?.sample(nowMs),
  };
}

/** The value of a wish by classes alone, without the bounds of the queue. */
function classValue(wish: PriorityWish, classes: PriorityClasses): number | undefined {
  const resolved = resolvePriority(wish, classes, undefined);
  return resolved.kind === 'Priority' ? resolved.value : undefined;
}

/** The clusters that serve only some namespaces. */
const restrictions = (clusters: readonly ClusterState[]): string =>
  JSON.stringify(clusters.flatMap(({ name, servedNamespaces }) => (servedNamespaces === undefined ? [] : [[name, servedNamespaces]])));
