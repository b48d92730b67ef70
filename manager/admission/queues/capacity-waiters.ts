import type { Nominated, QueuedWorkload } from '../workload/ordering.ts';
import type { CapacityBounds } from '../scheduling/capacity-bounds.ts';
import type { PendingQueue } from './pending-queue.ts';
import { RequestTree, type Vector } from '../workload/request-tree.ts';

/**
 * Inadmissible ClusterQueues that wait for room on clusters, in the order of a cycle, each with the smallest requests of its Workloads. The
 * first queue that may have room is found without visiting the others.
 *
 * The borrowing height of a queue, the least of any of its Workloads, is learned when the queue is found; until quota becomes free or its
 * Workloads change, it does not decrease.
 */
export class CapacityWaiters {
  readonly #waiting = new Map<PendingQueue, Waiting>();
  /** Trees by lower bound of the borrowing height, ascending. */
  readonly #levels: { readonly borrowing: number; readonly tree: RequestTree }[] = [];
  readonly #queues = new Map<QueuedWorkload, PendingQueue>();
  /** Column order of request vectors; a missing column counts as 0. */
  readonly #resources: string[] = [];
  /** ClusterQueues that were examined since capacity last became free and did not fit. They are in no tree. */
  #aside: PendingQueue[] = [];
  #isOpen = false;

  has(queue: PendingQueue): boolean {
    return this.#waiting.has(queue);
  }

  /** Adds a ClusterQueue that does not fit what is free now. */
  add(queue: PendingQueue, head: QueuedWorkload): void {
    if (this.has(queue)) return;
    this.#waiting.set(queue, { head, borrowing: 0, isAside: true });
    this.#queues.set(head, queue);
    this.#aside.push(queue);
  }

  delete(queue: PendingQueue): void {
    const waiting = this.#takeOut(queue);
    if (waiting === undefined) return;
    this.#waiting.delete(queue);
    this.#queues.delete(waiting.head);
  }

  /** The Workloads of the ClusterQueue have changed. */
  changed(queue: PendingQueue): void {
    const waiting = this.#takeOut(queue);
    if (waiting === undefined) return;
    waiting.borrowing = 0;
    if (!waiting.isAside) this.#treeOf(0).insert(waiting.head, this.#leastOf(queue));
  }

  /** Sets the lower bound of the ClusterQueue's borrowing height. */
  raiseBorrowing(queue: PendingQueue, borrowing: number): void {
    const waiting = this.#waiting.get(queue);
    if (waiting === undefined || waiting.borrowing === borrowing) return;
    this.#takeOut(queue);
    waiting.borrowing = borrowing;
    if (!waiting.isAside) this.#treeOf(borrowing).insert(waiting.head, this.#leastOf(queue));
  }

  /** Capacity has become free: every ClusterQueue is examined again. */
  reopen(): void {
    this.#isOpen = true;
    const again = this.#aside;
    this.#aside = [];
    for (const queue of again) {
      const waiting = this.#waiting.get(queue);
      if (waiting?.isAside !== true) continue;
      waiting.isAside = false;
      this.#treeOf(waiting.borrowing).insert(waiting.head, this.#leastOf(queue));
    }
  }

  /** The first ClusterQueue that may have room. */
  first(bounds: CapacityBounds): { readonly queue: PendingQueue; readonly rank: Nominated } | undefined {
    if (!this.#isOpen) return undefined;
    for (const { borrowing, tree } of this.#levels) {
      const head = tree.firstWhere((amounts, from) => bounds.hasRoom(this.#resources, amounts, from, borrowing));
      const queue = head && this.#queues.get(head);
      if (head !== undefined && queue !== undefined) return { queue, rank: { head, borrowing } };
    }
    this.#isOpen = false;
    return undefined;
  }

  /** The ClusterQueue does not fit: skips it until {@link reopen}. */
  park(queue: PendingQueue): void {
    const waiting = this.#takeOut(queue);
    if (waiting === undefined || waiting.isAside) return;
    waiting.isAside = true;
    this.#aside.push(queue);
  }

  #takeOut(queue: PendingQueue): Waiting | undefined {
    const waiting = this.#waiting.get(queue);
    if (waiting?.isAside === false) this.#treeOf(waiting.borrowing).delete(waiting.head);
    return waiting;
  }

  #treeOf(borrowing: number): RequestTree {
    const found = this.#levels.find((level) => level.borrowing === borrowing);
    if (found !== undefined) return found.tree;
    const tree = new RequestTree();
    this.#levels.push({ borrowing, tree });
    this.#levels.sort((a, b) => a.borrowing - b.borrowing);
    return tree;
  }

  /** The smallest request of any Workload of the ClusterQueue, for each resource. */
  #leastOf(queue: PendingQueue): Vector {
    const classes = [...queue.classes.values()];
    for (const { resources } of classes)
      for (const resource of resources) if (!this.#resources.includes(resource)) this.#resources.push(resource);
    return this.#resources.map((resource) => Math.min(...classes.map(({ resources, least }) => least[resources.indexOf(resource)] ?? 0)));
  }
}

type Waiting = { readonly head: QueuedWorkload; borrowing: number; isAside: boolean };
