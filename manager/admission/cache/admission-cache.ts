import type { AdmissionRecord } from '../../api/records.ts';
import { formatAdmissionRecord } from '../../api/records.ts';
import { type Amount, type Requests } from '../../api/amount.ts';
import { excess } from '../../api/job-requests.ts';
import { createAdmittedIndex, type AdmittedIndex } from '../workload/admitted-index.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { concernedByClusters, concernedByQueues } from './concerned-reservations.ts';
import { SentReservations } from './sent-reservations.ts';
import { createSlicedPass } from './sliced-pass.ts';
import { createDeadlines, type Deadlines } from './deadlines.ts';
import { createDisplacements, type Displacement, type Displacer } from '../preemption/displacements.ts';
import { executionDeadline, type ExecutionDeadline } from './execution-time.ts';
import { charge, discharge, type Holding } from '../flavors/holding.ts';
import type { LocalQueueUsage } from '../fair-sharing/local-queue-order.ts';
import type { Victim } from '../preemption/preemption.ts';
import { NO_PRIORITY_CLASSES, resolvePriority, type PriorityClasses } from '../workload/priority.ts';
import { addUsage, type FlavorResource } from '../quota/quota-tree.ts';
import { createQueueCounts, createQueueHoldings, namedQueueOf } from './queue-counts.ts';
import { hasFinishedPods, holdingFor } from './reclaimable.ts';
import { createShapeAvoidance, type ShapeAvoidance } from '../workload/shape-avoidance.ts';
import type { QueueSetup, QueueingSetup, Snapshot } from '../snapshot/snapshot.ts';
import { startDeadline, type StartDeadline } from './start-deadlines.ts';
import { createReleaseProfile, type MutableReleaseProfile } from '../workload/release-profile.ts';
import { awaitsPods, hasPlace, recordedRequests, type Reservation } from '../workload/reservation.ts';
import { createUsage, isClusterHolder, type Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';
import { admittedOf, excessOfPodSets } from '../workload/workload-pod-sets.ts';

/**
 * The reservations: Workloads that hold quota. A Workload is *assumed* once the scheduler has decided and the record is being written, and
 * *admitted* once the informer has shown the record. Both count. Usage is the sum of the records and nothing else, so a restart rebuilds it
 * from them.
 */
export interface AdmissionCache {
  /** Replaces the queues. {@link continueVisits} updates single reservations. */
  setQueueing(setup: QueueingSetup): void;
  /** Replaces the clusters. {@link continueVisits} updates single reservations. */
  setClusters(clusters: readonly ClusterState[]): void;
  /** Schedules a visit to every reservation, made by {@link continueVisits}. */
  visit(visitor: (reservation: Reservation) => void): void;
  /** Continues the scheduled visits until `hasEnded`. True while visits remain: the scheduler must not decide until then. */
  continueVisits(hasEnded: () => boolean): boolean;
  queueing(): QueueingSetup;
  clusters(): readonly ClusterState[];
  /** The snapshot for the scheduler; its changes do not reach the cache. */
  snapshot(): Snapshot;
  /** Counts a Workload whose record is about to be written. */
  assume(workload: Workload, record: AdmissionRecord): Reservation;
  /** Counts a Workload by the record that it carries. */
  admit(workload: Workload, record: AdmissionRecord): void;
  /** Stops counting a Workload. Returns its reservation. */
  forget(key: string): Reservation | undefined;
  get(key: string): Reservation | undefined;
  reservations(): IterableIterator<Reservation>;
  /** The reservations on this cluster. */
  onCluster(cluster: string): Iterable<Reservation>;
  /** The number of reservations, by ClusterQueue. */
  admittedTo(): ReadonlyMap<string, number>;
  /** The number of reservations, by LocalQueue as `namespace/name`. */
  admittedFrom(): ReadonlyMap<string, number>;
  /** The quota that the Workloads of a LocalQueue hold. */
  heldFrom(localQueue: string): ReadonlyMap<FlavorResource, Amount>;
  /** The number of admissions to this cluster so far: while it is unchanged, no Workload has been admitted there. */
  placements(cluster: string): number;
  /** Reservations of Workloads whose requests differ from their record. */
  mismatched(): Iterable<Reservation>;
  /** Reservations of Workloads that their cluster has refused. */
  refused(): Iterable<Reservation>;
  /** Reservations of Workloads that users hold. */
  held(): Iterable<Reservation>;
  /** Reservations whose record is being written, or was written and is not observed yet. */
  assumed(): Iterable<Reservation>;
  /** Reservations that wait for admission checks. */
  reserved(): Iterable<Reservation>;
  /** Deadlines for admitted Workloads to start, and to recover. */
  readonly starts: Pick<Deadlines<StartDeadline>, 'overdue'>;
  /** Deadlines of the maximum execution time. */
  readonly executions: Pick<Deadlines<ExecutionDeadline>, 'overdue'>;
  /** Reservations of Workloads on their way to a cluster that has refused others of their shape since, with the reason. */
  refusedAlike(): Iterable<readonly [Reservation, string]>;
  /** What clusters have done to a shape has changed. */
  reviewShape(shape: string): void;
  /** What clusters have done to Jobs of equal shape. */
  readonly shapes: ShapeAvoidance;
  /** Workloads that hold quota, in the order in which they are preempted. */
  readonly admitted: AdmittedIndex;
  /** Expected releases of Workloads with known run times. */
  readonly releases: Pick<MutableReleaseProfile, 'on' | 'of' | 'get' | 'overrun' | 'nextMs'>;
  /** Plans the eviction of exactly these victims for a pending Workload. */
  displace(by: Displacer, victims: readonly Victim[]): void;
  /** Withdraws planned evictions whose preemptor is gone, unless already written. Returns the Workloads that keep their place. */
  withdraw(isWanted: (by: Displacer) => boolean): readonly Reservation[];
  /** Reservations with a planned eviction for a preemptor. */
  displaced(): Iterable<Displacement & { readonly reservation: Reservation }>;
  /** The priority of the `concerned` Workloads has changed; {@link continueVisits} updates the index. */
  reprioritize(concerned: (workload: Workload) => boolean): void;
  /** The root of the ClusterQueue's cohort tree; empty if the ClusterQueue does not exist. */
  rootOf(clusterQueue: string): readonly string[];
  usage(): Usage;
  /** Whether the ClusterQueue admits nothing until pods of its admitted Workloads are ready (blockAdmission). */
  isBlocked(clusterQueue: string): boolean;
}

/** Receives all reservations, again when one is observed or changes, and their end. */
export type HoldingListener = { readonly held: (reservation: Reservation) => void; readonly released: (reservation: Reservation) => void };

type Counted = Reservation & { readonly charges: readonly Charge[] };

export function createAdmissionCache(
  empty: QueueingSetup,
  priorityClasses: () => PriorityClasses = () => NO_PRIORITY_CLASSES,
  holdings?: HoldingListener,
  localQueueUsage?: LocalQueueUsage,
): AdmissionCache {
  return new Reservations(empty, priorityClasses, holdings, localQueueUsage);
}

class Reservations implements AdmissionCache {
  #setup: QueueingSetup;
  readonly #priorityClasses: () => PriorityClasses;
  readonly #holdings: HoldingListener | undefined;
  readonly #localQueueUsage: LocalQueueUsage | undefined;
  #clusterStates: readonly ClusterState[] = [];
  #clustersByName: ReadonlyMap<string, ClusterState> = new Map();
  #usage = createUsage();
  readonly #counted = new Map<string, Counted>();
  readonly #mismatched = new Map<string, Counted>();
  readonly #refused = new Map<string, Counted>();
  readonly #heldByUsers = new Map<string, Counted>();
  readonly #assumedNow = new Map<string, Counted>();
  readonly #reserved = new Map<string, Counted>();
  /** Keys of Workloads with pods that are not ready, by ClusterQueue: of those alone that block admission meanwhile. */
  readonly #blocking = new Map<string, Set<string>>();
  readonly #visits = createSlicedPass(() => this.#counted.values());
  readonly #placements = new Map<string, number>();
  readonly #displacements = createDisplacements();
  readonly #counts = { to: createQueueCounts(), from: createQueueCounts() };
  readonly #heldFrom = createQueueHoldings();
  readonly shapes = createShapeAvoidance();
  readonly #sent = new SentReservations(this.shapes);
  readonly starts = createDeadlines((each) => startDeadline(each, { setup: this.#setup, clusters: this.#clustersByName }));
  readonly executions = createDeadlines(executionDeadline);
  readonly admitted = createAdmittedIndex();
  readonly releases = createReleaseProfile();

  readonly visit = this.#visits.enqueue;
  readonly continueVisits = this.#visits.runUntil;
  readonly admittedTo = this.#counts.to.all;
  readonly admittedFrom = this.#counts.from.all;
  readonly heldFrom = this.#heldFrom.of;
  readonly isBlocked = (clusterQueue: string): boolean => this.#blocking.has(clusterQueue);
  readonly queueing = (): QueueingSetup => this.#setup;
  readonly clusters = (): readonly ClusterState[] => this.#clusterStates;
  readonly get = (key: string): Reservation | undefined => this.#counted.get(key);
  readonly reservations = (): IterableIterator<Reservation> => this.#counted.values();
  readonly placements = (cluster: string): number => this.#placements.get(cluster) ?? 0;
  readonly mismatched = (): Iterable<Reservation> => this.#mismatched.values();
  readonly refused = (): Iterable<Reservation> => this.#refused.values();
  readonly held = (): Iterable<Reservation> => this.#heldByUsers.values();
  readonly assumed = (): Iterable<Reservation> => this.#assumedNow.values();
  readonly reserved = (): Iterable<Reservation> => this.#reserved.values();
  readonly refusedAlike = (): Iterable<readonly [Reservation, string]> => this.#sent.refusedAlike();
  readonly reviewShape = (shape: string): void => this.#sent.reviewShape(shape);
  readonly usage = (): Usage => this.#usage;

  constructor(
    empty: QueueingSetup,
    priorityClasses: () => PriorityClasses,
    holdings: HoldingListener | undefined,
    localQueueUsage: LocalQueueUsage | undefined,
  ) {
    this.#setup = empty;
    this.#priorityClasses = priorityClasses;
    this.#holdings = holdings;
    this.#localQueueUsage = localQueueUsage;
  }

  setQueueing(next: QueueingSetup): void {
    const concerned = concernedByQueues(this.#setup, next);
    this.#setup = next;
    // Usage per ClusterQueue is indexed, so the cost does not depend on the number of reservations.
    this.#usage = this.#usage.restrictedTo(isClusterHolder);
    for (const [clusterQueue, key, amount] of this.admitted.quotas()) {
      const node = next.tree.clusterQueues.get(clusterQueue);
      if (node !== undefined) addUsage(node, this.#usage, key, amount);
    }
    if (concerned === undefined) return;
    this.#visits.enqueue((entry) => {
      if (concerned(entry)) this.#review(entry);
    });
  }

  setClusters(next: readonly ClusterState[]): void {
    const before = this.#clustersByName;
    this.#clusterStates = next;
    this.#clustersByName = new Map(next.map((each) => [each.name, each]));
    const concerned = concernedByClusters(before, this.#clustersByName);
    if (concerned === undefined) return;
    this.#visits.enqueue((entry) => {
      if (concerned(entry)) this.starts.watch(entry);
    });
  }

  snapshot(): Snapshot {
    return {
      queues: this.#setup.queues,
      clusters: this.#clusterStates,
      admitted: this.admitted,
      fairSharing: this.#setup.fairSharing,
      localQueueUsage: this.#localQueueUsage,
      nodes: this.#setup.tree.clusterQueues,
      isBlocked: this.isBlocked,
      usage: this.#usage.fork(),
      shapes: this.shapes.fork(this.#trials()),
      releases: this.releases,
    };
  }

  assume(workload: Workload, record: AdmissionRecord): Reservation {
    this.shapes.placed(workload, record);
    return this.#put(workload, record, true);
  }

  admit(workload: Workload, record: AdmissionRecord): void {
    this.#put(workload, record, false);
  }

  forget(key: string): Reservation | undefined {
    this.admitted.delete(key);
    this.releases.delete(key);
    this.#displacements.forget(key);
    const entry = this.#drop(key);
    this.#counted.delete(key);
    if (entry !== undefined) this.#holdings?.released(entry);
    return entry;
  }

  *onCluster(cluster: string): Iterable<Reservation> {
    for (const { reservation } of this.admitted.onCluster(cluster)) yield reservation;
  }

  displace(by: Displacer, victims: readonly Victim[]): void {
    this.#reindex(this.#displacements.replace(by, victims));
  }

  withdraw(isWanted: (by: Displacer) => boolean): readonly Reservation[] {
    return this.#reindex(this.#displacements.withdraw(isWanted));
  }

  *displaced(): Iterable<Displacement & { readonly reservation: Reservation }> {
    for (const [key, displacement] of this.#displacements.all()) {
      const reservation = this.#counted.get(key);
      if (reservation !== undefined) yield { ...displacement, reservation };
    }
  }

  reprioritize(concerned: (workload: Workload) => boolean): void {
    this.#visits.enqueue((entry) => {
      if (concerned(entry.workload)) this.#index(entry);
    });
  }

  rootOf(clusterQueue: string): readonly string[] {
    const node = this.#setup.tree.clusterQueues.get(clusterQueue);
    return node === undefined ? [] : [node.rootId];
  }

  #put(workload: Workload, record: AdmissionRecord, assumed: boolean): Reservation {
    const before = this.#drop(workload.key);
    const recorded = recordedRequests(record);
    const queue = this.#setup.queues.get(record.clusterQueue);
    const entry = { workload, record, assumed, ...holdingFor(workload, record, recorded, queue) };
    this.#counted.set(workload.key, entry);
    this.#counts.to.replace(undefined, record.clusterQueue);
    this.#counts.from.replace(undefined, namedQueueOf(workload));
    this.#heldFrom.add(namedQueueOf(workload), entry.charges, 1);
    if (isSettled(entry) && (before === undefined || !isSettled(before) || before.record.cluster !== record.cluster))
      this.#placements.set(record.cluster, this.placements(record.cluster) + 1);
    this.#classify(entry, recorded);
    this.#reviewBlocking(entry, queue);
    this.starts.watch(entry);
    this.executions.watch(entry);
    this.#sent.watch(entry);
    charge(this.#usage, this.#holdingOf(entry));
    this.#expect(entry);
    this.#displacements.keepIfSame(workload.key, record);
    this.#index(entry);
    this.#holdings?.held(entry);
    return entry;
  }

  #classify(entry: Counted, recorded: Requests): void {
    const { workload, record, assumed } = entry;
    const asked = admittedOf({ requests: workload.recordedRequests ?? workload.requests, podSets: workload.podSets }, record);
    if (isUnlike(asked, recorded) || excessOfPodSets(workload, record) !== undefined) this.#mismatched.set(workload.key, entry);
    if (assumed) this.#assumedNow.set(workload.key, entry);
    if (!assumed && workload.refusal !== undefined) this.#refused.set(workload.key, entry);
    if (!assumed && workload.hold === true) this.#heldByUsers.set(workload.key, entry);
    if (!assumed && workload.phase === 'Reserved') this.#reserved.set(workload.key, entry);
  }

  /** Removes a reservation from all but the ordered index, in which it mostly keeps its place. */
  #drop(key: string): Counted | undefined {
    const entry = this.#counted.get(key);
    if (entry === undefined) return undefined;
    this.#counts.to.replace(entry.record.clusterQueue, undefined);
    this.#counts.from.replace(namedQueueOf(entry.workload), undefined);
    this.#heldFrom.add(namedQueueOf(entry.workload), entry.charges, -1);
    this.#mismatched.delete(key);
    this.#refused.delete(key);
    this.#heldByUsers.delete(key);
    this.#assumedNow.delete(key);
    this.#reserved.delete(key);
    this.#unblock(entry);
    this.#sent.forget(entry);
    this.starts.forget(key);
    this.executions.forget(key);
    discharge(this.#usage, this.#holdingOf(entry));
    return entry;
  }

  #holdingOf({ record, held, charges }: Counted): Holding {
    const node = this.#setup.tree.clusterQueues.get(record.clusterQueue);
    return { node, charges, cluster: record.cluster, amounts: held };
  }

  #reviewBlocking(entry: Counted, queue: QueueSetup | undefined): void {
    this.#unblock(entry);
    if (queue?.blocksAdmission !== true || !(entry.assumed || awaitsPods(entry.workload))) return;
    const { clusterQueue } = entry.record;
    this.#blocking.set(clusterQueue, (this.#blocking.get(clusterQueue) ?? new Set()).add(entry.workload.key));
  }

  #unblock({ workload: { key }, record: { clusterQueue } }: Counted): void {
    const keys = this.#blocking.get(clusterQueue);
    if (keys?.delete(key) === true && keys.size === 0) this.#blocking.delete(clusterQueue);
  }

  #index(entry: Counted): void {
    const { workload, record, assumed, charges } = entry;
    const leaving = this.#displacements.of(workload.key) !== undefined || (!assumed && !hasPlace(workload));
    const sinceMs = Date.parse(record.since);
    this.admitted.set({ reservation: entry, priority: this.#priorityOf(workload), charges, leaving, sinceMs });
  }

  #reindex(keys: readonly string[]): readonly Reservation[] {
    const entries = keys.flatMap((key) => this.#counted.get(key) ?? []);
    for (const entry of entries) this.#index(entry);
    return entries;
  }

  /** A Workload whose priority no longer resolves keeps its last priority, or gets the default. */
  #priorityOf({ key, namespace, queue, priorityWish }: Workload): number {
    const classes = this.#priorityClasses();
    const bounds = this.#setup.localQueues.get(`${namespace}/${queue ?? ''}`)?.priorityBounds;
    const resolved = resolvePriority(priorityWish, classes, bounds);
    return resolved.kind === 'Priority' ? resolved.value : (this.admitted.get(key)?.priority ?? classes.fallback);
  }

  #expect({ workload: { key, expectedMs }, record, held, charges }: Counted): void {
    if (expectedMs === undefined) return this.releases.delete(key);
    const { clusterQueue, cluster } = record;
    // Records tell whole seconds: a Workload that ends as expected has not outlived that.
    const sinceMs = Date.parse(record.since) + 1_000;
    this.releases.set({ key, clusterQueue, cluster, sinceMs, expectedMs, amounts: held, charges });
  }

  /** The setup of the reservation's ClusterQueue or LocalQueue has changed. */
  #review(entry: Counted): void {
    const { workload, record, assumed } = entry;
    this.starts.watch(entry);
    this.#reviewBlocking(entry, this.#setup.queues.get(record.clusterQueue));
    this.#index(entry);
    // The ClusterQueue decides whether finished pods keep their quota.
    if (!assumed && hasFinishedPods(workload)) this.#put(workload, record, false);
  }

  /** Clusters that are tried by one Job at a time, with the Job admitted there since. */
  #trials(): ReadonlyMap<string, string | undefined> {
    const found = new Map<string, string | undefined>();
    for (const { name, tryingSinceMs } of this.#clusterStates) {
      if (tryingSinceMs === undefined) continue;
      const by = [...this.admitted.onCluster(name)].find(
        ({ reservation: { workload, record, assumed } }) => (assumed || hasPlace(workload)) && Date.parse(record.since) >= tryingSinceMs,
      );
      found.set(name, by?.reservation.workload.key);
    }
    return found;
  }
}

/** The reservation is admitted and its record is written. */
const isSettled = ({ workload, assumed }: Reservation): boolean => !assumed && hasPlace(workload);

/** Whether two records describe the same admission. */
export const isSameAdmission = (a: AdmissionRecord, b: AdmissionRecord): boolean => formatAdmissionRecord(a) === formatAdmissionRecord(b);

const isUnlike = (asked: Requests, recorded: Requests): boolean =>
  excess(asked, recorded) !== undefined || excess(recorded, asked) !== undefined;
