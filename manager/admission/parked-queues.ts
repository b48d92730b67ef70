import { compareNominated, type Nominated } from './ordering.ts';
import type { Outlook } from './outlook.ts';
import type { PendingQueue } from './pending-queue.ts';

/**
 * ClusterQueues of which nobody is to be tried until something has become free. They are asked, in the order of a cycle, when it has: by the least that any of
 * their Workloads asks for, which costs little.
 */
export class ParkedQueues {
  readonly #byRoot = new Map<string, Set<PendingQueue>>();
  readonly #forRoom = new Set<PendingQueue>();
  /** How often quota has become free, by root; and room. */
  readonly #quotaFreed = new Map<string, number>();
  #roomFreed = 0;
  /** Where something has become free since it was last looked at. */
  readonly #freedRoots = new Set<string>();
  #isRoomFreed = false;
  /** Those for which that may be enough, the first in order last. */
  #next: { readonly queue: PendingQueue; readonly rank: Nominated }[] = [];

  park(queue: PendingQueue, root: string, waitsForRoom: boolean): void {
    queue.parked = root;
    const sharing = this.#byRoot.get(root) ?? new Set();
    this.#byRoot.set(root, sharing.add(queue));
    if (waitsForRoom) this.#forRoom.add(queue);
  }

  unpark(queue: PendingQueue): void {
    if (queue.parked === undefined) return;
    const sharing = this.#byRoot.get(queue.parked);
    sharing?.delete(queue);
    if (sharing?.size === 0) this.#byRoot.delete(queue.parked);
    this.#forRoom.delete(queue);
    queue.parked = undefined;
  }

  quotaFreed(root: string): void {
    this.#quotaFreed.set(root, (this.#quotaFreed.get(root) ?? 0) + 1);
    this.#freedRoots.add(root);
  }

  roomFreed(): void {
    this.#roomFreed++;
    this.#isRoomFreed = true;
  }

  /** What was kept for somebody is free for others: nobody who has failed may fit by that, but some were not even tried. */
  unkept(root: string | undefined): void {
    if (root !== undefined) this.#freedRoots.add(root);
    this.#isRoomFreed = true;
  }

  /** Has a ClusterQueue forget what it knows of failures where something has become free since it last looked. */
  catchUp(queue: PendingQueue, root: string): void {
    const seen = { root, quota: this.#quotaFreed.get(root) ?? 0, room: this.#roomFreed };
    const before = queue.seen;
    queue.seen = seen;
    if (before === undefined || (before.root === root && before.quota === seen.quota && before.room === seen.room)) return;
    const isQuotaFreed = before.root !== root || before.quota !== seen.quota;
    queue.forgive(({ waitsFor }) => waitsFor === 'cluster' || (isQuotaFreed && waitsFor === 'quota'));
  }

  /** Notes, in order, for whom what has become free may be enough; `seesAll`: whether what is kept for others is not kept from it. */
  lookAgain(outlook: Outlook, seesAll: (queue: PendingQueue) => boolean): void {
    if (!this.#isRoomFreed && this.#freedRoots.size === 0) return;
    const concerned = new Set([...this.#next.map(({ queue }) => queue), ...(this.#isRoomFreed ? this.#forRoom : [])]);
    for (const root of this.#freedRoots) for (const queue of this.#byRoot.get(root) ?? []) concerned.add(queue);
    this.#freedRoots.clear();
    this.#isRoomFreed = false;
    this.#next = [];
    for (const queue of concerned) {
      const head = queue.rank?.head ?? queue.first();
      if (head === undefined || !this.#mayFit(queue, outlook, seesAll)) continue;
      this.#next.push({ queue, rank: { head, borrowing: outlook.borrowing(queue.name, head.workload.requests) } });
    }
    this.#next.sort((a, b) => compareNominated(b.rank, a.rank));
  }

  /** The next of them, if it goes before `first`. It is still parked. */
  takeNext(first: Nominated | undefined, outlook: Outlook, seesAll: (queue: PendingQueue) => boolean): PendingQueue | undefined {
    for (let next = this.#next.at(-1); next !== undefined; next = this.#next.at(-1)) {
      if (first !== undefined && compareNominated(first, next.rank) < 0) return undefined;
      this.#next.pop();
      // An earlier one may have taken what was free.
      if (this.#mayFit(next.queue, outlook, seesAll)) return next.queue;
    }
    return undefined;
  }

  #mayFit(queue: PendingQueue, outlook: Outlook, seesAll: (queue: PendingQueue) => boolean): boolean {
    if (queue.parked === undefined) return false;
    const obstacle = queue.leastObstacle(outlook, seesAll(queue));
    if (obstacle === 'cluster') this.#forRoom.add(queue);
    return obstacle === undefined;
  }
}
