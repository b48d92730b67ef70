import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Claim, Head, Inadmissibility } from '../scheduling/decision.ts';
import { compareNominated, type QueuedWorkload } from '../workload/ordering.ts';
import { EVERYTHING_MAY_FIT, type CapacityBounds } from '../scheduling/capacity-bounds.ts';
import { ClaimWaiters } from './claim-waiters.ts';
import { EndedClaims } from './ended-claims.ts';
import { InadmissibleQueues } from './inadmissible-queues.ts';
import type { PendingClass } from './pending-class.ts';
import { type Candidate, PendingQueue, type Pending } from './pending-queue.ts';
import { createClaimsByQueue, type BorrowingOfClaims, type ClaimOfHead } from '../scheduling/claims-by-queue.ts';

/**
 * Workloads that wait for admission. Each ClusterQueue (`pending-queue.ts`) holds classes of Workloads that differ only in amounts
 * (`pending-class.ts`). Its head, the first Workload that nothing known blocks, is found without visiting the others. ClusterQueues without
 * a head are parked and cost nothing until capacity that they share becomes free. The others give heads in the order of a cycle, as many as
 * requested.
 *
 * The first Workload of a ClusterQueue is nominated at least once, whatever is free, because it may get a claim. A StrictFIFO queue is
 * blocked by its first Workload, unless that waits for a change of queues or clusters: such a Workload is skipped, because *never* is not
 * *not now*. Any queue is blocked by a Workload that waits for its preempted Workloads to stop. All state derives from Jobs.
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
  /** Ends the claims of ClusterQueues that admit nothing: they would keep capacity from others for nobody. */
  endClaims(isStopped: (clusterQueue: string) => boolean): void;
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
  /** These ClusterQueues or their quota have changed; undefined: all have, or the clusters. Their Workloads are nominated again. */
  wakeAll(clusterQueues?: Iterable<string>): void;
  /** The usage of a LocalQueue, of all LocalQueues of the ClusterQueue, or of all ClusterQueues has changed. */
  usageChanged(clusterQueue?: string, localQueue?: string): void;
  /** A Workload of this ClusterQueue is admitted: with fair sharing, others of its tree may go before claims now that went before them. */
  sharesChanged(clusterQueue: string): void;
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
  return new Queues(usageOf);
}

class Queues implements PendingQueues {
  readonly #usageOf: (localQueue: string) => number | undefined;
  readonly #queues = new Map<string, PendingQueue>();
  readonly #entries = new Map<string, Pending>();
  /** ClusterQueues to nominate from. */
  readonly #ready = new IndexedHeap<PendingQueue>(
    ({ name }) => name,
    (a, b) => (a.rank === undefined || b.rank === undefined ? 0 : compareNominated(a.rank, b.rank)) || (a.name < b.name ? -1 : 1),
  );
  readonly #parked = new InadmissibleQueues();
  readonly #rootOf = (clusterQueue: string): string => this.#queues.get(clusterQueue)?.seen?.root ?? clusterQueue;
  readonly #forgive = (queue: PendingQueue, hasEnded: (inadmissibility: Inadmissibility) => boolean): void => {
    queue.forgive(hasEnded);
    this.#activate(queue);
  };
  readonly #ended = new EndedClaims();
  readonly #claims = createClaimsByQueue(this.#rootOf, (entry) => this.#ended.add(entry));
  readonly #awaiting = new ClaimWaiters(this.#rootOf);
  #revisionMs: number | undefined;

  constructor(usageOf: (localQueue: string) => number | undefined) {
    this.#usageOf = usageOf;
  }

  add(clusterQueue: string, strict: boolean, queued: QueuedWorkload, apart: readonly string[] = []): void {
    const before = this.#take(queued.workload.key);
    const queue = this.#queues.get(clusterQueue) ?? new PendingQueue(clusterQueue, this.#usageOf);
    this.#queues.set(clusterQueue, queue);
    if (queue.strict !== strict) {
      queue.strict = strict;
      this.#forgive(queue, () => true);
    }
    const entry = queue.add(queued, apart);
    this.#entries.set(queued.workload.key, entry);
    if (before !== undefined) this.#passOnClaim(before, entry);
    if (queue.parked !== undefined) this.#parked.changed(queue);
    // A Workload behind others that do not fit changes nothing.
    if (queue.parked !== undefined && queue.strict && queue.first() !== queued) return;
    if (queue.parked !== undefined && entry.class.hasFailed(queued) && queue.considered !== undefined) return;
    const first = queue.rank?.head;
    if (this.#ready.has(queue.name) && first !== undefined && queue.compare(first, queued) < 0) return;
    this.#activate(queue);
  }

  delete(key: string): void {
    const entry = this.#take(key);
    if (entry === undefined || this.#claims.get(entry.queue.name)?.queued !== entry.queued) return;
    this.#endClaim(entry.queue.name);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  heads(bounds: CapacityBounds = EVERYTHING_MAY_FIT, most = Number.POSITIVE_INFINITY): Head[] {
    this.#followEndedClaims();
    const heads: Head[] = [];
    const taken: PendingQueue[] = [];
    const owners = this.#claims.all().flatMap(({ clusterQueue }) => this.#queues.get(clusterQueue) ?? []);
    this.#parked.lookAgain(bounds, owners);
    while (heads.length < most) {
      const next = this.#parked.takeNext(this.#ready.peek()?.rank, bounds);
      if (next !== undefined) this.#activate(next);
      const queue = this.#ready.peek();
      if (queue === undefined) break;
      this.#ready.delete(queue.name);
      if (!bounds.isOpen(queue.name)) {
        taken.push(queue);
        continue;
      }
      const { candidate, waitsForRoom } = this.#candidateOf(queue, bounds);
      if (candidate === undefined) {
        this.#parked.park(queue, waitsForRoom, bounds);
        continue;
      }
      const rank = { head: candidate, borrowing: bounds.borrowing(queue.name, candidate.workload.requests) };
      const following = this.#ready.peek()?.rank;
      const moved = queue.rank === undefined || compareNominated(queue.rank, rank) < 0;
      queue.rank = rank;
      if (moved && following !== undefined && compareNominated(following, rank) < 0) {
        this.#ready.set(queue);
        continue;
      }
      taken.push(queue);
      heads.push(this.#headOf(queue, candidate));
    }
    for (const queue of taken) this.#ready.set(queue);
    return heads;
  }

  claims(borrowing?: BorrowingOfClaims, revise?: (standing: ClaimOfHead) => Claim | undefined): readonly ClaimOfHead[] {
    for (const standing of revise === undefined ? [] : this.#claims.all()) {
      const claim = standing.claim.start && revise?.(standing);
      if (claim !== undefined) this.#claims.set({ ...standing, claim });
    }
    if (borrowing !== undefined) this.#claims.updateBorrowing(borrowing);
    return this.#claims.all();
  }

  endClaims(isStopped: (clusterQueue: string) => boolean): void {
    for (const { clusterQueue } of this.#claims.all()) if (isStopped(clusterQueue)) this.#endClaim(clusterQueue);
  }

  markInadmissible({ queued: nominated }: Head, inadmissibility: Inadmissibility): (() => void) | undefined {
    const entry = this.#entries.get(nominated.workload.key);
    if (entry === undefined) return undefined;
    // The Workload as it waits: the head may have been nominated with fewer pods.
    const { queue, queued } = entry;
    entry.class.fail(queued, inadmissibility);
    if (queue.first() === queued) queue.considered = queued;
    this.#ended.markInadmissible(queue, inadmissibility);
    const { claim, retryAtMs } = inadmissibility;
    this.#awaiting.delete(queue);
    if (claim !== undefined) this.#claims.set({ clusterQueue: queue.name, queued, claim });
    else if (this.#claims.get(queue.name)?.queued === queued) this.#claims.delete(queue.name);
    this.#activate(queue);
    if (retryAtMs === undefined || retryAtMs === entry.class.retryAtMs) return undefined;
    entry.class.retryAtMs = retryAtMs;
    return () => this.#retry(queue, entry.class, retryAtMs);
  }

  reviseAt(atMs: number): (() => void) | undefined {
    if (this.#revisionMs !== undefined && this.#revisionMs <= atMs) return undefined;
    this.#revisionMs = atMs;
    return () => {
      if (this.#revisionMs === atMs) this.#revisionMs = undefined;
    };
  }

  inadmissibilityOf(key: string): Inadmissibility | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { queue, queued } = entry;
    const result = entry.class.lastResult(queued);
    const preemptor = this.#preemptorOf(queue);
    if ((!queue.strict && preemptor === undefined) || result?.waitsFor === 'setup') return result;
    const first = preemptor ?? queue.first();
    const goesBefore = first === undefined || queue.compare(queued, first) <= 0;
    const blocks = goesBefore ? undefined : this.#entries.get(first.workload.key)?.class.lastResult(first);
    return blocks === undefined ? result : queue.behind(blocks);
  }

  wake(roots: Iterable<string>): void {
    this.#capacityFreed();
    for (const root of roots) this.#parked.quotaFreed(root);
  }

  wakeWaitingForCluster(): void {
    this.#capacityFreed();
    this.#parked.roomFreed();
  }

  wakeAll(clusterQueues?: Iterable<string>): void {
    this.#capacityFreed();
    const concerned =
      clusterQueues === undefined ? this.#queues.values() : [...clusterQueues].flatMap((name) => this.#queues.get(name) ?? []);
    for (const queue of concerned) this.#nominateAgain(queue, () => true);
  }

  usageChanged(clusterQueue?: string, localQueue?: string): void {
    for (const queue of clusterQueue === undefined ? this.#queues.values() : [this.#queues.get(clusterQueue)]) {
      if (queue === undefined) continue;
      const before = queue.first();
      queue.usageChanged(localQueue);
      // Another LocalQueue may go first now, and so another Workload.
      if (queue.first() !== before) this.#activate(queue);
    }
  }

  sharesChanged(clusterQueue: string): void {
    this.#ended.reordered(this.#rootOf(clusterQueue));
  }

  counts(): ReadonlyMap<string, { readonly active: number; readonly inadmissible: number }> {
    return new Map(
      [...this.#queues.values()].map((queue) => [
        queue.name,
        this.isParked(queue.name) ? { active: 0, inadmissible: queue.size } : { active: queue.size, inadmissible: 0 },
      ]),
    );
  }

  position(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry?.queue.before(entry);
  }

  waitingIn(): readonly string[] {
    return [...this.#queues.values()].flatMap(({ name, size }) => (size === 0 ? [] : [name]));
  }

  firstInOrder(clusterQueue: string, most: number): readonly QueuedWorkload[] {
    return this.#queues.get(clusterQueue)?.firstInOrder(most) ?? [];
  }

  isParked(clusterQueue: string): boolean {
    const queue = this.#queues.get(clusterQueue);
    // A ClusterQueue without a head is parked, or its Workloads never fit.
    return queue !== undefined && (queue.parked !== undefined || !this.#ready.has(queue.name));
  }

  get(key: string): Head | undefined {
    const entry = this.#entries.get(key);
    return entry && { clusterQueue: entry.queue.name, queued: entry.queued };
  }

  #activate(queue: PendingQueue): void {
    this.#parked.unpark(queue);
    const head = queue.first();
    if (head === undefined) this.#ready.delete(queue.name);
    else {
      queue.rank = { head, borrowing: 0 };
      this.#ready.set(queue);
    }
  }

  /** The first Workload of the queue may get a claim now, and those may fit of which a failure has ended. */
  #nominateAgain(queue: PendingQueue, hasEnded: (inadmissibility: Inadmissibility) => boolean): void {
    queue.considered = undefined;
    this.#forgive(queue, hasEnded);
  }

  #take(key: string): Pending | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    const { queue, queued } = entry;
    const wasFirst = queue.strict && queue.first() === queued;
    queue.delete(entry);
    this.#awaiting.forget(queue, queued);
    // The next Workload may get a claim, and a StrictFIFO queue is no longer blocked.
    if (wasFirst || queue.size === 0 || queue.considered === undefined) this.#activate(queue);
    else if (queue.parked !== undefined) this.#parked.changed(queue);
    return entry;
  }

  /** A Workload with unchanged requests keeps its claim. */
  #passOnClaim(before: Pending, { queue, queued, class: waiting }: Pending): void {
    const standing = this.#claims.get(before.queue.name);
    if (standing?.queued !== before.queued) return;
    const isSame = before.queued.workload.schedulingHash === queued.workload.schedulingHash;
    if (isSame && before.class === waiting && before.queue === queue) {
      this.#claims.set({ ...standing, queued });
      queue.considered = queued;
    } else this.#claims.delete(before.queue.name);
  }

  /** Capacity of claims that have ended is free for other Workloads, once all decisions of the cycle are recorded. */
  #followEndedClaims(): void {
    const ended = this.#ended.forgiveBlocked(this.#rootOf, this.#forgive);
    if (ended === undefined) return;
    for (const root of ended.roots) this.#parked.claimEnded(root, ended.heldRoom);
    for (const root of ended.roots) this.#placeNextClaim(root);
    // The next one may be expected to start first where the reservation has ended.
    const next = this.#queues.get(this.#claims.firstIdle()?.clusterQueue ?? '');
    if (next !== undefined && this.#ended.mayFollow(next)) this.#nominateAgain(next, ({ waitsFor }) => waitsFor !== 'setup');
  }

  /** Ends a claim that no decision of a cycle has ended. */
  #endClaim(clusterQueue: string): void {
    this.#ended.followAnew();
    this.#claims.delete(clusterQueue);
    // With fair sharing, the claim made others of its ClusterQueue come later.
    this.sharesChanged(clusterQueue);
  }

  #capacityFreed(): void {
    this.#ended.followAnew();
    this.#claims.capacityFreed();
  }

  #placeNextClaim(root: string): void {
    const first = this.#awaiting.first(root);
    if (first === undefined) return;
    const { queue: next, nominated } = first;
    if (!this.#claims.hasPlaceFor({ clusterQueue: next.name, queued: nominated.head }, nominated.borrowing, root)) return;
    this.#awaiting.delete(next);
    if (this.#ended.mayFollow(next)) this.#nominateAgain(next, ({ waitsFor }) => waitsFor !== 'setup');
  }

  /** The Workload for which the ClusterQueue has others preempted. */
  #preemptorOf({ name }: PendingQueue): QueuedWorkload | undefined {
    const standing = this.#claims.get(name);
    return standing?.claim.preempts === true ? standing.queued : undefined;
  }

  #candidateOf(queue: PendingQueue, bounds: CapacityBounds): Candidate {
    this.#parked.catchUp(queue, bounds.rootOf(queue.name));
    const first = queue.first();
    if (first === undefined) return { waitsForRoom: false };
    const hasFailed = this.#entries.get(first.workload.key)?.class.hasFailed(first) === true;
    if (queue.considered !== first && !hasFailed && this.#mayGetClaim(queue, first, bounds))
      return { candidate: first, waitsForRoom: false };
    return queue.firstWithin(bounds, first, this.#preemptorOf(queue));
  }

  #mayGetClaim(queue: PendingQueue, first: QueuedWorkload, bounds: CapacityBounds): boolean {
    const borrowing = bounds.borrowing(queue.name, first.workload.requests);
    if (this.#claims.hasPlaceFor({ clusterQueue: queue.name, queued: first }, borrowing, bounds.rootOf(queue.name))) return true;
    this.#awaiting.add(queue, first, borrowing);
    queue.considered = first;
    return false;
  }

  #headOf(queue: PendingQueue, queued: QueuedWorkload): Head {
    const standing = this.#claims.get(queue.name);
    const claim = standing?.queued === queued ? standing.claim : undefined;
    const usage = queue.sharesByUsage(queued) ? queue.usageBefore(queued) : undefined;
    return { clusterQueue: queue.name, queued, ...omitUndefined({ claim, usage }) };
  }

  #retry(queue: PendingQueue, waiting: PendingClass, retryAtMs: number): void {
    if (waiting.retryAtMs === retryAtMs) waiting.retryAtMs = undefined;
    if (queue.classes.get(waiting.id) !== waiting) return;
    waiting.forgive((inadmissibility) => inadmissibility.waitsFor !== 'setup');
    queue.considered = undefined;
    this.#activate(queue);
  }
}
