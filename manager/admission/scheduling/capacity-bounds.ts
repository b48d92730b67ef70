import { larger, minus, plus, truncated, UNLIMITED, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import { claimedAs, claimsIn, release, reserve, type Claimed } from './claims.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import { timeBefore } from './expected-start.ts';
import { createDisplaceable, type Displaceable } from '../preemption/displaceable.ts';
import { compareNominated, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import { mayPreempt } from '../quota/preemption-policies.ts';
import { available, borrowingReach, potentialAvailable } from '../quota/quota-tree.ts';
import { DURATION, type Vector } from '../workload/request-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import type { ClaimOfHead } from './claims-by-queue.ts';
import { cellOf, type Usage } from '../quota/usage.ts';

/**
 * Cheap bounds on free quota and room, so that Workloads that cannot fit are not nominated. A Workload within the bounds may or may not
 * fit; a Workload beyond them does not fit.
 */
export interface CapacityBounds {
  /** The root Cohort of a ClusterQueue. All ClusterQueues under one root share quota. */
  rootOf(clusterQueue: string): string;
  /** Whether the ClusterQueue admits Workloads now. */
  isOpen(clusterQueue: string): boolean;
  /**
   * What blocks requests of this size: for Workloads at or after `from` in order, or for any Workload if `from` is undefined. If both
   * block, `cluster`.
   */
  blockedBy(
    clusterQueue: string,
    resources: readonly string[],
    amounts: Vector,
    from: QueuedWorkload | undefined,
  ): 'quota' | 'cluster' | undefined;
  /**
   * Whether some cluster may have room for requests of this size: for Workloads at or after `from` whose borrowing height is at least
   * `borrowing`, in ClusterQueues that have no claim and do not preempt.
   */
  hasRoom(resources: readonly string[], amounts: Vector, from: QueuedWorkload, borrowing: number): boolean;
  /** Whether Workloads of the ClusterQueue may preempt. */
  mayDisplace(clusterQueue: string): boolean;
  /** The height in the cohort tree up to which these requests have to borrow. */
  borrowing(clusterQueue: string, requests: Requests): number;
  /** A lower bound of that height for requests of at least this size. */
  leastReach(clusterQueue: string, resources: readonly string[], amounts: Vector): number;
}

/** Bounds without knowledge: every Workload is nominated. */
export const EVERYTHING_MAY_FIT: CapacityBounds = {
  rootOf: (clusterQueue) => clusterQueue,
  isOpen: () => true,
  blockedBy: () => undefined,
  hasRoom: () => true,
  mayDisplace: () => false,
  borrowing: () => 0,
  leastReach: () => 0,
};

type Obstacle = 'quota' | 'cluster' | undefined;

type Surroundings = Pick<Snapshot, 'queues' | 'clusters' | 'usage' | 'admitted' | 'fairSharing' | 'isBlocked'>;

/** `claims`: the claims that hold something, in order. `nowMs`: epoch milliseconds, to compare run times with expected starts. */
export function createCapacityBounds(snapshot: Surroundings, claims: readonly ClaimOfHead[] = [], nowMs = 0): CapacityBounds {
  const { queues, clusters, usage, admitted, fairSharing } = snapshot;
  const free = levelOf(usage);
  const levelFor = createClaimLevels(snapshot, free, claims, nowMs);
  const nothingUsed = levelOf(undefined);
  const displaceableBy = createDisplaceable(usage, admitted, fairSharing !== undefined);
  /** ClusterQueues whose claim waits for preempted Workloads to stop. Their Workloads are nominated as long as that may succeed. */
  const preempting = new Set(claims.flatMap(({ clusterQueue, claim }) => (claim.preempts === true ? [clusterQueue] : [])));
  const isWithinRoom = (level: Level, resources: readonly string[], amounts: Vector): boolean => {
    for (let index = 0; index < resources.length; index++) {
      if (resources[index] === DURATION) continue;
      if ((amounts[index] ?? 0) > mostRoom(level, clusters, usage, resources[index] ?? '')) return false;
    }
    return true;
  };
  const obstacleAt = (level: Level, queue: QueueSetup, resources: readonly string[], amounts: Vector): Obstacle => {
    if (!isWithinRoom(level, resources, amounts)) return 'cluster';
    return mayHaveQuota(queue, resources, amounts, level.used) ? undefined : 'quota';
  };
  /** A preemptor may use the quota of its targets. */
  const obstacleBefore = (displaceable: Displaceable, queue: QueueSetup, resources: readonly string[], amounts: Vector): Obstacle => {
    if (!isWithinRoom(nothingUsed, resources, amounts)) return 'cluster';
    return mayHaveQuota(queue, resources, amounts, usage, displaceable) ? undefined : 'quota';
  };
  return {
    rootOf: (clusterQueue) => queues.get(clusterQueue)?.node.rootId ?? clusterQueue,
    isOpen: (clusterQueue) => queues.get(clusterQueue)?.stopPolicy === 'None' && snapshot.isBlocked?.(clusterQueue) !== true,
    blockedBy: (clusterQueue, resources, amounts, from) => {
      const queue = queues.get(clusterQueue);
      if (queue === undefined) return undefined;
      if (preempting.has(clusterQueue)) return obstacleAt(nothingUsed, queue, resources, amounts);
      const displaceable = mayPreempt(queue) ? displaceableBy(queue, from?.priority ?? Number.POSITIVE_INFINITY) : undefined;
      if (displaceable?.isAny === true) return obstacleBefore(displaceable, queue, resources, amounts);
      const obstacle = obstacleAt(free, queue, resources, amounts);
      if (obstacle !== undefined || from === undefined || levelFor === undefined) return obstacle;
      const claimed = levelFor(clusterQueue, from, leastReach(queue, resources, amounts, usage), durationIn(resources, amounts));
      return claimed === free ? undefined : obstacleAt(claimed, queue, resources, amounts);
    },
    hasRoom: (resources, amounts, from, borrowing) =>
      isWithinRoom(levelFor?.(undefined, from, borrowing, durationIn(resources, amounts)) ?? free, resources, amounts),
    mayDisplace: (clusterQueue) => {
      const queue = queues.get(clusterQueue);
      return queue !== undefined && mayPreempt(queue);
    },
    borrowing: (clusterQueue, requests) => {
      const queue = queues.get(clusterQueue);
      return queue?.node.parent === undefined ? 0 : leastBorrowing(queue, requests, usage);
    },
    leastReach: (clusterQueue, resources, amounts) => {
      const queue = queues.get(clusterQueue);
      return queue === undefined ? 0 : leastReach(queue, resources, amounts, usage);
    },
  };
}

/** A usage (undefined: nothing is used), and the largest free amount of each resource on any open cluster, as far as computed. */
type Level = { readonly used: Usage | undefined; readonly rooms: Map<string, Amount> };
const levelOf = (used: Usage | undefined): Level => ({ used, rooms: new Map() });

/**
 * The level for Workloads of a ClusterQueue: usage plus the claims that go before them, without their own queue's claim. With fair sharing
 * the order within a tree is known only after nomination. Then only claims of other trees count, if all of them go before `from`.
 */
function createClaimLevels(
  surroundings: Surroundings,
  free: Level,
  claims: readonly ClaimOfHead[],
  nowMs: number,
): LevelsOfTree | undefined {
  const { queues } = surroundings;
  // Claims of preemptors are left out: they mostly cover what their targets still hold.
  const fixed = claims.filter(({ clusterQueue, claim }) => queues.has(clusterQueue) && claim.preempts !== true);
  if (fixed.length === 0) return undefined;
  const byRoot = new Map<string | undefined, LevelsOfTree>();
  return (clusterQueue, from, borrowing, durationMs) => {
    const root = queues.get(clusterQueue ?? '')?.node.rootId;
    const levels = byRoot.get(root) ?? levelsOfTree(root, claimsIn(new Set([root]), fixed, queues), surroundings, free, nowMs);
    byRoot.set(root, levels);
    return levels(clusterQueue, from, borrowing, durationMs);
  };
}

/** `durationMs`: the shortest run time of any of the Workloads; infinite if it is not known. */
type LevelsOfTree = (clusterQueue: string | undefined, from: QueuedWorkload, borrowing: number, durationMs: number) => Level;
type LevelOfClaims = { readonly level: Level; readonly without: Map<number, Level> };

/** `fixed`: the claims that concern Workloads of the cohort tree with this root, in order; undefined: of any. */
function levelsOfTree(
  root: string | undefined,
  fixed: readonly ClaimOfHead[],
  { queues, usage, fairSharing }: Surroundings,
  free: Level,
  nowMs: number,
): LevelsOfTree {
  /** Claims in order as far as computed, and levels by the number of claims that count and of reservations that do not block. */
  const kept: Claimed[] = [];
  const levels = new Map<string, LevelOfClaims>();
  /** Reservations, the one with the most time before it first. */
  const reservations = fixed
    .flatMap(({ claim: { start } }, index) => (start === undefined ? [] : [{ index, timeMs: timeBefore(start, nowMs) }]))
    .toSorted((a, b) => b.timeMs - a.timeMs);

  /** Most queries count all claims. `passed`: the number of reservations that do not block. */
  const levelAfter = (count: number, passed: number): LevelOfClaims => {
    const id = `${count} ${passed}`;
    const known = levels.get(id);
    if (known !== undefined) return known;
    const skipped = reservations.slice(0, passed);
    const used = usage.fork();
    for (let index = 0; index < count; index++) {
      if (skipped.some((each) => each.index === index)) continue;
      const next = fixed[index];
      const queue = queues.get(next?.clusterQueue ?? '');
      if (next === undefined || queue === undefined) break;
      const claimed = kept[index] ?? claimedAs(next.queued.workload, queue, next.claim, used);
      kept[index] = claimed;
      reserve(claimed, used);
    }
    const found = { level: levelOf(used), without: new Map<number, Level>() };
    levels.set(id, found);
    return found;
  };
  const levelWithout = (own: number, count: number, passed: number): Level => {
    const after = levelAfter(count, passed);
    const known = after.without.get(own);
    if (known !== undefined) return known;
    const used = after.level.used?.fork();
    const left = kept[own];
    if (used === undefined || left === undefined) return free;
    release(left, used);
    const level = levelOf(used);
    after.without.set(own, level);
    return level;
  };
  const all = (count: number, passed: number): Level => (count === 0 ? free : levelAfter(count, passed).level);

  // Shares decide the order within a tree: a Workload may go before any claim there.
  const isOrdered =
    fairSharing === undefined || (root !== undefined && !fixed.some((each) => queues.get(each.clusterQueue)?.node.rootId === root));

  return (clusterQueue, from, borrowing, durationMs) => {
    if (!isOrdered) return free;
    const owner = fixed.findIndex((each) => each.clusterQueue === clusterQueue);
    // The head with the claim is nominated; the cycle finds what it waits for.
    if (fixed[owner]?.queued === from) return free;
    // Unlike other claims, a reservation blocks later Workloads of its own queue as well.
    const own = fixed[owner]?.claim.start === undefined ? owner : -1;
    let passed = 0;
    while ((reservations[passed]?.timeMs ?? -1) >= durationMs) passed++;
    let count = fixed.length;
    const first: Nominated = { head: from, borrowing: fairSharing === undefined ? borrowing : 0 };
    for (let before = fixed[count - 1]; before !== undefined && goesBefore(first, before); before = fixed[count - 1]) count--;
    if (fairSharing !== undefined && count < fixed.length) return free;
    return own < 0 || own >= count ? all(count, passed) : levelWithout(own, count, passed);
  };
}

/** The run time in a vector; infinite if it has none. */
const durationIn = (resources: readonly string[], amounts: Vector): number => {
  const index = resources.indexOf(DURATION);
  return index < 0 ? Number.POSITIVE_INFINITY : (amounts[index] ?? 0);
};

const goesBefore = (first: Nominated, { queued, claim: { borrowing } }: ClaimOfHead): boolean =>
  compareNominated(first, { head: queued, borrowing }) < 0;

function mostRoom({ used, rooms }: Level, clusters: readonly ClusterState[], usage: Usage, resource: string): Amount {
  const known = rooms.get(resource);
  if (known !== undefined) return known;
  // Without any cluster, nomination reports that for every Workload.
  let most = clusters.length === 0 ? UNLIMITED : ZERO;
  const table = usage.tableOf(clusters);
  const column = used?.columnOf(resource);
  const capacities = table.capacities(resource);
  for (let index = 0; index < clusters.length; index++) {
    if (clusters[index]?.closed !== undefined) continue;
    const capacity = capacities[index] ?? ZERO;
    most = larger(most, column === undefined ? capacity : minus(capacity, cellOf(column, table.rows[index] ?? -1)));
  }
  rooms.set(resource, most);
  return most;
}

/** Whether each resource group has some flavor with this much quota, free or held by Workloads that may be preempted. */
function mayHaveQuota(
  { groups, node }: QueueSetup,
  resources: readonly string[],
  amounts: Vector,
  used: Usage | undefined,
  displaceable?: Displaceable,
): boolean {
  for (const group of groups) {
    let found = false;
    for (const { keys } of group.flavors) {
      let has = true;
      for (let index = 0; has && index < resources.length; index++) {
        const amount = amounts[index] ?? 0;
        const key = keys.get(resources[index] ?? '');
        if (amount === 0 || key === undefined) continue;
        if (used === undefined) has = amount <= potentialAvailable(node, key);
        else {
          const free = available(node, used, key);
          has = amount <= free || (displaceable !== undefined && amount <= plus(free, displaceable.quota(key, truncated(amount))));
        }
      }
      found = has;
      if (found) break;
    }
    if (!found) return false;
  }
  return true;
}

/** A lower bound for the borrowing height of a Workload with at least these requests, whichever flavors it takes. */
function leastReach({ groups, node }: QueueSetup, resources: readonly string[], amounts: Vector, usage: Usage): number {
  if (node.parent === undefined) return 0;
  let most = 0;
  for (const group of groups) {
    let least = Number.POSITIVE_INFINITY;
    for (const { keys } of group.flavors) {
      let reach = 0;
      for (let index = 0; index < resources.length; index++) {
        const key = keys.get(resources[index] ?? '');
        const amount = truncated(amounts[index] ?? 0);
        if (amount === ZERO || key === undefined) continue;
        reach = Math.max(reach, borrowingReach(node, usage, key, amount).height);
      }
      least = Math.min(least, reach);
      if (least === 0) break;
    }
    if (least !== Number.POSITIVE_INFINITY) most = Math.max(most, least);
  }
  return most;
}

/** The borrowing height of a Workload: for each resource group, that of the flavor that fits and borrows from nearest. */
function leastBorrowing({ groups, node, whenCanBorrow }: QueueSetup, requests: Requests, usage: Usage): number {
  let most = 0;
  for (const { resources, flavors } of groups) {
    if (!resources.some((resource) => (requests.get(resource) ?? ZERO) > ZERO)) continue;
    let firstFitting: number | undefined;
    let leastFitting = Number.POSITIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (const { keys } of flavors) {
      let reach = 0;
      let fits = true;
      for (const [resource, key] of keys) {
        const amount = requests.get(resource) ?? ZERO;
        if (amount === ZERO) continue;
        reach = Math.max(reach, borrowingReach(node, usage, key, amount).height);
        fits &&= amount <= available(node, usage, key);
      }
      least = Math.min(least, reach);
      if (!fits) continue;
      firstFitting ??= reach;
      leastFitting = Math.min(leastFitting, reach);
    }
    const chosen = firstFitting === undefined ? least : whenCanBorrow === 'TryNextFlavor' ? leastFitting : firstFitting;
    most = Math.max(most, chosen);
  }
  return most;
}
