import { larger, minus, plus, truncated, UNLIMITED, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import { claimedAs, release, reserve, type Claimed } from './claims.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import { createDisplaceable, type Displaceable } from '../preemption/displaceable.ts';
import { compareNominated, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import { mayPreempt } from '../quota/preemption-policies.ts';
import { available, borrowingReach, flavorResource, potentialAvailable } from '../quota/quota-tree.ts';
import type { Vector } from '../workload/request-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import type { ClaimOfHead } from './claims-by-queue.ts';
import { cellOf, type Usage } from '../quota/usage.ts';

/**
 * What is free, at a glance: bounds that are cheap to ask for, so that those that cannot fit need not be tried. Whoever is within them may fit or not;
 * whoever exceeds them does not fit.
 */
export interface CapacityBounds {
  /** All ClusterQueues with the same root share quota. */
  rootOf(clusterQueue: string): string;
  /** Its Workloads may be admitted at all. */
  isOpen(clusterQueue: string): boolean;
  /**
   * What stands in the way of so much of these resources, for Workloads of which none goes before `from`, or, where that is undefined, for any; where both do, the
   * clusters.
   */
  blockedBy(
    clusterQueue: string,
    resources: readonly string[],
    amounts: Vector,
    from: QueuedWorkload | undefined,
  ): 'quota' | 'cluster' | undefined;
  /**
   * Whether some cluster may have room for so much, for Workloads of which none goes before `from` and borrows from nearer, of ClusterQueues that have nothing kept for
   * them and displace nobody.
   */
  hasRoom(resources: readonly string[], amounts: Vector, from: QueuedWorkload, borrowing: number): boolean;
  /** Its Workloads may displace others. */
  mayDisplace(clusterQueue: string): boolean;
  /** How far up the cohort tree so much would have to reach. */
  borrowing(clusterQueue: string, requests: Requests): number;
}

/** Nothing is known, so everybody is to be tried. */
export const EVERYTHING_MAY_FIT: CapacityBounds = {
  rootOf: (clusterQueue) => clusterQueue,
  isOpen: () => true,
  blockedBy: () => undefined,
  hasRoom: () => true,
  mayDisplace: () => false,
  borrowing: () => 0,
};

type Obstacle = 'quota' | 'cluster' | undefined;

type Surroundings = Pick<Snapshot, 'queues' | 'clusters' | 'usage' | 'admitted' | 'fairSharing'>;

/** `standing`: for whom something is kept, in order. */
export function createCapacityBounds(snapshot: Surroundings, standing: readonly ClaimOfHead[] = []): CapacityBounds {
  const { queues, clusters, usage, admitted } = snapshot;
  const free = levelOf(usage);
  const keptFrom = createKept(snapshot, free, standing);
  const nothingUsed = levelOf(undefined);
  const displaceableBy = createDisplaceable(usage, admitted);
  /** They wait until those that they preempt have stopped, and are tried as long as that may come to anything. */
  const preempting = new Set(standing.flatMap(({ clusterQueue, claim }) => (claim.preempts === true ? [clusterQueue] : [])));
  const isWithinRoom = (level: Level, resources: readonly string[], amounts: Vector): boolean => {
    for (let index = 0; index < resources.length; index++) {
      if ((amounts[index] ?? 0) > mostRoom(level, clusters, usage, resources[index] ?? '')) return false;
    }
    return true;
  };
  const obstacleAt = (level: Level, queue: QueueSetup, resources: readonly string[], amounts: Vector): Obstacle => {
    if (!isWithinRoom(level, resources, amounts)) return 'cluster';
    return mayHaveQuota(queue, resources, amounts, level.used) ? undefined : 'quota';
  };
  /** Who may displace others may have what they hold. */
  const obstacleBefore = (displaceable: Displaceable, queue: QueueSetup, resources: readonly string[], amounts: Vector): Obstacle => {
    if (!isWithinRoom(nothingUsed, resources, amounts)) return 'cluster';
    return mayHaveQuota(queue, resources, amounts, usage, displaceable) ? undefined : 'quota';
  };
  return {
    rootOf: (clusterQueue) => queues.get(clusterQueue)?.node.rootId ?? clusterQueue,
    isOpen: (clusterQueue) => queues.get(clusterQueue)?.stopPolicy === 'None',
    blockedBy: (clusterQueue, resources, amounts, from) => {
      const queue = queues.get(clusterQueue);
      if (queue === undefined) return undefined;
      if (preempting.has(clusterQueue)) return obstacleAt(nothingUsed, queue, resources, amounts);
      const displaceable = mayPreempt(queue) ? displaceableBy(queue, from?.priority ?? Number.POSITIVE_INFINITY) : undefined;
      if (displaceable?.isAny === true) return obstacleBefore(displaceable, queue, resources, amounts);
      const obstacle = obstacleAt(free, queue, resources, amounts);
      if (obstacle !== undefined || from === undefined || keptFrom === undefined) return obstacle;
      const kept = keptFrom(clusterQueue, from, leastReach(queue, resources, amounts, usage));
      return kept === free ? undefined : obstacleAt(kept, queue, resources, amounts);
    },
    hasRoom: (resources, amounts, from, borrowing) => isWithinRoom(keptFrom?.(undefined, from, borrowing) ?? free, resources, amounts),
    mayDisplace: (clusterQueue) => {
      const queue = queues.get(clusterQueue);
      return queue !== undefined && mayPreempt(queue);
    },
    borrowing: (clusterQueue, requests) => {
      const queue = queues.get(clusterQueue);
      return queue?.node.parent === undefined ? 0 : leastBorrowing(queue, requests, usage);
    },
  };
}

/** What counts as used, undefined where nothing does; and the most of a resource that any open cluster has left then, as far as it has been asked. */
type Level = { readonly used: Usage | undefined; readonly rooms: Map<string, Amount> };
const levelOf = (used: Usage | undefined): Level => ({ used, rooms: new Map() });

/**
 * What counts as used for Workloads of a ClusterQueue: what is in use, and what is kept for those that go before them, but for what is kept for their own. With fair sharing the
 * order is not known before all are nominated: nothing counts as kept from those that may go before one of these, or have something kept for their queue.
 */
function createKept(
  { queues, usage, fairSharing }: Surroundings,
  free: Level,
  standing: readonly ClaimOfHead[],
): ((clusterQueue: string | undefined, from: QueuedWorkload, borrowing: number) => Level) | undefined {
  // What is kept for who preempts is for the most part what others still hold.
  const fixed = standing.filter(({ clusterQueue, claim }) => queues.has(clusterQueue) && claim.preempts !== true);
  if (fixed.length === 0) return undefined;
  /** What is kept for the first, for the second, ..., as far as it has been asked; and levels by how many of them count. */
  const kept: Claimed[] = [];
  const levels = new Map<number, { readonly level: Level; readonly without: Map<number, Level> }>();

  /** Most are asked about all of them. */
  const levelAfter = (count: number): { readonly level: Level; readonly without: Map<number, Level> } => {
    const known = levels.get(count);
    if (known !== undefined) return known;
    const used = usage.fork();
    for (let index = 0; index < count; index++) {
      const next = fixed[index];
      const queue = queues.get(next?.clusterQueue ?? '');
      if (next === undefined || queue === undefined) break;
      const claimed = kept[index] ?? claimedAs(next.queued.workload, queue, next.claim, used);
      kept[index] = claimed;
      reserve(claimed, used);
    }
    const found = { level: levelOf(used), without: new Map<number, Level>() };
    levels.set(count, found);
    return found;
  };
  const levelWithout = (own: number, count: number): Level => {
    const after = levelAfter(count);
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
  const all = (count: number): Level => (count === 0 ? free : levelAfter(count).level);

  return (clusterQueue, from, borrowing) => {
    const own = fixed.findIndex((each) => each.clusterQueue === clusterQueue);
    // It is tried, and told in whose favour it waits.
    if (fixed[own]?.queued === from) return free;
    let count = fixed.length;
    const first: Nominated = { head: from, borrowing: fairSharing === undefined ? borrowing : 0 };
    for (let before = fixed[count - 1]; before !== undefined && goesBefore(first, before); before = fixed[count - 1]) count--;
    if (fairSharing !== undefined) return own >= 0 || count < fixed.length ? free : all(count);
    return own < 0 || own >= count ? all(count) : levelWithout(own, count);
  };
}

const goesBefore = (first: Nominated, { queued, claim: { borrowing } }: ClaimOfHead): boolean =>
  compareNominated(first, { head: queued, borrowing }) < 0;

function mostRoom({ used, rooms }: Level, clusters: readonly ClusterState[], usage: Usage, resource: string): Amount {
  const known = rooms.get(resource);
  if (known !== undefined) return known;
  // Without any cluster all are told so.
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

/** Whether of each resource group some flavor has so much, free or held by those that may be displaced. */
function mayHaveQuota(
  { groups, node }: QueueSetup,
  resources: readonly string[],
  amounts: Vector,
  used: Usage | undefined,
  displaceable?: Displaceable,
): boolean {
  for (const group of groups) {
    let found = false;
    for (const { name } of group.flavors) {
      let has = true;
      for (let index = 0; has && index < resources.length; index++) {
        const amount = amounts[index] ?? 0;
        const resource = resources[index] ?? '';
        if (amount === 0 || !group.resources.includes(resource)) continue;
        const key = flavorResource(name, resource);
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

/** So far whoever asks for as much reaches at least, whichever flavors it takes. */
function leastReach({ groups, node }: QueueSetup, resources: readonly string[], amounts: Vector, usage: Usage): number {
  if (node.parent === undefined) return 0;
  let most = 0;
  for (const group of groups) {
    let least = Number.POSITIVE_INFINITY;
    for (const { name } of group.flavors) {
      let reach = 0;
      for (let index = 0; index < resources.length; index++) {
        const resource = resources[index] ?? '';
        const amount = truncated(amounts[index] ?? 0);
        if (amount === ZERO || !group.resources.includes(resource)) continue;
        reach = Math.max(reach, borrowingReach(node, usage, flavorResource(name, resource), amount).height);
      }
      least = Math.min(least, reach);
      if (least === 0) break;
    }
    if (least !== Number.POSITIVE_INFINITY) most = Math.max(most, least);
  }
  return most;
}

/** Of each resource group the flavor that fits and borrows from nearest. */
function leastBorrowing({ groups, node, whenCanBorrow }: QueueSetup, requests: Requests, usage: Usage): number {
  let most = 0;
  for (const { resources, flavors } of groups) {
    if (!resources.some((resource) => (requests.get(resource) ?? ZERO) > ZERO)) continue;
    let firstFitting: number | undefined;
    let leastFitting = Number.POSITIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (const { name } of flavors) {
      let reach = 0;
      let fits = true;
      for (const resource of resources) {
        const amount = requests.get(resource) ?? ZERO;
        if (amount === ZERO) continue;
        const key = flavorResource(name, resource);
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
