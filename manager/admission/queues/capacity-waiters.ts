import type { Nominated, QueuedWorkload } from '../workload/ordering.ts';
import type { CapacityBounds } from '../scheduling/capacity-bounds.ts';
import type { PendingQueue } from './pending-queue.ts';
import { RequestTree, type Vector } from '../workload/request-tree.ts';

/**
 * Parked ClusterQueues that wait for room on clusters, in the order of a cycle, each with the least that its Workloads ask for: the first of them that may have room is found
 * without asking the others.
 *
 * How far one reaches up its cohort tree is learned when it is found; until quota becomes free it is not less than that.
 */
export class CapacityWaiters {
  readonly #waiting = new Map<PendingQueue, Waiting>();
  /** By how far they reach at least, ascending. */
  readonly #levels: { readonly borrowing: number; readonly tree: RequestTree }[] = [];
  readonly #queues = new Map<QueuedWorkload, PendingQueue>();
  /** Amounts are in this order; where one is missing, nothing is asked for. */
  readonly #resources: string[] = [];
  /** Those that have been asked since something became free, and did not fit. They are in no tree. */
  #aside: PendingQueue[] = [];
  #isOpen = false;

  has(queue: PendingQueue): boolean {
    return this.#waiting.has(queue);
  }

  /** It has been asked, and does not fit what is free now. */
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

  /** The Workloads of the queue are others. */
  changed(queue: PendingQueue): void {
    const waiting = this.#takeOut(queue);
    if (waiting?.isAside === false) this.#treeOf(waiting.borrowing).insert(waiting.head, this.#leastOf(queue));
  }

  /** It reaches at least so far up its cohort tree now. */
  raiseBorrowing(queue: PendingQueue, borrowing: number): void {
    const waiting = this.#waiting.get(queue);
    if (waiting === undefined || waiting.borrowing === borrowing) return;
    this.#takeOut(queue);
    waiting.borrowing = borrowing;
    if (!waiting.isAside) this.#treeOf(borrowing).insert(waiting.head, this.#leastOf(queue));
  }

  /** Something has become free. */
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

  /** The first that may have room. */
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

  /** It does not fit. */
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

  /** Of each resource the least that any of its Workloads asks for. */
  #leastOf(queue: PendingQueue): Vector {
    const classes = [...queue.classes.values()];
    for (const { resources } of classes)
      for (const resource of resources) if (!this.#resources.includes(resource)) this.#resources.push(resource);
    return this.#resources.map((resource) => Math.min(...classes.map(({ resources, least }) => least[resources.indexOf(resource)] ?? 0)));
  }
}

type Waiting = { readonly head: QueuedWorkload; borrowing: number; isAside: boolean };
