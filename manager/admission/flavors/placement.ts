import { matchesLabelSelector } from '../../../shared/kube/selectors.ts';
import { UNLIMITED, ZERO } from '../../api/amount.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { PlacementPolicy } from '../../api/cluster-queue.ts';
import { nearness } from '../../api/data-names.ts';
import { avoidance, isRefused } from '../workload/avoidance.ts';
import { isRecordedOn, type ClusterState } from '../quota/cluster-state.ts';
import type { ClusterTable } from '../quota/cluster-table.ts';
import { askedOf, couldHold, mayGo, verdictOn, type ClusterVerdict } from './cluster-verdict.ts';
import type { FlavorOption, OptionGroups } from './flavor-assigner.ts';
import { combineFlavors, exceedsFree, type QuotaLimit } from './flavor-combination.ts';
import type { ShapesOfCycle } from '../workload/shape-avoidance.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { cellOf, freeOn, type Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

export type Placement = Placed | { readonly kind: 'NoCluster'; readonly verdicts: readonly ClusterVerdict[] };

export type Placed = {
  readonly kind: 'Placed';
  readonly cluster: string;
  readonly clusterUID?: string;
  readonly flavors: readonly FlavorOption[];
  readonly verdicts: readonly ClusterVerdict[];
};

/**
 * Chooses one cluster, as a scheduler chooses a node: filter, then score. Each resource group gets the first fitting flavor that the
 * cluster offers and that goes together with the others. Better flavors outrank a better cluster. Among equals the Job's previous cluster
 * wins, because completed work there need not run again; then the cluster with the greatest preference; then the one nearest to the data
 * that the Job names; then the one with the least or the most room left, as `policy` says; then the first by name. Room is the free share
 * of the resource that is scarcest there once the Job runs.
 */
export function place(
  workload: Workload,
  groups: OptionGroups,
  clusters: readonly ClusterState[],
  usage: Usage,
  shapes: Pick<ShapesOfCycle, 'of'>,
  nowMs: number,
  policy: PlacementPolicy,
): Placement {
  const best = bestOf(workload, groups, { clusters, usage, shapes }, nowMs, policy);
  const judged = (): ClusterVerdict[] =>
    clusters.map((cluster) => {
      const flavors = offeredFlavors(groups, cluster);
      return verdictOn(cluster, workload, { groups, flavors }, { usage, shapes }, nowMs);
    });
  // Verdict texts cost more than the choice and are rarely read, so they are built on demand.
  if (best === undefined) {
    return {
      kind: 'NoCluster',
      get verdicts() {
        return judged();
      },
    };
  }
  const { cluster, clusterUID, flavors } = best;
  return {
    kind: 'Placed',
    cluster,
    ...omitUndefined({ clusterUID }),
    flavors,
    get verdicts() {
      return judged();
    },
  };
}

/**
 * Whether a placement found earlier in the cycle is still valid: the room may be taken, or a probe of the same shape may have gone there.
 */
export function stillHolds({ cluster }: Placed, workload: Workload, { clusters, usage, shapes }: Surroundings, nowMs: number): boolean {
  const state = usage.tableOf(clusters).named(cluster);
  if (state === undefined || state.closed !== undefined || !mayGoNow(workload, state, shapes, nowMs)) return false;
  for (const [resource, amount] of workload.requests) if (amount > ZERO && amount > freeOn(state, usage, resource)) return false;
  return true;
}

/** When the first avoided cluster may be tried again, in epoch milliseconds. */
export function earliestRetryMs(
  workload: Workload,
  { clusters, shapes }: Pick<Snapshot, 'clusters' | 'shapes'>,
  nowMs: number,
): number | undefined {
  let earliest: number | undefined;
  for (const { name } of clusters) {
    const untilMs = (avoidance(workload.record, name, nowMs) ?? shapes.of(workload.shape, name, nowMs))?.untilMs;
    if (untilMs !== undefined && (earliest === undefined || untilMs < earliest)) earliest = untilMs;
  }
  return earliest;
}

/**
 * Whether some cluster could ever hold the Workload: the Job wishes for it, it serves the namespace, it offers flavors of `groups` that go
 * together, and its capacity suffices when empty. `groups`: flavors that fit with all quota unused. Closed clusters count, because they may
 * open again.
 */
export function couldEverBePlaced(workload: Workload, groups: OptionGroups, clusters: readonly ClusterState[]): boolean {
  // Without any cluster all Workloads wait alike.
  if (clusters.length === 0 && workload.wish.kind === 'Any') return true;
  const asked = askedOf(workload);
  return clusters.some((cluster) => couldHold(asked, cluster) && mayGo(workload, cluster) && offeredFlavors(groups, cluster) !== undefined);
}

/**
 * Among clusters that accept the Workload and could hold it when empty, the one with the smallest shortage relative to its capacity, so
 * that it waits no longer than it must; better flavors go first, among equals the greater preference, then the nearer data. Undefined if
 * there is none.
 */
export function leastMissing(
  workload: Workload,
  groups: OptionGroups,
  snapshot: Surroundings,
  nowMs: number,
): { readonly cluster: string; readonly flavors: readonly FlavorOption[] } | undefined {
  const best = bestOf(workload, groups, snapshot, nowMs, 'missing');
  return best && { cluster: best.cluster, flavors: best.flavors };
}

/** A cluster that accepts a Workload and could hold it when empty, with the best flavors that it offers. */
export type Taker = Candidate & { readonly state: ClusterState };

/** Takers whose flavors are equally good. They are found on demand, because a decision mostly needs one of many. */
export type EqualTakers = {
  readonly flavors: readonly FlavorOption[];
  /** The first with room in the order of {@link place}, or the one with this name if it has room; undefined if none has. */
  readonly withRoom: (preferred: string | undefined) => Taker | undefined;
  /** All of them, in the order of {@link place}; those with room go before those without, of which the smallest shortage goes first. */
  readonly all: () => readonly Taker[];
};

/** All takers, the better flavors first. */
export function takersByFlavors(
  workload: Workload,
  groups: OptionGroups,
  { clusters, usage, shapes }: Surroundings,
  nowMs: number,
  policy: PlacementPolicy,
): readonly EqualTakers[] {
  const table = usage.tableOf(clusters);
  const rooms = roomsFor(workload, table, usage, policy, true);
  const flavorsOn = offersOf(groups, table, 'most');
  const found: { readonly flavors: readonly FlavorOption[]; readonly places: { readonly state: ClusterState; readonly room: number }[] }[] =
    [];
  for (const [index, state] of clusters.entries()) {
    const room = rooms[index] ?? NO_ROOM;
    const flavors = state.closed === undefined && room !== NO_ROOM ? flavorsOn(index) : undefined;
    if (flavors === undefined) continue;
    const equals = found.find((each) => each.flavors === flavors || compareFlavors(each.flavors, flavors) === 0);
    if (equals === undefined) found.push({ flavors, places: [{ state, room }] });
    else equals.places.push({ state, room });
  }
  const mayTake = (state: ClusterState): boolean => mayGoNow(workload, state, shapes, nowMs);
  return found
    .sort((a, b) => compareFlavors(a.flavors, b.flavors))
    .map(({ flavors, places }) => {
      const takerOn = ({ state, room }: (typeof places)[number]): Taker => ({
        cluster: state.name,
        clusterUID: state.uid,
        state,
        flavors,
        resumes: resumesOn(workload, state),
        near: nearness(workload.data, state.data),
        room,
      });
      return {
        flavors,
        withRoom: (preferred) => {
          let best: Taker | undefined;
          for (const place of places) {
            const { state, room } = place;
            if (room < 0) continue;
            if (state.name === preferred && mayTake(state)) return takerOn(place);
            const near = nearness(workload.data, state.data);
            const resumes = resumesOn(workload, state);
            if (best !== undefined && !isBetter(state, resumes, near, room, best.state, best.resumes, best.near, best.room, false))
              continue;
            if (mayTake(state)) best = takerOn(place);
          }
          return best;
        },
        all: () =>
          places
            .filter(({ state }) => mayTake(state))
            .map(takerOn)
            .sort(compareTakers),
      };
    });
}

type Surroundings = Pick<Snapshot, 'clusters' | 'usage'> & { readonly shapes: Pick<ShapesOfCycle, 'of'> };

/**
 * The best open cluster that accepts a Workload: among those with enough room by preference and policy, or by the smallest shortage among
 * those that could hold it. The search runs several times per decision over many clusters, so the most expensive checks come last and only
 * for better candidates.
 */
function bestOf(
  workload: Workload,
  groups: OptionGroups,
  { clusters, usage, shapes }: Surroundings,
  nowMs: number,
  by: PlacementPolicy | 'missing',
): Candidate | undefined {
  const table = usage.tableOf(clusters);
  const rooms = roomsFor(workload, table, usage, by === 'missing' ? 'MostRoom' : by, by === 'missing');
  const flavorsOn = offersOf(groups, table, by === 'missing' ? 'most' : 'free');
  const mayResume = by !== 'missing' && workload.record !== undefined;
  let best: ClusterState | undefined;
  let bestFlavors: readonly FlavorOption[] = [];
  let bestResumes = false;
  let bestNear = 0;
  let bestRoom = NO_ROOM;
  for (let index = 0; index < clusters.length; index++) {
    const cluster = clusters[index];
    if (cluster === undefined || cluster.closed !== undefined) continue;
    const left = rooms[index] ?? NO_ROOM;
    if (left === NO_ROOM) continue;
    const flavors = flavorsOn(index);
    if (flavors === undefined) continue;
    // Clusters without a shortage are equally good to wait for.
    const room = by === 'missing' ? Math.min(0, left) : left;
    const resumes = mayResume && resumesOn(workload, cluster);
    const near = nearness(workload.data, cluster.data);
    if (best !== undefined) {
      const byFlavor = flavors === bestFlavors ? 0 : compareFlavors(flavors, bestFlavors);
      if (
        byFlavor > 0 ||
        (byFlavor === 0 && !isBetter(cluster, resumes, near, room, best, bestResumes, bestNear, bestRoom, by === 'missing'))
      )
        continue;
    }
    if (!mayGoNow(workload, cluster, shapes, nowMs)) continue;
    best = cluster;
    bestFlavors = flavors;
    bestResumes = resumes;
    bestNear = near;
    bestRoom = room;
  }
  return best && { cluster: best.name, clusterUID: best.uid, flavors: bestFlavors, resumes: bestResumes, near: bestNear, room: bestRoom };
}

const resumesOn = ({ record }: Workload, cluster: ClusterState): boolean =>
  record !== undefined && isRecordedOn(record, cluster) && !isRefused(record);

const mayGoNow = (workload: Workload, cluster: ClusterState, shapes: Pick<ShapesOfCycle, 'of'>, nowMs: number): boolean =>
  mayGo(workload, cluster) &&
  avoidance(workload.record, cluster.name, nowMs) === undefined &&
  shapes.of(workload.shape, cluster.name, nowMs) === undefined;

type Candidate = {
  readonly cluster: string;
  readonly clusterUID: string | undefined;
  readonly flavors: readonly FlavorOption[];
  readonly resumes: boolean;
  /** How near it is to the data of the Workload. */
  readonly near: number;
  /** Room as of {@link roomsFor}. */
  readonly room: number;
};

/** Compares takers with equally good flavors. Negative if `a` goes first. */
function compareTakers(a: Taker, b: Taker): number {
  const fits = Number(b.room >= 0) - Number(a.room >= 0);
  if (a.resumes === b.resumes && fits !== 0) return fits;
  return isBetter(a.state, a.resumes, a.near, a.room, b.state, b.resumes, b.near, b.room, false) ? -1 : 1;
}

/** Compares flavors by preference, the first group first. */
function compareFlavors(a: readonly FlavorOption[], b: readonly FlavorOption[]): number {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index]?.rank ?? 0) - (b[index]?.rank ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Compares clusters with equally good flavors. Plain values, because every cluster is compared for every decision. `roomFirst`: room
 * outranks preference and data.
 */
function isBetter(
  a: ClusterState,
  aResumes: boolean,
  aNear: number,
  aRoom: number,
  b: ClusterState,
  bResumes: boolean,
  bNear: number,
  bRoom: number,
  roomFirst: boolean,
): boolean {
  if (aResumes !== bResumes) return aResumes;
  const byRoom = roomFirst && aRoom !== bRoom;
  if (a.preference !== b.preference && !byRoom) return a.preference > b.preference;
  if (aNear !== bNear && !byRoom) return aNear > bNear;
  return aRoom === bRoom ? a.name < b.name : aRoom > bRoom;
}

/** The flavors that each cluster offers; clusters with the same offer share one list. `limit`: the quota that pod sets may use together. */
function offersOf(groups: OptionGroups, table: ClusterTable, limit: QuotaLimit): (index: number) => readonly FlavorOption[] | undefined {
  if (groups.every((options) => options.every(({ clusters }) => clusters.length === 0))) {
    const flavors = combined(groups, () => true, limit);
    return () => flavors;
  }
  const byKind: (readonly FlavorOption[] | null | undefined)[] = [];
  return (index) => {
    const kind = table.kinds[index] ?? 0;
    const cluster = table.clusters[index];
    const known = byKind[kind];
    if (known !== undefined || cluster === undefined) return known ?? undefined;
    const found = offeredFlavors(groups, cluster, limit);
    byKind[kind] = found ?? null;
    return found;
  };
}

/** One flavor per group; undefined if the cluster offers none for some group, or none that go together. */
const offeredFlavors = (groups: OptionGroups, { labels }: ClusterState, limit: QuotaLimit = 'free'): readonly FlavorOption[] | undefined =>
  combined(groups, ({ clusters }) => clusters.length === 0 || matchesLabelSelector(clusters, labels), limit);

function combined(
  groups: OptionGroups,
  isOffered: (option: FlavorOption) => boolean,
  limit: QuotaLimit,
): readonly FlavorOption[] | undefined {
  const [only, another] = groups;
  if (only === undefined || another !== undefined) {
    const options = combineFlavors(groups, isOffered, limit);
    return options && (limit === 'free' ? options : withModesTogether(options));
  }
  // Usually there is a single group.
  const option = only.find(isOffered);
  return option && [option];
}

/** Options of several pod sets, each of which fits alone, wait for quota where they do not fit together. */
function withModesTogether(options: readonly FlavorOption[]): readonly FlavorOption[] {
  if (options.every(({ podSet, mode }) => podSet === undefined || mode === 'Preempt')) return options;
  return exceedsFree(options) ? options.map((option) => (option.podSet === undefined ? option : { ...option, mode: 'Preempt' })) : options;
}

/**
 * How good each cluster is by its room; greater is better. It comes from the free share of the scarcest resource once the Workload runs:
 * that share for MostRoom, 2 minus it for LeastRoom. Negative: the shortage, as such a share. {@link NO_ROOM}: the Workload does not fit
 * or, if it may be `short`, would not even fit the empty cluster. Where no capacity bounds the Workload, fewer pods are better under both
 * policies: 1 without pods, towards 0 with many. Such a cluster never fills, so LeastRoom takes it after those that do.
 *
 * The list belongs to the table and is valid until the next call, so that a decision allocates nothing per cluster.
 */
function roomsFor(workload: Workload, table: ClusterTable, usage: Usage, policy: PlacementPolicy, short: boolean): Float64Array {
  const { rows, scratch: rooms } = table;
  rooms.fill(UNLIMITED);
  for (const [resource, amount] of workload.requests) {
    if (amount <= ZERO) continue;
    const capacities = table.capacities(resource);
    const used = usage.columnOf(resource);
    for (let index = 0; index < rooms.length; index++) {
      const capacity = capacities[index] ?? ZERO;
      const room = rooms[index] ?? NO_ROOM;
      if (capacity === UNLIMITED || room === NO_ROOM) continue;
      const left = capacity - (used === undefined ? 0 : cellOf(used, rows[index] ?? -1)) - amount;
      if (short ? amount > capacity : left < 0) rooms[index] = NO_ROOM;
      else if (left / capacity < room) rooms[index] = left / capacity;
    }
  }
  const pods = usage.columnOf('pods');
  for (let index = 0; index < rooms.length; index++) {
    const room = rooms[index] ?? NO_ROOM;
    if (room === UNLIMITED) rooms[index] = 1 / (1 + (pods === undefined ? 0 : cellOf(pods, rows[index] ?? -1)));
    else if (room >= 0 && policy === 'LeastRoom') rooms[index] = 2 - room;
  }
  return rooms;
}

const NO_ROOM = Number.NEGATIVE_INFINITY;
