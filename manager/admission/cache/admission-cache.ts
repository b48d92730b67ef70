import type { AdmissionRecord } from '../../api/records.ts';
import { formatAdmissionRecord } from '../../api/records.ts';
import { type Amount, type Requests } from '../../api/amount.ts';
import { excess } from '../../api/job-requests.ts';
import { createAdmittedIndex, type AdmittedIndex } from '../workload/admitted-index.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
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
  let setup = empty;
  let clusterStates: readonly ClusterState[] = [];
  let clustersByName: ReadonlyMap<string, ClusterState> = new Map();
  let usage = createUsage();
  const counted = new Map<string, Counted>();
  const mismatched = new Map<string, Counted>();
  const refused = new Map<string, Counted>();
  const heldByUsers = new Map<string, Counted>();
  const assumedNow = new Map<string, Counted>();
  const reserved = new Map<string, Counted>();
  const refusedAlike = new Map<string, readonly [Reservation, string]>();
  /** Keys of Workloads with pods that are not ready, by ClusterQueue: of those alone that block admission meanwhile. */
  const blocking = new Map<string, Set<string>>();
  const isBlocked = (clusterQueue: string): boolean => blocking.has(clusterQueue);
  /** Workloads of which no copy is known yet, by shape and key. */
  const onTheirWay = new Map<string, Map<string, Counted>>();
  const visits = createSlicedPass(() => counted.values());
  const shapes = createShapeAvoidance();
  const starts = createDeadlines((reservation) => startDeadline(reservation, { setup, clusters: clustersByName }));
  const executions = createDeadlines(executionDeadline);
  const admitted = createAdmittedIndex();
  const releases = createReleaseProfile();
  const placements = new Map<string, number>();
  const displacements = createDisplacements();
  const counts = { to: createQueueCounts(), from: createQueueCounts() };
  const heldFrom = createQueueHoldings();

  const holdingOf = ({ record, held, charges }: Counted): Holding => ({
    node: setup.tree.clusterQueues.get(record.clusterQueue),
    charges,
    cluster: record.cluster,
    amounts: held,
  });

  const unblock = ({ workload: { key }, record: { clusterQueue } }: Counted): void => {
    const keys = blocking.get(clusterQueue);
    if (keys?.delete(key) === true && keys.size === 0) blocking.delete(clusterQueue);
  };
  const reviewBlocking = (entry: Counted, queue: QueueSetup | undefined): void => {
    unblock(entry);
    if (queue?.blocksAdmission !== true || !(entry.assumed || awaitsPods(entry.workload))) return;
    const { clusterQueue } = entry.record;
    blocking.set(clusterQueue, (blocking.get(clusterQueue) ?? new Set()).add(entry.workload.key));
  };

  const arrived = ({ workload: { key, shape } }: Counted): void => {
    const alike = onTheirWay.get(shape);
    if (alike?.delete(key) === true && alike.size === 0) onTheirWay.delete(shape);
  };

  /** Removes a reservation from all but the ordered index, in which it mostly keeps its place. */
  const drop = (key: string): Counted | undefined => {
    const entry = counted.get(key);
    if (entry === undefined) return undefined;
    counts.to.replace(entry.record.clusterQueue, undefined);
    counts.from.replace(namedQueueOf(entry.workload), undefined);
    heldFrom.add(namedQueueOf(entry.workload), entry.charges, -1);
    mismatched.delete(key);
    refused.delete(key);
    heldByUsers.delete(key);
    assumedNow.delete(key);
    reserved.delete(key);
    refusedAlike.delete(key);
    unblock(entry);
    arrived(entry);
    starts.forget(key);
    executions.forget(key);
    discharge(usage, holdingOf(entry));
    return entry;
  };
  /** A Workload whose priority no longer resolves keeps its last priority, or gets the default. */
  const priorityOf = ({ key, namespace, queue, priorityWish }: Workload): number => {
    const classes = priorityClasses();
    const resolved = resolvePriority(priorityWish, classes, setup.localQueues.get(`${namespace}/${queue ?? ''}`)?.priorityBounds);
    return resolved.kind === 'Priority' ? resolved.value : (admitted.get(key)?.priority ?? classes.fallback);
  };
  const index = (entry: Counted): void => {
    const { workload, record, assumed, charges } = entry;
    const leaving = displacements.of(workload.key) !== undefined || (!assumed && !hasPlace(workload));
    admitted.set({ reservation: entry, priority: priorityOf(workload), charges, leaving, sinceMs: Date.parse(record.since) });
  };
  const expect = ({ workload, record, held, charges }: Counted): void => {
    const { key, expectedMs } = workload;
    if (expectedMs === undefined) releases.delete(key);
    else {
      const { clusterQueue, cluster } = record;
      // Records tell whole seconds: a Workload that ends as expected has not outlived that.
      const sinceMs = Date.parse(record.since) + 1_000;
      releases.set({ key, clusterQueue, cluster, sinceMs, expectedMs, amounts: held, charges });
    }
  };
  const compare = (entry: Counted): void => {
    const { workload, record } = entry;
    const reason = workload.refusal === undefined ? shapes.refusedMeanwhile(workload.shape, record) : undefined;
    if (reason === undefined) refusedAlike.delete(workload.key);
    else refusedAlike.set(workload.key, [entry, reason]);
  };
  const reindex = (keys: readonly string[]): readonly Reservation[] => {
    const entries = keys.flatMap((key) => counted.get(key) ?? []);
    for (const entry of entries) index(entry);
    return entries;
  };
  const put = (workload: Workload, record: AdmissionRecord, assumed: boolean): Reservation => {
    const before = drop(workload.key);
    const recorded = recordedRequests(record);
    const queue = setup.queues.get(record.clusterQueue);
    const entry = { workload, record, assumed, ...holdingFor(workload, record, recorded, queue) };
    counted.set(workload.key, entry);
    counts.to.replace(undefined, record.clusterQueue);
    counts.from.replace(undefined, namedQueueOf(workload));
    heldFrom.add(namedQueueOf(workload), entry.charges, 1);
    const asked = admittedOf({ requests: workload.recordedRequests ?? workload.requests, podSets: workload.podSets }, record);
    if (isUnlike(asked, recorded) || excessOfPodSets(workload, record) !== undefined) mismatched.set(workload.key, entry);
    if (!assumed && workload.refusal !== undefined) refused.set(workload.key, entry);
    if (!assumed && workload.hold === true) heldByUsers.set(workload.key, entry);
    if (!assumed && workload.phase === 'Reserved') reserved.set(workload.key, entry);
    if (isSettled(entry) && (before === undefined || !isSettled(before) || before.record.cluster !== record.cluster))
      placements.set(record.cluster, (placements.get(record.cluster) ?? 0) + 1);
    if (assumed) assumedNow.set(workload.key, entry);
    reviewBlocking(entry, queue);
    starts.watch(entry);
    executions.watch(entry);
    if (isOnItsWay(entry)) {
      const alike = onTheirWay.get(workload.shape) ?? new Map<string, Counted>();
      onTheirWay.set(workload.shape, alike.set(workload.key, entry));
      compare(entry);
    }
    charge(usage, holdingOf(entry));
    expect(entry);
    displacements.keepIfSame(workload.key, record);
    index(entry);
    holdings?.held(entry);
    return entry;
  };

  /** The setup of the reservation's ClusterQueue or LocalQueue has changed. */
  const review = (entry: Counted): void => {
    const { workload, record, assumed } = entry;
    starts.watch(entry);
    reviewBlocking(entry, setup.queues.get(record.clusterQueue));
    index(entry);
    // The ClusterQueue decides whether finished pods keep their quota.
    if (!assumed && hasFinishedPods(workload)) put(workload, record, false);
  };

  /** Clusters that are tried by one Job at a time, with the Job admitted there since. */
  const trials = (): ReadonlyMap<string, string | undefined> => {
    const found = new Map<string, string | undefined>();
    for (const { name, tryingSinceMs } of clusterStates) {
      if (tryingSinceMs === undefined) continue;
      const by = [...admitted.onCluster(name)].find(
        ({ reservation: { workload, record, assumed } }) => (assumed || hasPlace(workload)) && Date.parse(record.since) >= tryingSinceMs,
      );
      found.set(name, by?.reservation.workload.key);
    }
    return found;
  };

  return {
    setQueueing: (next) => {
      const concerned = concernedBy(setup, next);
      setup = next;
      // Usage per ClusterQueue is indexed, so the cost does not depend on the number of reservations.
      usage = usage.restrictedTo(isClusterHolder);
      for (const [clusterQueue, key, amount] of admitted.quotas()) {
        const node = next.tree.clusterQueues.get(clusterQueue);
        if (node !== undefined) addUsage(node, usage, key, amount);
      }
      if (concerned === undefined) return;
      visits.enqueue((entry) => {
        if (concerned(entry)) review(entry);
      });
    },
    setClusters: (next) => {
      const before = clustersByName;
      clusterStates = next;
      clustersByName = new Map(next.map((each) => [each.name, each]));
      const others = differing(before, clustersByName, sameContact);
      if (others.size === 0) return;
      visits.enqueue((entry) => {
        if (others.has(entry.record.cluster)) starts.watch(entry);
      });
    },
    visit: visits.enqueue,
    continueVisits: visits.runUntil,
    queueing: () => setup,
    clusters: () => clusterStates,
    snapshot: () => ({
      queues: setup.queues,
      clusters: clusterStates,
      admitted,
      fairSharing: setup.fairSharing,
      localQueueUsage,
      nodes: setup.tree.clusterQueues,
      isBlocked,
      usage: usage.fork(),
      shapes: shapes.fork(trials()),
      releases,
    }),
    assume: (workload, record) => {
      shapes.placed(workload, record);
      return put(workload, record, true);
    },
    admit: (workload, record) => void put(workload, record, false),
    forget: (key) => {
      admitted.delete(key);
      releases.delete(key);
      displacements.forget(key);
      const entry = drop(key);
      counted.delete(key);
      if (entry !== undefined) holdings?.released(entry);
      return entry;
    },
    get: (key) => counted.get(key),
    reservations: () => counted.values(),
    *onCluster(cluster) {
      for (const { reservation } of admitted.onCluster(cluster)) yield reservation;
    },
    admittedTo: counts.to.all,
    admittedFrom: counts.from.all,
    heldFrom: heldFrom.of,
    placements: (cluster) => placements.get(cluster) ?? 0,
    mismatched: () => mismatched.values(),
    refused: () => refused.values(),
    held: () => heldByUsers.values(),
    assumed: () => assumedNow.values(),
    reserved: () => reserved.values(),
    starts,
    executions,
    refusedAlike: () => refusedAlike.values(),
    reviewShape: (shape) => {
      for (const entry of onTheirWay.get(shape)?.values() ?? []) compare(entry);
    },
    shapes,
    admitted,
    releases,
    displace: (by, victims) => void reindex(displacements.replace(by, victims)),
    withdraw: (isWanted) => reindex(displacements.withdraw(isWanted)),
    *displaced() {
      for (const [key, displacement] of displacements.all()) {
        const reservation = counted.get(key);
        if (reservation !== undefined) yield { ...displacement, reservation };
      }
    },
    reprioritize: (concerned) =>
      visits.enqueue((entry) => {
        if (concerned(entry.workload)) index(entry);
      }),
    rootOf: (clusterQueue) => {
      const node = setup.tree.clusterQueues.get(clusterQueue);
      return node === undefined ? [] : [node.rootId];
    },
    usage: () => usage,
    isBlocked,
  };
}

/** The reservation is admitted and its record is written. */
const isSettled = ({ workload, assumed }: Reservation): boolean => !assumed && hasPlace(workload);

/** The Workload is sent to its cluster, and no copy is known yet. */
const isOnItsWay = ({ workload, assumed }: Reservation): boolean =>
  !assumed && workload.phase === 'Admitted' && !workload.dispatched && !workload.started;

/** Whether a cluster is lost, and since when it is reachable. */
const sameContact = (a: ClusterState, b: ClusterState): boolean => a.lost === b.lost && a.reachableSinceMs === b.reachableSinceMs;

/**
 * Selects the reservations for which start or recovery timeouts, blocked admission, finished pods or priority bounds have changed;
 * undefined if there are none. Quota is not considered.
 */
function concernedBy(before: QueueingSetup, next: QueueingSetup): ((reservation: Reservation) => boolean) | undefined {
  const queues = differing(
    before.queues,
    next.queues,
    (a, b) =>
      a.startTimeoutMs === b.startTimeoutMs &&
      a.recoveryTimeoutMs === b.recoveryTimeoutMs &&
      a.keepsFinished === b.keepsFinished &&
      a.blocksAdmission === b.blocksAdmission,
  );
  const localQueues = differing(
    before.localQueues,
    next.localQueues,
    ({ priorityBounds: a }, { priorityBounds: b }) => a?.min === b?.min && a?.max === b?.max,
  );
  if (queues.size + localQueues.size === 0) return undefined;
  return ({ workload, record }) => queues.has(record.clusterQueue) || localQueues.has(namedQueueOf(workload) ?? '');
}

/** The names of entries that were added, removed or changed. */
function differing<T>(before: ReadonlyMap<string, T>, next: ReadonlyMap<string, T>, isSame: (a: T, b: T) => boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, each] of before) {
    const now = next.get(name);
    if (now === undefined || !isSame(each, now)) names.add(name);
  }
  for (const name of next.keys()) if (!before.has(name)) names.add(name);
  return names;
}

/** Whether two records describe the same admission. */
export const isSameAdmission = (a: AdmissionRecord, b: AdmissionRecord): boolean => formatAdmissionRecord(a) === formatAdmissionRecord(b);

const isUnlike = (asked: Requests, recorded: Requests): boolean =>
  excess(asked, recorded) !== undefined || excess(recorded, asked) !== undefined;
