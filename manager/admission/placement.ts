import { matchesLabelSelector } from '../../shared/kube/selectors.ts';
import { formatAmount, minus, UNLIMITED, ZERO, type Amount } from '../api/amount.ts';
import { given } from '../../shared/runtime/given.ts';
import { servesNamespace } from '../api/served-namespaces.ts';
import { avoidance, isRefused } from './avoidance.ts';
import { capacityOf, isRecordedOn, type ClusterState } from './cluster-state.ts';
import type { ClusterTable } from './cluster-table.ts';
import type { FlavorOption, OptionGroups } from './flavor-assigner.ts';
import { combineFlavors } from './flavor-combination.ts';
import type { ShapesOfCycle } from './shape-avoidance.ts';
import type { Snapshot } from './snapshot.ts';
import { cellOf, freeOn, type Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** What was found about one cluster for one Workload; `problem` is absent where it fits. */
export type ClusterVerdict = {
  readonly cluster: string;
  readonly problem?: string;
  /** When the problem ends by itself, in epoch milliseconds. */
  readonly untilMs?: number;
};

export type Placement = Placed | { readonly kind: 'NoCluster'; readonly verdicts: readonly ClusterVerdict[] };

export type Placed = {
  readonly kind: 'Placed';
  readonly cluster: string;
  readonly clusterUID?: string;
  readonly flavors: readonly FlavorOption[];
  readonly verdicts: readonly ClusterVerdict[];
};

/**
 * Picks one cluster, as a scheduler picks a node: filter, then score. Of each resource group the first fitting flavor is taken that
 * the cluster offers and that goes together with the others. Better flavors outrank a better cluster; among equals the cluster that ran the Job before wins, because what it
 * completed there need not run again, then the one with most room left, then the first by name.
 */
export function place(
  workload: Workload,
  groups: OptionGroups,
  clusters: readonly ClusterState[],
  usage: Usage,
  shapes: Pick<ShapesOfCycle, 'of'>,
  nowMs: number,
): Placement {
  const best = bestOf(workload, groups, { clusters, usage, shapes }, nowMs, 'free');
  const judged = (): ClusterVerdict[] => clusters.map((cluster) => verdictOf(workload, groups, cluster, usage, shapes, nowMs));
  // Words cost more than the choice, and few are ever asked for.
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
    ...given({ clusterUID }),
    flavors,
    get verdicts() {
      return judged();
    },
  };
}

/** What stands against one cluster, in words. */
function verdictOf(
  workload: Workload,
  groups: OptionGroups,
  cluster: ClusterState,
  usage: Usage,
  shapes: Pick<ShapesOfCycle, 'of'>,
  nowMs: number,
): ClusterVerdict {
  const avoided = avoidance(workload.record, cluster.name, nowMs) ?? shapes.of(workload.shape, cluster.name, nowMs);
  const problem = problemOf(workload, groups, offeredFlavors(groups, cluster), cluster, usage) ?? avoided?.problem;
  return { cluster: cluster.name, ...given({ problem, untilMs: avoided?.untilMs }) };
}

/** When the first of the clusters that a Workload avoids may be tried again, in epoch milliseconds. */
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
 * Whether some cluster that exists is wished for, serves the namespace, offers flavors among `groups` that go together, which are those that fit if
 * nobody uses any quota, and could hold the Workload if nobody else were there. That a cluster is closed may end by itself.
 */
export function couldEverBePlaced(workload: Workload, groups: OptionGroups, clusters: readonly ClusterState[]): boolean {
  // Without any cluster all wait alike.
  if (clusters.length === 0 && workload.wish.kind === 'Any') return true;
  const asked = askedOf(workload);
  return clusters.some((cluster) => couldHold(asked, cluster) && mayGo(workload, cluster) && offeredFlavors(groups, cluster) !== undefined);
}

/**
 * Of the clusters that take the Workload and could hold it if nobody else were there, the one that lacks least of what it asks for, as a share of
 * what it has; better flavors go first here, too. Undefined: there is none.
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

/** A cluster that takes a Workload and could hold it if nobody else were there, with the best flavors that it offers. */
export type Taker = Candidate & { readonly state: ClusterState };

/** All of them, in the order in which they would be chosen. */
export function takers(workload: Workload, groups: OptionGroups, snapshot: Surroundings, nowMs: number): readonly Taker[] {
  const { clusters, usage, shapes } = snapshot;
  const table = usage.tableOf(clusters);
  const room = roomsFor(workload, table, usage, 'missing');
  const flavorsOn = offersOf(groups, table);
  const found: Taker[] = [];
  for (const [index, state] of clusters.entries()) {
    const flavors = state.closed === undefined && room(index) !== NO_ROOM ? flavorsOn(index) : undefined;
    if (flavors === undefined || !mayGoNow(workload, state, shapes, nowMs)) continue;
    found.push({ cluster: state.name, clusterUID: state.uid, state, flavors, resumes: resumesOn(workload, state), room: room(index) });
  }
  return found.sort((a, b) => (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : 0));
}

type Surroundings = Pick<Snapshot, 'clusters' | 'usage'> & { readonly shapes: Pick<ShapesOfCycle, 'of'> };

/**
 * The best of the open clusters that take a Workload: of those with room for it, or, by how little they lack, of those that could hold it. There are many, and this is asked
 * several times for each decision: what costs most is asked last, and only of those that would be better than the best so far.
 */
function bestOf(
  workload: Workload,
  groups: OptionGroups,
  { clusters, usage, shapes }: Surroundings,
  nowMs: number,
  by: 'free' | 'missing',
): Candidate | undefined {
  const table = usage.tableOf(clusters);
  const roomOn = roomsFor(workload, table, usage, by);
  const flavorsOn = offersOf(groups, table);
  const mayResume = by === 'free' && workload.record !== undefined;
  let best: Candidate | undefined;
  for (let index = 0; index < clusters.length; index++) {
    const cluster = clusters[index];
    if (cluster === undefined || cluster.closed !== undefined) continue;
    const left = roomOn(index);
    if (left === NO_ROOM) continue;
    const flavors = flavorsOn(index);
    if (flavors === undefined) continue;
    // Who lacks nothing is as good as any other that lacks nothing.
    const room = by === 'free' ? left : Math.min(0, left);
    if (best !== undefined && !mayResume && flavors === best.flavors && room < best.room) continue;
    const candidate = { cluster: cluster.name, clusterUID: cluster.uid, flavors, resumes: mayResume && resumesOn(workload, cluster), room };
    if (best !== undefined && !isBetter(candidate, best)) continue;
    if (mayGoNow(workload, cluster, shapes, nowMs)) best = candidate;
  }
  return best;
}

const resumesOn = ({ record }: Workload, cluster: ClusterState): boolean =>
  record !== undefined && isRecordedOn(record, cluster) && !isRefused(record);

/** What it asks for anything of. */
type Asked = readonly (readonly [string, Amount])[];
const askedOf = ({ requests }: Workload): Asked => [...requests].filter(([, amount]) => amount > ZERO);

const mayGo = (workload: Workload, cluster: ClusterState): boolean =>
  isWished(workload, cluster) && servesNamespace(cluster.servedNamespaces, workload.namespace);

function couldHold(asked: Asked, cluster: ClusterState): boolean {
  for (const [resource, amount] of asked) if (amount > capacityOf(cluster, resource)) return false;
  return true;
}

const mayGoNow = (workload: Workload, cluster: ClusterState, shapes: Pick<ShapesOfCycle, 'of'>, nowMs: number): boolean =>
  mayGo(workload, cluster) &&
  avoidance(workload.record, cluster.name, nowMs) === undefined &&
  shapes.of(workload.shape, cluster.name, nowMs) === undefined;

/** `eu-1: short of 4 cpu; us-2: cordoned` */
export const formatVerdicts = (verdicts: readonly ClusterVerdict[]): string =>
  verdicts.map(({ cluster, problem }) => `${cluster}: ${problem ?? 'fits'}`).join('; ');

type Candidate = {
  readonly cluster: string;
  readonly clusterUID: string | undefined;
  readonly flavors: readonly FlavorOption[];
  readonly resumes: boolean;
  /** Free share of the scarcest resource after placement, from 0 to 1. */
  readonly room: number;
};

function isBetter(a: Candidate, b: Candidate): boolean {
  for (const [index, flavor] of a.flavors.entries()) {
    const difference = flavor.rank - (b.flavors[index]?.rank ?? 0);
    if (difference !== 0) return difference < 0;
  }
  if (a.resumes !== b.resumes) return a.resumes;
  if (a.room !== b.room) return a.room > b.room;
  return a.cluster < b.cluster;
}

/** The flavors that each cluster offers; the same list for clusters that offer the same. */
function offersOf(groups: OptionGroups, table: ClusterTable): (index: number) => readonly FlavorOption[] | undefined {
  if (groups.every((options) => options.every(({ clusters }) => clusters.length === 0))) {
    const flavors = combined(groups, () => true);
    return () => flavors;
  }
  const byKind: (readonly FlavorOption[] | null | undefined)[] = [];
  return (index) => {
    const kind = table.kinds[index] ?? 0;
    const cluster = table.clusters[index];
    const known = byKind[kind];
    if (known !== undefined || cluster === undefined) return known ?? undefined;
    const found = offeredFlavors(groups, cluster);
    byKind[kind] = found ?? null;
    return found;
  };
}

/** One flavor per group; undefined when some group has none that the cluster offers, or those that it offers do not go together. */
const offeredFlavors = (groups: OptionGroups, { labels }: ClusterState): readonly FlavorOption[] | undefined =>
  combined(groups, ({ clusters }) => clusters.length === 0 || matchesLabelSelector(clusters, labels));

function combined(groups: OptionGroups, isOffered: (option: FlavorOption) => boolean): readonly FlavorOption[] | undefined {
  const [only, another] = groups;
  if (only === undefined || another !== undefined) return combineFlavors(groups, isOffered);
  // The usual case.
  const option = only.find(isOffered);
  return option && [option];
}

function problemOf(
  workload: Workload,
  groups: OptionGroups,
  flavors: readonly FlavorOption[] | undefined,
  cluster: ClusterState,
  usage: Usage,
): string | undefined {
  if (!isWished(workload, cluster)) return 'not wished for by the Job';
  if (!servesNamespace(cluster.servedNamespaces, workload.namespace)) return `does not serve namespace ${workload.namespace}`;
  if (flavors === undefined)
    return groups.length > 1 ? 'offers no flavors that have quota and go together' : 'offers no flavor that has quota';
  if (cluster.closed !== undefined) return cluster.closed;
  const shortages: string[] = [];
  for (const [resource, amount] of workload.requests) {
    const missing = minus(amount, freeOn(cluster, usage, resource));
    if (amount > ZERO && missing > ZERO) shortages.push(`${formatAmount(resource, missing)} ${resource}`);
  }
  return shortages.length === 0 ? undefined : `short of ${shortages.join(' and ')}`;
}

function isWished({ wish }: Workload, cluster: ClusterState): boolean {
  switch (wish.kind) {
    case 'Any':
      return true;
    case 'Names':
      return wish.names.includes(cluster.name);
    case 'Selector':
      return matchesLabelSelector(wish.requirements, cluster.labels);
    case 'Invalid':
      return false;
  }
}

/**
 * What would be left on each cluster after placement: the free share of the scarcest resource. {@link NO_ROOM}: it does not fit, or, where it is asked how much is missing, could
 * not even if nobody else were there. Where no capacity is known, fewer pods of ours mean more room: 1 with none, towards 0 with many.
 */
function roomsFor(workload: Workload, table: ClusterTable, usage: Usage, by: 'free' | 'missing'): (index: number) => number {
  const asked = askedOf(workload).map(([resource, amount]) => ({
    amount,
    capacities: table.capacities(resource),
    used: usage.columnOf(resource),
  }));
  const pods = usage.columnOf('pods');
  const { rows } = table;
  return (index) => {
    const row = rows[index] ?? -1;
    let room = 1;
    let limited = false;
    for (const { amount, capacities, used } of asked) {
      const capacity = capacities[index] ?? ZERO;
      if (capacity === UNLIMITED) continue;
      const left = capacity - (used === undefined ? 0 : cellOf(used, row)) - amount;
      if (by === 'free' ? left < 0 : amount > capacity) return NO_ROOM;
      limited = true;
      room = Math.min(room, left / capacity);
    }
    return limited ? room : 1 / (1 + (pods === undefined ? 0 : cellOf(pods, row)));
  };
}

const NO_ROOM = Number.NEGATIVE_INFINITY;
