import { larger, minus, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { available, removeUsage } from '../quota/quota-tree.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import { freeOn, type Usage } from '../quota/usage.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import type { DueRelease } from '../workload/release-profile.ts';
import type { Workload } from '../workload/workload.ts';

/** The reservation of a Workload that does not fit yet, in a ClusterQueue with the strategy Backfill. Times are epoch milliseconds. */
export type ExpectedStart = {
  /** When enough is expected to be free; infinite while that is not known. */
  readonly atMs: number;
  /** The start that was expected first, and when that was. */
  readonly promisedMs: number;
  readonly sinceMs: number;
  /** Clusters on which it may start. */
  readonly clusters: readonly string[];
  /**
   * Amounts of the cluster and of quota that must stay free because no release until then gives them back. Negative: something is spare.
   */
  readonly room: Requests;
  readonly charges: readonly Charge[];
};

/**
 * Whether a Workload may use what is reserved: it is expected to end before the start. If the start comes later than promised, nobody goes
 * in front any more once the wait has become twice as long as promised, so that wrong estimates starve no Workload.
 */
export const mayGoInFront = ({ expectedMs }: Pick<Workload, 'expectedMs'>, start: ExpectedStart, nowMs: number): boolean =>
  expectedMs !== undefined && expectedMs <= timeBefore(start, nowMs);

/** The longest run time of a Workload that may use what is reserved, in milliseconds; negative if none may. */
export const timeBefore = ({ atMs, promisedMs, sinceMs }: ExpectedStart, nowMs: number): number =>
  Number.isFinite(atMs) && nowMs <= promisedMs + (promisedMs - sinceMs) ? atMs - nowMs : -1;

/**
 * When a Workload is expected to fit on a cluster and in its quota, as far as the releases tell; infinite if they do not suffice. Whatever
 * else holds, more is free later, so each of both is found on its own. `beforeMs`: a later start does not matter.
 */
export function expectedStartMs(
  workload: Workload,
  queue: QueueSetup,
  charges: readonly Charge[],
  cluster: ClusterState,
  snapshot: Pick<Snapshot, 'usage' | 'releases' | 'nodes'>,
  nowMs: number,
  beforeMs = Number.POSITIVE_INFINITY,
): number {
  const { usage, releases } = snapshot;
  const roomMs = roomFreeMs(workload.requests, cluster, usage, releases?.on(cluster.name) ?? [], nowMs, beforeMs);
  return roomMs >= beforeMs ? Number.POSITIVE_INFINITY : Math.max(roomMs, quotaFreeMs(queue, charges, snapshot, nowMs));
}

function roomFreeMs(
  requests: Requests,
  cluster: ClusterState,
  usage: Usage,
  releases: readonly DueRelease[],
  nowMs: number,
  beforeMs: number,
): number {
  const missing = new Map<string, Amount>();
  for (const [resource, amount] of requests) {
    const short = minus(amount, freeOn(cluster, usage, resource));
    if (amount > ZERO && short > ZERO) missing.set(resource, short);
  }
  if (missing.size === 0) return nowMs;
  for (const { endMs, amounts } of releases) {
    if (endMs >= beforeMs) break;
    for (const [resource, short] of missing) {
      const left = minus(short, amounts.get(resource) ?? ZERO);
      if (left > ZERO) missing.set(resource, left);
      else missing.delete(resource);
    }
    if (missing.size === 0) return Math.max(nowMs, endMs);
  }
  return Number.POSITIVE_INFINITY;
}

function quotaFreeMs(
  { node }: QueueSetup,
  charges: readonly Charge[],
  { usage, releases, nodes }: Pick<Snapshot, 'usage' | 'releases' | 'nodes'>,
  nowMs: number,
): number {
  const fits = (used: Usage): boolean => charges.every(([key, amount]) => amount === ZERO || amount <= available(node, used, key));
  if (fits(usage)) return nowMs;
  if (releases === undefined) return Number.POSITIVE_INFINITY;
  const sharers = [...nodes.values()].filter(({ rootId }) => rootId === node.rootId);
  const inTree = sharers.flatMap((each) => releases.of(each.clusterQueue ?? '').map((release) => ({ release, node: each })));
  const left = usage.fork();
  for (const { release, node: holder } of inTree.toSorted((a, b) => a.release.endMs - b.release.endMs)) {
    for (const [key, amount] of release.charges) removeUsage(holder, left, key, amount);
    if (fits(left)) return Math.max(nowMs, release.endMs);
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * The reservation at a start: what releases until then give back need not be kept now. Of quota only releases of its own ClusterQueue
 * count, because others may take what other queues give back. `kept`: the quota that is kept for the Workload as in Kueue.
 */
export function reservationAt(
  atMs: number,
  workload: Workload,
  { name: clusterQueue }: QueueSetup,
  cluster: string,
  kept: readonly Charge[],
  { releases }: Pick<Snapshot, 'releases'>,
): Pick<ExpectedStart, 'atMs' | 'room' | 'charges'> {
  const room = new Map(workload.requests);
  const charges = new Map(kept);
  for (const { endMs, amounts } of releases?.on(cluster) ?? []) {
    if (endMs > atMs) break;
    for (const [resource, amount] of room) room.set(resource, minus(amount, amounts.get(resource) ?? ZERO));
  }
  for (const release of releases?.of(clusterQueue) ?? []) {
    if (release.endMs > atMs) break;
    for (const [key, amount] of release.charges) {
      const owed = charges.get(key);
      if (owed !== undefined) charges.set(key, minus(owed, amount));
    }
  }
  return { atMs, room, charges: [...charges] };
}

/** The reservation once a Workload is admitted that ends before: it gives back what it takes. */
export function afterAdmission(
  start: ExpectedStart,
  taken: { readonly room: Requests | undefined; readonly charges: readonly Charge[] },
): ExpectedStart {
  const given = new Map(taken.charges);
  return {
    ...start,
    room:
      taken.room === undefined
        ? start.room
        : new Map([...start.room].map(([key, owed]) => [key, minus(owed, taken.room?.get(key) ?? ZERO)])),
    charges: start.charges.map(([key, owed]): Charge => [key, minus(owed, given.get(key) ?? ZERO)]),
  };
}

/** The part of owed amounts that is kept now. */
export const keptOf = <K extends string>(owed: Iterable<readonly [K, Amount]>): (readonly [K, Amount])[] =>
  [...owed].map(([key, amount]) => [key, larger(ZERO, amount)] as const);

export const isLater = (a: ExpectedStart | undefined, b: ExpectedStart | undefined): boolean =>
  a !== undefined && b !== undefined && a.atMs > b.atMs;
