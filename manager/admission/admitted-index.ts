import type { Amount } from '../api/amount.ts';
import type { FlavorResource } from './quota-tree.ts';
import type { Reservation } from './reservation.ts';

/** A Workload that holds quota, as preemption sees it. */
export type Admitted = {
  readonly reservation: Reservation;
  readonly priority: number;
  /** What it holds of its ClusterQueue. */
  readonly charges: readonly (readonly [FlavorResource, Amount])[];
  /** It gives its place up anyway: what it holds will be free. */
  readonly leaving: boolean;
  /** Since when it holds it, in epoch milliseconds. */
  readonly sinceMs: number;
};

/** The Workloads that hold quota of each ClusterQueue, in the order in which they would be displaced. */
export type AdmittedIndex = {
  /** Of a ClusterQueue. Not to be kept: it changes with the index. */
  readonly of: (clusterQueue: string) => readonly Admitted[];
  /** Those of them that are on one cluster. */
  readonly on: (clusterQueue: string, cluster: string) => readonly Admitted[];
};

export interface MutableAdmittedIndex extends AdmittedIndex {
  readonly get: (key: string) => Admitted | undefined;
  readonly set: (admitted: Admitted) => void;
  readonly delete: (key: string) => void;
}

/**
 * Kueue's order of candidates, as far as it does not depend on who asks: those that leave anyway, then by lower priority, then those admitted later,
 * then by UID. Negative when `a` goes first.
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
  const byQueue = new Map<string, Lists>();

  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    const { clusterQueue, cluster } = entry.reservation.record;
    const lists = byQueue.get(clusterQueue);
    if (lists === undefined) return;
    takeOut(lists.all, entry);
    const local = lists.byCluster.get(cluster) ?? [];
    takeOut(local, entry);
    if (local.length === 0) lists.byCluster.delete(cluster);
    if (lists.all.length === 0) byQueue.delete(clusterQueue);
  };

  const insert = (entry: Admitted): void => {
    const { clusterQueue, cluster } = entry.reservation.record;
    const lists = byQueue.get(clusterQueue) ?? { all: [], byCluster: new Map<string, Admitted[]>() };
    byQueue.set(clusterQueue, lists);
    const local = lists.byCluster.get(cluster) ?? [];
    lists.byCluster.set(cluster, local);
    for (const list of [lists.all, local]) list.splice(placeOf(list, entry), 0, entry);
  };

  const replace = (before: Admitted, entry: Admitted): void => {
    const { clusterQueue, cluster } = entry.reservation.record;
    const lists = byQueue.get(clusterQueue);
    for (const list of [lists?.all, lists?.byCluster.get(cluster)]) list?.splice(placeOf(list, before), 1, entry);
  };

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
    of: (clusterQueue) => byQueue.get(clusterQueue)?.all ?? [],
    on: (clusterQueue, cluster) => byQueue.get(clusterQueue)?.byCluster.get(cluster) ?? [],
  };
}

type Lists = { readonly all: Admitted[]; readonly byCluster: Map<string, Admitted[]> };

/** Most of what happens to an admitted Job changes nothing about its place. */
const isInPlaceOf = (a: Admitted, b: Admitted): boolean =>
  compareAdmitted(a, b) === 0 &&
  a.reservation.record.clusterQueue === b.reservation.record.clusterQueue &&
  a.reservation.record.cluster === b.reservation.record.cluster;

function takeOut(list: Admitted[], entry: Admitted): void {
  const place = placeOf(list, entry);
  if (list[place] === entry) list.splice(place, 1);
}

/** Where it stands in the list, or would stand: the first place whose entry does not go before it. */
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
