import { compareNominated, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import type { CapacityBounds } from '../scheduling/capacity-bounds.ts';
import type { PendingQueue } from './pending-queue.ts';
import { CapacityWaiters } from './capacity-waiters.ts';

/**
 * ClusterQueues without a head to nominate until capacity becomes free. Then they are examined in the order of a cycle, by the smallest
 * requests of their Workloads. Queues that wait for room on clusters, which all share, are examined only up to the first that may have it.
 */
export class InadmissibleQueues {
  readonly #byRoot = new Map<string, Set<PendingQueue>>();
  readonly #forRoom = new CapacityWaiters();
  /** ClusterQueues that wait for room and may preempt: free capacity does not bound what they can have. */
  readonly #displacing = new Set<PendingQueue>();
  /** How often quota has become free, by root, and how often room on clusters has. */
  readonly #quotaFreed = new Map<string, number>();
  #roomFreed = 0;
  /** Roots and clusters with capacity that became free since the last {@link lookAgain}. */
  readonly #freedRoots = new Set<string>();
  #isRoomFreed = false;
  /** ClusterQueues outside `#forRoom` that may fit now, the first in order last. */
  #next: { readonly queue: PendingQueue; readonly rank: Nominated }[] = [];

  park(queue: PendingQueue, waitsForRoom: boolean, bounds: CapacityBounds): void {
    const root = bounds.rootOf(queue.name);
    queue.parked = root;
    const sharing = this.#byRoot.get(root) ?? new Set();
    this.#byRoot.set(root, sharing.add(queue));
    if (waitsForRoom) this.#waitForRoom(queue, bounds);
  }

  unpark(queue: PendingQueue): void {
    if (queue.parked === undefined) return;
    const sharing = this.#byRoot.get(queue.parked);
    sharing?.delete(queue);
    if (sharing?.size === 0) this.#byRoot.delete(queue.parked);
    this.#forRoom.delete(queue);
    this.#displacing.delete(queue);
    queue.parked = undefined;
  }

  /** Workloads were added to, or removed from, a ClusterQueue that stays parked. */
  changed(queue: PendingQueue): void {
    this.#forRoom.changed(queue);
  }

  quotaFreed(root: string): void {
    this.#quotaFreed.set(root, (this.#quotaFreed.get(root) ?? 0) + 1);
    this.#freedRoots.add(root);
  }

  roomFreed(): void {
    this.#roomFreed++;
    this.#isRoomFreed = true;
  }

  /** A claim has ended. A Workload that did not fit before does not fit by that, but some Workloads were not nominated because of it. */
  claimEnded(root: string, heldRoom: boolean): void {
    this.#freedRoots.add(root);
    this.#isRoomFreed ||= heldRoom;
  }

  /** Drops recorded failures of a ClusterQueue if capacity has become free since its last visit. */
  catchUp(queue: PendingQueue, root: string): void {
    const seen = { root, quota: this.#quotaFreed.get(root) ?? 0, room: this.#roomFreed };
    const before = queue.seen;
    queue.seen = seen;
    if (before === undefined || (before.root === root && before.quota === seen.quota && before.room === seen.room)) return;
    const isQuotaFreed = before.root !== root || before.quota !== seen.quota;
    queue.forgive(({ waitsFor }) => waitsFor === 'cluster' || (isQuotaFreed && waitsFor === 'quota'));
  }

  /** Lists, in order, the ClusterQueues that may fit in the freed capacity. `owners`: ClusterQueues with a claim. */
  lookAgain(bounds: CapacityBounds, owners: Iterable<PendingQueue>): void {
    if (!this.#isRoomFreed && this.#freedRoots.size === 0) return;
    const concerned = new Set(this.#next.map(({ queue }) => queue));
    if (this.#isRoomFreed) for (const queue of this.#displacing) concerned.add(queue);
    // A claim does not block its own ClusterQueue.
    for (const queue of owners) {
      const isConcerned = this.#isRoomFreed || this.#freedRoots.has(queue.parked ?? '');
      if (isConcerned && this.#forRoom.has(queue)) concerned.add(queue);
    }
    for (const root of this.#freedRoots) {
      for (const queue of this.#byRoot.get(root) ?? []) {
        if (this.#forRoom.has(queue)) this.#forRoom.raiseBorrowing(queue, 0);
        else concerned.add(queue);
      }
    }
    this.#freedRoots.clear();
    this.#isRoomFreed = false;
    this.#forRoom.reopen();
    this.#next = [];
    for (const queue of concerned) {
      const head = headOf(queue);
      if (head !== undefined && this.#mayFit(queue, bounds))
        this.#next.push({ queue, rank: { head, borrowing: queue.leastReach(bounds) } });
    }
    this.#next.sort((a, b) => compareNominated(b.rank, a.rank));
  }

  /** The next ClusterQueue that may fit, if it goes before `first`. It stays parked. */
  takeNext(first: Nominated | undefined, bounds: CapacityBounds): PendingQueue | undefined {
    for (;;) {
      const noted = this.#next.at(-1);
      const found = this.#forRoom.first(bounds);
      const isNoted = noted !== undefined && (found === undefined || compareNominated(noted.rank, found.rank) <= 0);
      const next = isNoted ? noted : found;
      if (next === undefined || (first !== undefined && compareNominated(first, next.rank) < 0)) return undefined;
      const { queue, rank } = next;
      if (isNoted) this.#next.pop();
      else {
        const borrowing = queue.leastReach(bounds);
        if (borrowing > rank.borrowing) {
          this.#forRoom.raiseBorrowing(queue, borrowing);
          continue;
        }
      }
      // A ClusterQueue before it may have taken the free capacity.
      if (this.#mayFit(queue, bounds)) return queue;
      this.#forRoom.park(queue);
    }
  }

  #mayFit(queue: PendingQueue, bounds: CapacityBounds): boolean {
    if (queue.parked === undefined) return false;
    const obstacle = queue.leastObstacle(bounds);
    if (obstacle === 'cluster') this.#waitForRoom(queue, bounds);
    return obstacle === undefined;
  }

  #waitForRoom(queue: PendingQueue, bounds: CapacityBounds): void {
    const head = headOf(queue);
    if (bounds.mayDisplace(queue.name)) this.#displacing.add(queue);
    else if (head !== undefined) this.#forRoom.add(queue, head);
  }
}

const headOf = (queue: PendingQueue): QueuedWorkload | undefined => queue.rank?.head ?? queue.first();
