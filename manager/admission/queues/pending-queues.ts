import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { Claim, Head, Inadmissibility } from '../scheduling/decision.ts';
import { compareNominated, type QueuedWorkload } from '../workload/ordering.ts';
import { EVERYTHING_MAY_FIT, type CapacityBounds } from '../scheduling/capacity-bounds.ts';
import { ClaimWaiters } from './claim-waiters.ts';
import { InadmissibleQueues } from './inadmissible-queues.ts';
import type { PendingClass } from './pending-class.ts';
import { PendingQueue, type Pending } from './pending-queue.ts';
import { createClaimsByQueue, type BorrowingOfClaims, type ClaimOfHead } from '../scheduling/claims-by-queue.ts';

/**
 * Workloads that wait for admission. Each ClusterQueue (`pending-queue.ts`) holds classes of Workloads that differ only in amounts
 * (`pending-class.ts`). Its head, the first Workload that nothing known blocks, is found without visiting the others. ClusterQueues without
 * a head are parked and cost nothing until capacity that they share becomes free. The others give heads in the order of a cycle, as many as
 * requested.
 *
 * The first Workload of a ClusterQueue is nominated at least once, whatever is free, because it may get a claim. A StrictFIFO queue is
 * blocked by its first Workload, unless that waits for a change of queues or clusters: such a Workload is skipped, because *never* is not
 * *not now*. Any queue is blocked by a Workload that waits for its preempted Workloads to stop.
 *
 * All state is in memory and derived from Jobs.
 */
export interface PendingQueues {
  /**
   * Adds a Workload or replaces its earlier version. `apart` divides classes further: by clusters that serve only some namespaces, or by
   * what clusters have done to Jobs of the same shape.
   */
  add(clusterQueue: string, strict: boolean, queued: QueuedWorkload, apart?: readonly string[]): void;
  /** Removes a Workload if it is pending. */
  delete(key: string): void;
  has(key: string): boolean;
  /** The heads of the first ClusterQueues in order that have one, `most` at most. The Workloads stay pending. */
  heads(bounds?: CapacityBounds, most?: number): Head[];
  /**
   * All claims that hold something, in order. `borrowing`: the height in the cohort tree up to which a claim borrows now. `revise`: a claim
   * with an expected start as it is now; undefined for one without.
   */
  claims(borrowing?: BorrowingOfClaims, revise?: (standing: ClaimOfHead) => Claim | undefined): readonly ClaimOfHead[];
  /**
   * Records that a head does not fit, which covers later Workloads of its class with the same or larger requests; a StrictFIFO queue is
   * blocked. The cost does not depend on the number of pending Workloads. Returns a retry to call at `retryAtMs`, unless one is scheduled
   * for that time already.
   */
  markInadmissible(head: Head, inadmissibility: Inadmissibility): (() => void) | undefined;
  /**
   * Expected starts are to be revised at this time, in epoch milliseconds. Returns what to call then, unless that is scheduled for that
   * time or before already.
   */
  reviseAt(atMs: number): (() => void) | undefined;
  /** Why a pending Workload was not admitted when it, or one like it, was last nominated; undefined if neither was. */
  inadmissibilityOf(key: string): Inadmissibility | undefined;
  /** Quota has become free in the trees with these roots. */
  wake(roots: Iterable<string>): void;
  /** Room on clusters has become free. */
  wakeWaitingForCluster(): void;
  /** The clusters have changed: Workloads that fit no cluster, now or ever, may fit. */
  wakeAfterClusterChange(): void;
  /** These ClusterQueues or their quota have changed; undefined: all have. Their Workloads are nominated again. */
  wakeAll(clusterQueues?: Iterable<string>): void;
  /** The usage of a LocalQueue, of all LocalQueues of the ClusterQueue, or of all ClusterQueues has changed. */
  usageChanged(clusterQueue?: string, localQueue?: string): void;
  /** The number of active and inadmissible Workloads of every ClusterQueue that has held one. */
  counts(): ReadonlyMap<string, { readonly active: number; readonly inadmissible: number }>;
  /** How many Workloads of the same ClusterQueue go before this one; undefined if it is not pending. */
  position(key: string): number | undefined;
  /** ClusterQueues with pending Workloads, and the first Workloads of one in order. */
  waitingIn(): readonly string[];
  firstInOrder(clusterQueue: string, most: number): readonly QueuedWorkload[];
  /** Whether no Workload of the ClusterQueue is nominated until something changes. */
  isParked(clusterQueue: string): boolean;
  /** The pending Workload under this key, with its ClusterQueue. */
  get(key: string): Head | undefined;
}

/** `usageOf`: the usage of a LocalQueue, by `namespace/name`; undefined if it does not order its ClusterQueue. */
export function createPendingQueues(usageOf: (localQueue: string) => number | undefined = () => undefined): PendingQueues {
  const queues = new Map<string, PendingQueue>();
  const entries = new Map<string, Pending>();
  /** ClusterQueues to nominate from. */
  const ready = new IndexedHeap<PendingQueue>(
    ({ name }) => name,
    (a, b) => (a.rank === undefined || b.rank === undefined ? 0 : compareNominated(a.rank, b.rank)) || (a.name < b.name ? -1 : 1),
  );
  const parked = new InadmissibleQueues();
  /** ClusterQueues of which claims of other queues have blocked a Workload, by what they have taken from it. */
  const behindOthers = { quota: new Set<PendingQueue>(), cluster: new Set<PendingQueue>() };
  const rootOf = (clusterQueue: string): string => queues.get(clusterQueue)?.seen?.root ?? clusterQueue;
  const endedClaims: ClaimOfHead[] = [];
  let revisionMs: number | undefined;
  const claims = createClaimsByQueue(rootOf, (entry) => endedClaims.push(entry));
  const awaiting = new ClaimWaiters(rootOf);
  /** Capacity of claims that have ended is free for other Workloads, once all decisions of the cycle are recorded. */
  const followEndedClaims = (): void => {
    if (endedClaims.length === 0) return;
    const all = endedClaims.splice(0);
    const ended = new Set(all.map(({ clusterQueue }) => clusterQueue));
    const roots = new Set([...ended].map(rootOf));
    const heldRoom = all.some(({ claim: { holds } }) => holds !== 'Quota');
    for (const root of roots) parked.claimEnded(root, heldRoom);
    /** Its own claim has never blocked a ClusterQueue. */
    const concerns = (queue: PendingQueue): boolean => ended.size > 1 || !ended.has(queue.name);
    for (const queue of [...behindOthers.quota, ...behindOthers.cluster]) {
      if (!roots.has(rootOf(queue.name)) || !concerns(queue)) continue;
      for (const queues of Object.values(behindOthers)) queues.delete(queue);
      forgive(queue, isBehindOthers);
    }
    // Other trees do not share the quota, only the room.
    for (const queue of heldRoom ? behindOthers.cluster : []) {
      if (!concerns(queue)) continue;
      behindOthers.cluster.delete(queue);
      forgive(queue, (inadmissibility) => isBehindOthers(inadmissibility) && inadmissibility.waitsFor === 'cluster');
    }
    for (const root of roots) placeNextClaim(root);
    // The next one may be expected to start first where the reservation has ended.
    const next = queues.get(claims.firstIdle()?.clusterQueue ?? '');
    if (next === undefined) return;
    next.considered = undefined;
    forgive(next, ({ waitsFor }) => waitsFor !== 'setup');
  };

  /** No Workload of the queue is nominated: the queue is parked, or its Workloads never fit. */
  const isInactive = (queue: PendingQueue): boolean => queue.parked !== undefined || !ready.has(queue.name);

  const queueNamed = (name: string): PendingQueue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue = new PendingQueue(name, usageOf);
    queues.set(name, queue);
    return queue;
  };

  const activate = (queue: PendingQueue): void => {
    parked.unpark(queue);
    const first = queue.first();
    if (first === undefined) {
      ready.delete(queue.name);
      return;
    }
    queue.rank = { head: first, borrowing: 0 };
    ready.set(queue);
  };

  const forgive = (queue: PendingQueue, hasEnded: (inadmissibility: Inadmissibility) => boolean): void => {
    queue.forgive(hasEnded);
    activate(queue);
  };

  const placeNextClaim = (root: string): void => {
    const first = awaiting.first(root);
    if (first === undefined) return;
    const { queue: next, nominated } = first;
    if (!claims.hasPlaceFor({ clusterQueue: next.name, queued: nominated.head }, nominated.borrowing, root)) return;
    awaiting.delete(next);
    next.considered = undefined;
    forgive(next, ({ waitsFor }) => waitsFor !== 'setup');
  };

  const take = (key: string): Pending | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    const { queue, queued } = entry;
    const wasFirst = queue.strict && queue.first() === queued;
    queue.delete(entry);
    awaiting.forget(queue, queued);
    // The next Workload may get a claim, and a StrictFIFO queue is no longer blocked.
    if (wasFirst || queue.size === 0 || queue.considered === undefined) activate(queue);
    else if (queue.parked !== undefined) parked.changed(queue);
    return entry;
  };

  const remove = (key: string): void => {
    const entry = take(key);
    if (entry !== undefined && claims.get(entry.queue.name)?.queued === entry.queued) claims.delete(entry.queue.name);
  };

  /** The first Workload that may fit. `waitsForRoom`: the Workloads that do not fit lack room on clusters. */
  const candidateOf = (
    queue: PendingQueue,
    bounds: CapacityBounds,
  ): { readonly candidate?: QueuedWorkload; readonly waitsForRoom: boolean } => {
    parked.catchUp(queue, bounds.rootOf(queue.name));
    const first = queue.first();
    if (first === undefined) return { waitsForRoom: false };
    const hasFailed = entries.get(first.workload.key)?.class.hasFailed(first) === true;
    if (queue.considered !== first && !hasFailed && mayGetClaim(queue, first, bounds)) return { candidate: first, waitsForRoom: false };
    let waitsForRoom = false;
    let candidate: QueuedWorkload | undefined;
    const preemptor = claims.get(queue.name)?.claim.preempts === true ? claims.get(queue.name) : undefined;
    for (const each of queue.classes.values()) {
      waitsForRoom ||= each.waitsForRoom;
      const found = each.firstWithin((resources, amounts, from) => {
        const obstacle = bounds.blockedBy(queue.name, resources, amounts, from);
        waitsForRoom ||= obstacle === 'cluster';
        return obstacle !== undefined;
      });
      if (found === undefined || (queue.strict && found !== first)) continue;
      // A preemptor that waits for its victims blocks later Workloads of its queue.
      if (preemptor !== undefined && queue.compare(preemptor.queued, found) < 0) continue;
      if (candidate === undefined || queue.compare(found, candidate) < 0) candidate = found;
    }
    return candidate === undefined ? { waitsForRoom } : { candidate, waitsForRoom };
  };

  const mayGetClaim = (queue: PendingQueue, first: QueuedWorkload, bounds: CapacityBounds): boolean => {
    const head = { clusterQueue: queue.name, queued: first };
    const borrowing = bounds.borrowing(queue.name, first.workload.requests);
    if (claims.hasPlaceFor(head, borrowing, bounds.rootOf(queue.name))) return true;
    awaiting.add(queue, first, borrowing);
    queue.considered = first;
    return false;
  };

  const retry = (queue: PendingQueue, waiting: PendingClass, retryAtMs: number): void => {
    if (waiting.retryAtMs === retryAtMs) waiting.retryAtMs = undefined;
    if (queue.classes.get(waiting.id) !== waiting) return;
    waiting.forgive((inadmissibility) => inadmissibility.waitsFor !== 'setup');
    queue.considered = undefined;
    activate(queue);
  };

  return {
    add: (clusterQueue, strict, queued, apart = []) => {
      const { key } = queued.workload;
      const before = take(key);
      const queue = queueNamed(clusterQueue);
      if (queue.strict !== strict) {
        queue.strict = strict;
        forgive(queue, () => true);
      }
      const entry = queue.add(queued, apart);
      const waiting = entry.class;
      entries.set(key, entry);
      const standing = before === undefined ? undefined : claims.get(before.queue.name);
      if (before !== undefined && standing?.queued === before.queued) {
        // A Workload with unchanged requests keeps its claim.
        if (
          before.class === waiting &&
          before.queue === queue &&
          before.queued.workload.schedulingHash === queued.workload.schedulingHash
        ) {
          claims.set({ ...standing, queued });
          queue.considered = queued;
        } else claims.delete(before.queue.name);
      }
      if (queue.parked !== undefined) parked.changed(queue);
      // A Workload behind others that do not fit changes nothing.
      if (queue.parked !== undefined && queue.strict && queue.first() !== queued) return;
      if (queue.parked !== undefined && waiting.hasFailed(queued) && queue.considered !== undefined) return;
      const first = queue.rank?.head;
      if (ready.has(queue.name) && first !== undefined && queue.compare(first, queued) < 0) return;
      activate(queue);
    },
    delete: remove,
    has: (key) => entries.has(key),
    waitingIn: () => [...queues.values()].flatMap(({ name, size }) => (size === 0 ? [] : [name])),
    firstInOrder: (clusterQueue, most) => queues.get(clusterQueue)?.firstInOrder(most) ?? [],
    isParked: (clusterQueue) => {
      const queue = queues.get(clusterQueue);
      return queue !== undefined && isInactive(queue);
    },
    get: (key) => {
      const entry = entries.get(key);
      return entry && { clusterQueue: entry.queue.name, queued: entry.queued };
    },
    heads: (bounds = EVERYTHING_MAY_FIT, most = Number.POSITIVE_INFINITY) => {
      followEndedClaims();
      const heads: Head[] = [];
      const taken: PendingQueue[] = [];
      const closed: PendingQueue[] = [];
      parked.lookAgain(
        bounds,
        claims.all().flatMap(({ clusterQueue }) => queues.get(clusterQueue) ?? []),
      );
      while (heads.length < most) {
        const next = parked.takeNext(ready.peek()?.rank, bounds);
        if (next !== undefined) activate(next);
        const queue = ready.peek();
        if (queue === undefined) break;
        ready.delete(queue.name);
        if (!bounds.isOpen(queue.name)) {
          closed.push(queue);
          continue;
        }
        const { candidate, waitsForRoom } = candidateOf(queue, bounds);
        if (candidate === undefined) {
          parked.park(queue, waitsForRoom, bounds);
          continue;
        }
        const rank = { head: candidate, borrowing: bounds.borrowing(queue.name, candidate.workload.requests) };
        const following = ready.peek()?.rank;
        const moved = queue.rank === undefined || compareNominated(queue.rank, rank) < 0;
        queue.rank = rank;
        if (moved && following !== undefined && compareNominated(following, rank) < 0) {
          ready.set(queue);
          continue;
        }
        taken.push(queue);
        const standing = claims.get(queue.name);
        const claim = standing?.queued === candidate ? standing.claim : undefined;
        heads.push({
          clusterQueue: queue.name,
          queued: candidate,
          ...omitUndefined({ claim, usage: queue.sharesByUsage(candidate) ? queue.usageBefore(candidate) : undefined }),
        });
      }
      for (const queue of [...taken, ...closed]) ready.set(queue);
      return heads;
    },
    claims: (borrowing, revise) => {
      for (const standing of revise === undefined ? [] : claims.all()) {
        const claim = standing.claim.start && revise?.(standing);
        if (claim !== undefined) claims.set({ ...standing, claim });
      }
      if (borrowing !== undefined) claims.updateBorrowing(borrowing);
      return claims.all();
    },
    markInadmissible: (head, inadmissibility) => {
      const entry = entries.get(head.queued.workload.key);
      if (entry === undefined) return undefined;
      // The Workload as it waits: the head may have been nominated with fewer pods.
      const { queue, queued } = entry;
      entry.class.fail(queued, inadmissibility);
      if (queue.first() === queued) queue.considered = queued;
      const { waitsFor } = inadmissibility;
      if (isBehindOthers(inadmissibility) && waitsFor !== 'setup') behindOthers[waitsFor].add(queue);
      const { claim, retryAtMs } = inadmissibility;
      awaiting.delete(queue);
      if (claim !== undefined) claims.set({ clusterQueue: queue.name, queued, claim });
      else if (claims.get(queue.name)?.queued === queued) claims.delete(queue.name);
      activate(queue);
      if (retryAtMs === undefined || retryAtMs === entry.class.retryAtMs) return undefined;
      entry.class.retryAtMs = retryAtMs;
      return () => retry(queue, entry.class, retryAtMs);
    },
    reviseAt: (atMs) => {
      if (revisionMs !== undefined && revisionMs <= atMs) return undefined;
      revisionMs = atMs;
      return () => {
        if (revisionMs === atMs) revisionMs = undefined;
      };
    },
    inadmissibilityOf: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const { queue, queued } = entry;
      const result = entry.class.lastResult(queued);
      const standing = claims.get(queue.name);
      const preemptor = standing?.claim.preempts === true ? standing.queued : undefined;
      if ((!queue.strict && preemptor === undefined) || result?.waitsFor === 'setup') return result;
      const first = preemptor ?? queue.first();
      const goesBefore = first === undefined || queue.compare(queued, first) <= 0;
      const blocks = goesBefore ? undefined : entries.get(first.workload.key)?.class.lastResult(first);
      return blocks === undefined ? result : behind(queue, blocks);
    },
    wake: (roots) => {
      for (const root of roots) parked.quotaFreed(root);
    },
    wakeWaitingForCluster: () => parked.roomFreed(),
    wakeAfterClusterChange: () => {
      for (const queue of queues.values()) {
        queue.considered = undefined;
        forgive(queue, ({ waitsFor }) => waitsFor !== 'quota');
      }
    },
    wakeAll: (clusterQueues) => {
      const concerned = clusterQueues === undefined ? queues.values() : [...clusterQueues].flatMap((name) => queues.get(name) ?? []);
      for (const queue of concerned) {
        queue.considered = undefined;
        forgive(queue, () => true);
      }
    },
    usageChanged: (clusterQueue, localQueue) => {
      for (const queue of clusterQueue === undefined ? queues.values() : [queues.get(clusterQueue)]) {
        if (queue === undefined) continue;
        const before = queue.first();
        queue.usageChanged(localQueue);
        // Another LocalQueue may go first now, and so another Workload.
        if (queue.first() !== before) activate(queue);
      }
    },
    counts: () =>
      new Map(
        [...queues.values()].map((queue) => [
          queue.name,
          isInactive(queue) ? { active: 0, inadmissible: queue.size } : { active: queue.size, inadmissible: 0 },
        ]),
      ),
    position: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      return entry.queue.before(entry);
    },
  };
}

const isBehindOthers = ({ reason }: Inadmissibility): boolean => reason === QuotaReservedReason.BehindOtherQueues;

/** The reason for Workloads behind a blocked first Workload. It names no Workload, so that it stays true while the queue moves. */
const behind = (queue: PendingQueue, { waitsFor, reason }: Inadmissibility): Inadmissibility => ({
  reason: QuotaReservedReason.BehindEarlierJob,
  message: `an earlier Job of cluster queue ${queue.name} ${
    reason === QuotaReservedReason.Preempting ? 'waits until those that it preempts have stopped' : 'does not fit yet (StrictFIFO)'
  }`,
  waitsFor,
});
