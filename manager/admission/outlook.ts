import { larger, UNLIMITED, ZERO, type Amount, type Requests } from '../api/amount.ts';
import { capacityOf, freeOn, type ClusterState } from './cluster-state.ts';
import { mayPreempt } from './preemption-policies.ts';
import { available, borrowingReach, flavorResource, potentialAvailable } from './quota-tree.ts';
import type { Vector } from './request-tree.ts';
import type { QueueSetup, Snapshot } from './snapshot.ts';
import type { Usage } from './usage.ts';

/**
 * What is free, at a glance: bounds that are cheap to ask for, so that those that cannot fit need not be tried. Whoever is within them may fit or not;
 * whoever exceeds them does not fit.
 */
export interface Outlook {
  /** All ClusterQueues with the same root share quota. */
  rootOf(clusterQueue: string): string;
  /** Its Workloads may be admitted at all. */
  isOpen(clusterQueue: string): boolean;
  /** What stands in the way of so much of these resources; where both do, the clusters. `all`: also what is kept for others counts as free. */
  obstacle(clusterQueue: string, resources: readonly string[], amounts: Vector, all: boolean): 'quota' | 'cluster' | undefined;
  /** How far up the cohort tree so much would have to reach. */
  borrowing(clusterQueue: string, requests: Requests): number;
}

/** Nothing is known, so everybody is to be tried. */
export const EVERYTHING_MAY_FIT: Outlook = {
  rootOf: (clusterQueue) => clusterQueue,
  isOpen: () => true,
  obstacle: () => undefined,
  borrowing: () => 0,
};

/** `kept`: what is in use, and kept for those that wait. */
export function createOutlook({ queues, clusters, usage }: Pick<Snapshot, 'queues' | 'clusters' | 'usage'>, kept: Usage): Outlook {
  const rooms = { free: createRooms(clusters, usage), unkept: createRooms(clusters, kept), possible: createRooms(clusters, undefined) };

  return {
    rootOf: (clusterQueue) => queues.get(clusterQueue)?.node.rootId ?? clusterQueue,
    isOpen: (clusterQueue) => queues.get(clusterQueue)?.stopPolicy === 'None',
    obstacle: (clusterQueue, resources, amounts, all) => {
      const queue = queues.get(clusterQueue);
      if (queue === undefined) return undefined;
      // Who may displace others may have what they hold.
      const displaces = mayPreempt(queue);
      const used = displaces ? undefined : all ? usage : kept;
      const most = displaces ? rooms.possible : all ? rooms.free : rooms.unkept;
      for (let index = 0; index < resources.length; index++) {
        if ((amounts[index] ?? 0) > most(resources[index] ?? '')) return 'cluster';
      }
      return mayHaveQuota(queue, resources, amounts, used) ? undefined : 'quota';
    },
    borrowing: (clusterQueue, requests) => {
      const queue = queues.get(clusterQueue);
      return queue === undefined ? 0 : leastBorrowing(queue, requests, usage);
    },
  };
}

/** The most that any open cluster has of a resource. */
function createRooms(clusters: readonly ClusterState[], usage: Usage | undefined): (resource: string) => Amount {
  const most = new Map<string, Amount>();
  return (resource) => {
    const known = most.get(resource);
    if (known !== undefined) return known;
    // Without any cluster all are told so.
    let found = clusters.length === 0 ? UNLIMITED : ZERO;
    for (const cluster of clusters) {
      if (cluster.closed !== undefined) continue;
      found = larger(found, usage === undefined ? capacityOf(cluster, resource) : freeOn(cluster, usage, resource));
    }
    most.set(resource, found);
    return found;
  };
}

/** Whether of each resource group some flavor has so much. */
function mayHaveQuota({ groups, node }: QueueSetup, resources: readonly string[], amounts: Vector, usage: Usage | undefined): boolean {
  for (const group of groups) {
    const hasSoMuch = ({ name }: { readonly name: string }): boolean => {
      for (const [index, resource] of resources.entries()) {
        const amount = amounts[index] ?? 0;
        if (amount === 0 || !group.resources.includes(resource)) continue;
        const key = flavorResource(name, resource);
        if (amount > (usage === undefined ? potentialAvailable(node, key) : available(node, usage, key))) return false;
      }
      return true;
    };
    if (!group.flavors.some(hasSoMuch)) return false;
  }
  return true;
}

/** Of each resource group the flavor that fits and borrows from nearest. */
function leastBorrowing({ groups, node, whenCanBorrow }: QueueSetup, requests: Requests, usage: Usage): number {
  let most = 0;
  for (const { resources, flavors } of groups) {
    const asked = resources.filter((resource) => (requests.get(resource) ?? ZERO) > ZERO);
    if (asked.length === 0) continue;
    const reaches = flavors.map(({ name }) => {
      const fits = asked.every((resource) => (requests.get(resource) ?? ZERO) <= available(node, usage, flavorResource(name, resource)));
      const reach = asked.reduce((height, resource) => {
        const key = flavorResource(name, resource);
        return Math.max(height, borrowingReach(node, usage, key, requests.get(resource) ?? ZERO).height);
      }, 0);
      return { fits, reach };
    });
    const fitting = reaches.filter(({ fits }) => fits);
    const candidates = fitting.length > 0 ? fitting : reaches;
    const chosen =
      whenCanBorrow === 'TryNextFlavor' || fitting.length === 0 ? Math.min(...candidates.map(({ reach }) => reach)) : candidates[0]?.reach;
    most = Math.max(most, chosen ?? 0);
  }
  return most;
}
