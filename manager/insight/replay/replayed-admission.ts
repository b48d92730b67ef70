import type { AdmissionRecord } from '../../api/records.ts';
import { createAdmissionCache, isSameAdmission, type AdmissionCache } from '../../admission/cache/admission-cache.ts';
import type { ClusterState } from '../../admission/quota/cluster-state.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import type { LoggedSettings } from '../../admission/decision-log/decision-log.ts';
import { settingsFrom } from '../../admission/decision-log/logged-settings.ts';
import { createPendingQueues, type PendingQueues } from '../../admission/queues/pending-queues.ts';
import { NO_PRIORITY_CLASSES, resolvePriority, type PriorityClasses, type PriorityWish } from '../../admission/workload/priority.ts';
import { putInQueue, queueEntry } from '../../admission/queues/queue-entry.ts';
import { createReplayedUsage, type ReplayedUsage } from '../world/replayed-usage.ts';
import type { ReplayedSetup } from './replayed-setup.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { runCycle, type CycleResult } from '../../admission/queues/scheduling-cycle.ts';
import { changeOf, type ChangedObjects } from '../../admission/snapshot/setup-changes.ts';
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

export function createReplayedAdmission(deps: ReplayedAdmissionDeps): ReplayedAdmission {
  return new AdmissionWithoutClusters(deps);
}

class AdmissionWithoutClusters implements ReplayedAdmission {
  readonly #setup: ReplayedSetup;
  readonly #at: ReplayedAdmissionDeps['at'];
  readonly #settings: ReturnType<typeof settingsFrom>;
  #priorityClasses = NO_PRIORITY_CLASSES;
  #isNew = true;
  readonly #pending = new Map<string, { readonly workload: Workload; readonly arrival: number }>();
  readonly #usage: ReplayedUsage | undefined;
  readonly #cache: AdmissionCache;
  readonly #queues: PendingQueues;
  readonly samplingMs: number | undefined;

  constructor({ setup, settings, now, at }: ReplayedAdmissionDeps) {
    this.#setup = setup;
    this.#at = at;
    this.#settings = settingsFrom(settings);
    const { admissionFairSharing } = this.#settings;
    this.samplingMs = admissionFairSharing?.samplingIntervalMs;
    this.#usage =
      admissionFairSharing &&
      createReplayedUsage({
        policy: admissionFairSharing,
        cache: () => this.#cache,
        changed: (...which) => this.#queues.usageChanged(...which),
        now,
      });
    this.#cache = createAdmissionCache(
      buildQueueingSetup({ clusterQueues: [], localQueues: [], resourceFlavors: [], cohorts: [], namespaces: [] }),
      () => this.#priorityClasses,
      this.#usage?.holdings,
      this.#usage?.usageOf,
    );
    this.#queues = createPendingQueues((localQueue) => this.#usage?.usageOf(localQueue));
  }

  waits(workload: Workload, arrival: number): void {
    this.#release(workload.key);
    this.#pending.set(workload.key, { workload, arrival });
    this.#enqueue(workload, arrival);
  }

  holds(workload: Workload, record: AdmissionRecord): void {
    this.#pending.delete(workload.key);
    this.#queues.delete(workload.key);
    const before = this.#cache.get(workload.key);
    this.#cache.admit(workload, record);
    const after = this.#cache.get(workload.key);
    const isLess = before !== undefined && [...before.held].some(([resource, amount]) => amount > (after?.held.get(resource) ?? 0));
    if (before !== undefined && (isLess || !isSameAdmission(before.record, record))) this.#wakeSharers(before);
  }

  leaves(key: string): void {
    this.#pending.delete(key);
    this.#queues.delete(key);
    this.#release(key);
  }

  refresh(): void {
    const changes = this.#setup.takeChanges();
    if (changes.priorities) this.#refreshPriorities();
    if (changes.queueing) this.#refreshQueueing(changes.objects);
    if (changes.clusters) this.#refreshClusters();
    this.#cache.continueVisits(() => false);
  }

  #refreshPriorities(): void {
    const before = this.#priorityClasses;
    const next = this.#setup.priorityClasses();
    this.#priorityClasses = next;
    const concerned = ({ priorityWish }: Workload): boolean => classValue(priorityWish, before) !== classValue(priorityWish, next);
    this.#requeue(concerned);
    this.#cache.reprioritize(concerned);
  }

  #refreshQueueing(objects: ChangedObjects): void {
    const before = this.#cache.queueing();
    const { fairSharing, defaultPlacement } = this.#settings;
    const next = buildQueueingSetup(this.#setup.objects(), fairSharing, defaultPlacement);
    const { tried, requeued: rerouted } = changeOf(objects, before, next);
    this.#cache.setQueueing(next);
    this.#queues.usageChanged();
    if (this.#isNew) {
      this.#queues.wakeAll();
      this.#requeue();
    } else {
      this.#queues.wakeAll(tried);
      if (rerouted !== undefined) this.#requeue(rerouted);
    }
    this.#isNew = false;
  }

  #refreshClusters(): void {
    const before = this.#cache.clusters();
    const next = this.#setup.clusters();
    this.#cache.setClusters(next);
    if (restrictions(next) !== restrictions(before)) this.#requeue();
    this.#queues.wakeAll();
  }

  beginPass(): readonly string[] {
    this.refresh();
    const withdrawn = this.#cache.withdraw(({ key }) => this.#queues.has(key));
    for (const { record } of withdrawn) this.#queues.wake(this.#cache.rootOf(record.clusterQueue));
    if (withdrawn.length > 0) this.#queues.wakeWaitingForCluster();
    return [...this.#cache.displaced()].map(({ reservation }) => reservation.workload.key);
  }

  cycle(nowMs: number, most: number): CycleResult & { readonly decisions: readonly Decision[] } {
    let decisions: readonly Decision[] = [];
    const admit = ({ head: { queued }, record }: Extract<Decision, { kind: 'Admit' }>): boolean => {
      this.#queues.delete(queued.workload.key);
      this.#pending.delete(queued.workload.key);
      this.#cache.assume(queued.workload, record);
      return true;
    };
    const deps = { cache: this.#cache, queues: this.#queues, admit, at: this.#at };
    const result = runCycle({ ...deps, decided: (all) => void (decisions = all) }, nowMs, most);
    return { ...result, decisions };
  }

  reservation(key: string): Reservation | undefined {
    return this.#cache.get(key);
  }

  isBlocked(clusterQueue: string): boolean {
    return this.#cache.isBlocked(clusterQueue);
  }

  clusterQueueOf({ namespace, queue }: Pick<Workload, 'namespace' | 'queue'>): string | undefined {
    return this.#cache.queueing().localQueues.get(`${namespace}/${queue ?? ''}`)?.clusterQueue;
  }

  sample(nowMs: number): void {
    this.#usage?.sample(nowMs);
  }

  #enqueue(workload: Workload, arrival: number): void {
    const entry = queueEntry(workload, arrival, { queueing: this.#cache.queueing(), priorityClasses: this.#priorityClasses });
    if ('reason' in entry) this.#queues.delete(workload.key);
    else putInQueue(this.#queues, this.#cache, entry);
  }

  #requeue(concerned: (workload: Workload) => boolean = () => true): void {
    for (const { workload, arrival } of this.#pending.values()) if (concerned(workload)) this.#enqueue(workload, arrival);
  }

  #release(key: string): void {
    const reservation = this.#cache.forget(key);
    if (reservation !== undefined) this.#wakeSharers(reservation);
  }

  #wakeSharers({ record }: Reservation): void {
    this.#queues.wake(this.#cache.rootOf(record.clusterQueue));
    this.#queues.wakeWaitingForCluster();
  }
}

/** The value of a wish by classes alone, without the bounds of the queue. */
function classValue(wish: PriorityWish, classes: PriorityClasses): number | undefined {
  const resolved = resolvePriority(wish, classes, undefined);
  return resolved.kind === 'Priority' ? resolved.value : undefined;
}

/** The clusters that serve only some namespaces. */
const restrictions = (clusters: readonly ClusterState[]): string =>
  JSON.stringify(clusters.flatMap(({ name, servedNamespaces }) => (servedNamespaces === undefined ? [] : [[name, servedNamespaces]])));
