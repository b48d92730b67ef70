import type { AdmissionRecord } from '../../api/records.ts';
import { formatAdmissionRecord } from '../../api/records.ts';
import { parseRequests, type Amount, type Requests } from '../../api/amount.ts';
import { excess, forPods } from '../../api/job-requests.ts';
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
import { addUsage, flavorResource, type FlavorResource } from '../quota/quota-tree.ts';
import { createQueueCounts, createQueueHoldings, namedQueueOf } from './queue-counts.ts';
import { heldOf } from './reclaimable.ts';
import { createShapeAvoidance, type ShapeAvoidance } from '../workload/shape-avoidance.ts';
import type { QueueingSetup, Snapshot } from '../snapshot/snapshot.ts';
import { startDeadline, type StartDeadline } from './start-deadlines.ts';
import { hasPlace, type Reservation } from '../workload/reservation.ts';
import { createUsage, isClusterHolder, type Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Who holds quota: the reservations. A Workload is *assumed* when the scheduler has decided and the record is being written, and *admitted* once the
 * informer has shown the record. Both count. Usage is the sum of what their records say and nothing else, so a restart rebuilds it from them.
 */
export interface AdmissionCache {
  /** Replaces the queues. What that means for single reservations is found out by {@link goOn}. */
  setQueueing(setup: QueueingSetup): void;
  /** Replaces the clusters, likewise. */
  setClusters(clusters: readonly ClusterState[]): void;
  /** Has every reservation visited, by {@link goOn}. */
  visit(visitor: (reservation: Reservation) => void): void;
  /** Goes on with what is to be done for all reservations until `hasEnded`. True while something is left: nothing may be decided until then. */
  goOn(hasEnded: () => boolean): boolean;
  queueing(): QueueingSetup;
  clusters(): readonly ClusterState[];
  /** What the scheduler decides on; what it charges there is not seen here. */
  snapshot(): Snapshot;
  /** Counts a Workload whose record is about to be written. */
  assume(workload: Workload, record: AdmissionRecord): Reservation;
  /** Counts a Workload by the record that it carries. */
  admit(workload: Workload, record: AdmissionRecord): void;
  /** Stops counting a Workload. Returns what it held. */
  forget(key: string): Reservation | undefined;
  get(key: string): Reservation | undefined;
  reservations(): IterableIterator<Reservation>;
  /** Those of them that are on this cluster. */
  onCluster(cluster: string): Iterable<Reservation>;
  /** How many of them there are of each ClusterQueue. */
  admittedTo(): ReadonlyMap<string, number>;
  /** The same of each LocalQueue, by `namespace/name`. */
  admittedFrom(): ReadonlyMap<string, number>;
  /** What those of a LocalQueue hold of quota. */
  heldFrom(localQueue: string): ReadonlyMap<FlavorResource, Amount>;
  /** How often a Workload has come to be admitted on this cluster: while it is the same number, nobody has. */
  placements(cluster: string): number;
  /** The reservations of Workloads that ask for something else now than they hold. */
  mismatched(): Iterable<Reservation>;
  /** The reservations of Workloads that their cluster has refused. */
  refused(): Iterable<Reservation>;
  /** The reservations of Workloads that are to rest. */
  held(): Iterable<Reservation>;
  /** Those whose record is being written, or was and has not been seen yet. */
  assumed(): Iterable<Reservation>;
  /** The reservations that wait for admission checks. */
  reserved(): Iterable<Reservation>;
  /** When those that are admitted must have started. */
  readonly starts: Pick<Deadlines<StartDeadline>, 'overdue'>;
  /** When the time of those that are admitted is over. */
  readonly executions: Pick<Deadlines<ExecutionDeadline>, 'overdue'>;
  /** The reservations of Workloads that are on their way to a cluster which has refused others of their shape meanwhile, and for what. */
  refusedAlike(): Iterable<readonly [Reservation, string]>;
  /** Something has become known of a shape. */
  reviewShape(shape: string): void;
  /** What clusters have done to Jobs of equal shape. */
  readonly shapes: ShapeAvoidance;
  /** Those that hold quota, in the order in which they would be preempted. */
  readonly admitted: AdmittedIndex;
  /** These, and no others, are to be suspended for the sake of a Workload that waits. */
  displace(by: Displacer, victims: readonly Victim[]): void;
  /** Takes back what is not wanted any more, where nothing has come of it yet. Returns those who stay. */
  withdraw(isWanted: (by: Displacer) => boolean): readonly Reservation[];
  /** The reservations of those that are to be suspended for the sake of others. */
  displaced(): Iterable<Displacement & { readonly reservation: Reservation }>;
  /** What a Workload's wish for a priority is worth has changed, for those that are `concerned`: {@link goOn} takes it over. */
  reprioritize(concerned: (workload: Workload) => boolean): void;
  /** The root of the tree in which it shares quota, if there is such a ClusterQueue. */
  rootOf(clusterQueue: string): readonly string[];
  usage(): Usage;
}

/** Hears of all that is held: of an admission also again when it is seen or changes, and of its end. */
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
  const toRest = new Map<string, Counted>();
  const assumedNow = new Map<string, Counted>();
  const reserved = new Map<string, Counted>();
  const refusedAlike = new Map<string, readonly [Reservation, string]>();
  /** By shape and key, those of which nothing has arrived yet. */
  const onTheirWay = new Map<string, Map<string, Counted>>();
  const walks = createSlicedPass(() => counted.values());
  const shapes = createShapeAvoidance();
  const starts = createDeadlines((reservation) => startDeadline(reservation, { setup, clusters: clustersByName }));
  const executions = createDeadlines(executionDeadline);
  const admitted = createAdmittedIndex();
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

  const arrived = ({ workload: { key, shape } }: Counted): void => {
    const alike = onTheirWay.get(shape);
    if (alike?.delete(key) === true && alike.size === 0) onTheirWay.delete(shape);
  };

  /** All but its places among the others, which it mostly keeps. */
  const drop = (key: string): Counted | undefined => {
    const entry = counted.get(key);
    if (entry === undefined) return undefined;
    counts.to.replace(entry.record.clusterQueue, undefined);
    counts.from.replace(namedQueueOf(entry.workload), undefined);
    heldFrom.add(namedQueueOf(entry.workload), entry.charges, -1);
    mismatched.delete(key);
    refused.delete(key);
    toRest.delete(key);
    assumedNow.delete(key);
    reserved.delete(key);
    refusedAlike.delete(key);
    arrived(entry);
    starts.forget(key);
    executions.forget(key);
    discharge(usage, holdingOf(entry));
    return entry;
  };
  /** What its priority cannot be told for any more, it was told before, or has none of its own. */
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
    const recorded = parseRequests(record.requests);
    const held = heldOf(recorded, workload, setup.queues.get(record.clusterQueue));
    const entry = { workload, record, held, assumed, charges: chargesOf(held, record), ...(held === recorded ? {} : { recorded }) };
    counted.set(workload.key, entry);
    counts.to.replace(undefined, record.clusterQueue);
    counts.from.replace(undefined, namedQueueOf(workload));
    heldFrom.add(namedQueueOf(workload), entry.charges, 1);
    const asked = forPods(workload.recordedRequests ?? workload.requests, record.parallelism);
    if (excess(asked, recorded) !== undefined || excess(recorded, asked) !== undefined) mismatched.set(workload.key, entry);
    if (!assumed && workload.refusal !== undefined) refused.set(workload.key, entry);
    if (!assumed && workload.hold === true) toRest.set(workload.key, entry);
    if (!assumed && workload.phase === 'Reserved') reserved.set(workload.key, entry);
    if (isSettled(entry) && (before === undefined || !isSettled(before) || before.record.cluster !== record.cluster))
      placements.set(record.cluster, (placements.get(record.cluster) ?? 0) + 1);
    if (assumed) assumedNow.set(workload.key, entry);
    starts.watch(entry);
    executions.watch(entry);
    if (isOnItsWay(entry)) {
      const alike = onTheirWay.get(workload.shape) ?? new Map<string, Counted>();
      onTheirWay.set(workload.shape, alike.set(workload.key, entry));
      compare(entry);
    }
    charge(usage, holdingOf(entry));
    displacements.keepFor(workload.key, record);
    index(entry);
    holdings?.held(entry);
    return entry;
  };

  /** Its queues say something else of it now. */
  const review = (entry: Counted): void => {
    const { workload, record, assumed } = entry;
    starts.watch(entry);
    index(entry);
    // Whether it keeps what it does not need any more is its queue's word.
    if (!assumed && workload.podsNeeded !== undefined) put(workload, record, false);
  };

  /** Clusters that one Job after the other tries, and the one that has gone there since. */
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
      // However many hold something: what they hold together of each ClusterQueue is known.
      usage = usage.keeping(isClusterHolder);
      for (const [clusterQueue, key, amount] of admitted.quotas()) {
        const node = next.tree.clusterQueues.get(clusterQueue);
        if (node !== undefined) addUsage(node, usage, key, amount);
      }
      if (concerned === undefined) return;
      walks.enqueue((entry) => {
        if (concerned(entry)) review(entry);
      });
    },
    setClusters: (next) => {
      const before = clustersByName;
      clusterStates = next;
      clustersByName = new Map(next.map((each) => [each.name, each]));
      const others = differing(before, clustersByName, sameContact);
      if (others.size === 0) return;
      walks.enqueue((entry) => {
        if (others.has(entry.record.cluster)) starts.watch(entry);
      });
    },
    visit: walks.enqueue,
    goOn: walks.runUntil,
    queueing: () => setup,
    clusters: () => clusterStates,
    snapshot: () => ({
      queues: setup.queues,
      clusters: clusterStates,
      admitted,
      fairSharing: setup.fairSharing,
      localQueueUsage,
      nodes: setup.tree.clusterQueues,
      usage: usage.fork(),
      shapes: shapes.fork(trials()),
    }),
    assume: (workload, record) => {
      shapes.placed(workload, record);
      return put(workload, record, true);
    },
    admit: (workload, record) => void put(workload, record, false),
    forget: (key) => {
      admitted.delete(key);
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
    held: () => toRest.values(),
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
    displace: (by, victims) => void reindex(displacements.replace(by, victims)),
    withdraw: (isWanted) => reindex(displacements.withdraw(isWanted)),
    *displaced() {
      for (const [key, displacement] of displacements.all()) {
        const reservation = counted.get(key);
        if (reservation !== undefined) yield { ...displacement, reservation };
      }
    },
    reprioritize: (concerned) =>
      walks.enqueue((entry) => {
        if (concerned(entry.workload)) index(entry);
      }),
    rootOf: (clusterQueue) => {
      const node = setup.tree.clusterQueues.get(clusterQueue);
      return node === undefined ? [] : [node.rootId];
    },
    usage: () => usage,
  };
}

/** It is admitted, and its record is written. */
const isSettled = ({ workload, assumed }: Reservation): boolean => !assumed && hasPlace(workload);

/** It was sent, and nothing is known of it. */
const isOnItsWay = ({ workload, assumed }: Reservation): boolean =>
  !assumed && workload.phase === 'Admitted' && !workload.dispatched && !workload.started;

/** Whether it answers, and since when. */
const sameContact = (a: ClusterState, b: ClusterState): boolean => a.lost === b.lost && a.reachableSinceMs === b.reachableSinceMs;

/** Of which reservations the queues say something else now than before, however much quota there is; undefined: of none. */
function concernedBy(before: QueueingSetup, next: QueueingSetup): ((reservation: Reservation) => boolean) | undefined {
  const queues = differing(
    before.queues,
    next.queues,
    (a, b) => a.startTimeoutMs === b.startTimeoutMs && a.keepsFinished === b.keepsFinished,
  );
  const localQueues = differing(
    before.localQueues,
    next.localQueues,
    ({ priorityBounds: a }, { priorityBounds: b }) => a?.min === b?.min && a?.max === b?.max,
  );
  if (queues.size + localQueues.size === 0) return undefined;
  return ({ workload, record }) => queues.has(record.clusterQueue) || localQueues.has(namedQueueOf(workload) ?? '');
}

/** The names of those that have come, have gone, or are not the same. */
function differing<T>(before: ReadonlyMap<string, T>, next: ReadonlyMap<string, T>, isSame: (a: T, b: T) => boolean): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, each] of before) {
    const now = next.get(name);
    if (now === undefined || !isSame(each, now)) names.add(name);
  }
  for (const name of next.keys()) if (!before.has(name)) names.add(name);
  return names;
}

/** Whether two records are the same admission. */
export const isSameAdmission = (a: AdmissionRecord, b: AdmissionRecord): boolean => formatAdmissionRecord(a) === formatAdmissionRecord(b);

/** What is taken from the ClusterQueue. */
function chargesOf(held: Requests, record: AdmissionRecord): Charge[] {
  return [...held].flatMap(([resource, amount]): Charge[] => {
    const flavor = record.flavors[resource];
    return flavor === undefined ? [] : [[flavorResource(flavor, resource), amount]];
  });
}
