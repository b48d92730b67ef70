import { minus, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { FlavorResource } from '../quota/quota-tree.ts';
import type { Reservation } from './reservation.ts';

/** A Workload that holds quota, as preemption sees it. */
export type Admitted = {
  readonly reservation: Reservation;
  readonly priority: number;
  /** What the Workload holds of its ClusterQueue. */
  readonly charges: readonly (readonly [FlavorResource, Amount])[];
  /** The Workload stops anyway, so its quota will be free. */
  readonly leaving: boolean;
  /** Since when the Workload holds its quota, in epoch milliseconds. */
  readonly sinceMs: number;
};

/** Workloads that hold quota, by ClusterQueue, in the order in which they are preempted. */
export type AdmittedIndex = {
  readonly get: (key: string) => Admitted | undefined;
  /** Workloads of a ClusterQueue. A live view: do not keep it. */
  readonly of: (clusterQueue: string) => readonly Admitted[];
  /** Workloads of a ClusterQueue on one cluster. */
  readonly on: (clusterQueue: string, cluster: string) => readonly Admitted[];
  /** The quota that Workloads of at most this priority hold together, on one cluster, or on all if undefined. */
  readonly quotaHeld: (clusterQueue: string, cluster: string | undefined, key: FlavorResource, upTo: number) => Amount;
  /** The room on a cluster that they hold together, whatever the flavor. */
  readonly roomHeld: (clusterQueue: string, cluster: string, resource: string, upTo: number) => Amount;
  /** Whether any Workload of at most this priority holds anything. */
  readonly holdsAny: (clusterQueue: string, upTo: number) => boolean;
};

export interface MutableAdmittedIndex extends AdmittedIndex {
  readonly set: (admitted: Admitted) => void;
  readonly delete: (key: string) => void;
  /** The quota held in each ClusterQueue, whether it exists or not. */
  readonly quotas: () => Iterable<readonly [clusterQueue: string, key: FlavorResource, amount: Amount]>;
  /** Workloads on a cluster, of all ClusterQueues. */
  readonly onCluster: (cluster: string) => Iterable<Admitted>;
}

/**
 * Kueue's order of candidates, as far as it does not depend on the preemptor: leaving Workloads first, then lower priority, then later
 * admission, then UID. Negative if `a` goes first.
 */
export function compareAdmitted(a: Admitted, b: Admitted): number {
  if (a.leaving !== b.leaving) return a.leaving ? -1 : 1;
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.sinceMs !== b.sinceMs) return b.sinceMs - a.sinceMs;
  const [first, second] = [a.reservation.workload, b.reservation.workload];
  if (first.uid !== second.uid) return first.uid < second.uid ? -1 : 1;
  return first.key < second.key ? -1 : first.key > second.key ? 1 : 0;
}

export function createAdmittedIndex(): MutableAdmittedIndex {
  const entries = new Map<string, Admitted>();
  const byQueue = new Map<string, Queue>();

  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    for (const list of listsOf(entry)) {
      const place = placeOf(list.entries, entry);
      if (list.entries[place] === entry) list.entries.splice(place, 1);
      count(list, entry, minus);
    }
    const { clusterQueue, cluster } = entry.reservation.record;
    const queue = byQueue.get(clusterQueue);
    if (queue?.byCluster.get(cluster)?.entries.length === 0) queue.byCluster.delete(cluster);
    if (queue?.all.entries.length === 0) byQueue.delete(clusterQueue);
  };

  const insert = (entry: Admitted): void => {
    for (const list of listsOf(entry)) {
      list.entries.splice(placeOf(list.entries, entry), 0, entry);
      count(list, entry, plus);
    }
  };

  const replace = (before: Admitted, entry: Admitted): void => {
    for (const list of listsOf(entry)) {
      list.entries.splice(placeOf(list.entries, before), 1, entry);
      count(list, before, minus);
      count(list, entry, plus);
    }
  };

  /** The lists of an entry: that of its ClusterQueue, and that of its cluster within it. */
  const listsOf = ({ reservation: { record } }: Admitted): readonly List[] => {
    const queue = byQueue.get(record.clusterQueue) ?? { all: newList(), byCluster: new Map<string, List>() };
    byQueue.set(record.clusterQueue, queue);
    const local = queue.byCluster.get(record.cluster) ?? newList();
    queue.byCluster.set(record.cluster, local);
    return [queue.all, local];
  };

  const listOf = (clusterQueue: string, cluster: string | undefined): List | undefined =>
    cluster === undefined ? byQueue.get(clusterQueue)?.all : byQueue.get(clusterQueue)?.byCluster.get(cluster);

  return {
    get: (key) => entries.get(key),
    set: (entry) => {
      const { key } = entry.reservation.workload;
      const before = entries.get(key);
      if (before !== undefined && isInPlaceOf(entry, before)) replace(before, entry);
      else {
        remove(key);
        insert(entry);
      }
      entries.set(key, entry);
    },
    delete: remove,
    quotas: function* () {
      for (const [clusterQueue, { all }] of byQueue)
        for (const sum of all.quota.values()) for (const [key, amount] of sum) yield [clusterQueue, key, amount];
    },
    onCluster: function* (cluster) {
      for (const { byCluster } of byQueue.values()) yield* byCluster.get(cluster)?.entries ?? [];
    },
    of: (clusterQueue) => listOf(clusterQueue, undefined)?.entries ?? [],
    on: (clusterQueue, cluster) => listOf(clusterQueue, cluster)?.entries ?? [],
    quotaHeld: (clusterQueue, cluster, key, upTo) => sumUpTo(listOf(clusterQueue, cluster)?.quota, key, upTo),
    roomHeld: (clusterQueue, cluster, resource, upTo) => sumUpTo(listOf(clusterQueue, cluster)?.room, resource, upTo),
    holdsAny: (clusterQueue, upTo) => {
      const all = byQueue.get(clusterQueue)?.all;
      return all !== undefined && (hasAnyUpTo(all.quota, upTo) || hasAnyUpTo(all.room, upTo));
    },
  };
}

type List = { readonly entries: Admitted[]; readonly quota: Sums<FlavorResource>; readonly room: Sums<string> };
/** Sums by priority; there are few priorities. */
type Sums<K extends string> = Map<number, Map<K, Amount>>;
type Queue = { readonly all: List; readonly byCluster: Map<string, List> };

const newList = (): List => ({ entries: [], quota: new Map(), room: new Map() });

function count({ quota, room }: List, { priority, charges, reservation }: Admitted, change: typeof plus): void {
  add(quota, priority, charges, change);
  add(room, priority, reservation.held, change);
}

function add<K extends string>(sums: Sums<K>, priority: number, amounts: Iterable<readonly [K, Amount]>, change: typeof plus): void {
  const known = sums.get(priority);
  const sum = known ?? new Map<K, Amount>();
  if (known === undefined) sums.set(priority, sum);
  for (const [key, amount] of amounts) {
    const next = change(sum.get(key) ?? ZERO, amount);
    if (next === ZERO) sum.delete(key);
    else sum.set(key, next);
  }
  if (sum.size === 0) sums.delete(priority);
}

function hasAnyUpTo<K extends string>(sums: Sums<K>, upTo: number): boolean {
  for (const priority of sums.keys()) if (priority <= upTo) return true;
  return false;
}

function sumUpTo<K extends string>(sums: Sums<K> | undefined, key: K, upTo: number): Amount {
  let total = ZERO;
  for (const [priority, sum] of sums ?? []) if (priority <= upTo) total = plus(total, sum.get(key) ?? ZERO);
  return total;
}

/** Most changes of an admitted Job keep its place. */
const isInPlaceOf = (a: Admitted, b: Admitted): boolean =>
  compareAdmitted(a, b) === 0 &&
  a.reservation.record.clusterQueue === b.reservation.record.clusterQueue &&
  a.reservation.record.cluster === b.reservation.record.cluster;

/** The place of an entry in the list: the first whose entry does not go before it. */
function placeOf(list: readonly Admitted[], entry: Admitted): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = list[middle];
    if (other !== undefined && compareAdmitted(other, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
