import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import { compareNominated, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import type { PendingQueue } from './pending-queue.ts';

/** By cohort tree, the ClusterQueues whose first Workload would get a claim if the tree had a place left, in the order of a cycle. */
export class ClaimWaiters {
  readonly #byRoot = new Map<string, IndexedHeap<AwaitsClaim>>();
  readonly #rootOf: (clusterQueue: string) => string;

  /** `rootOf`: the root of a ClusterQueue's cohort tree. */
  constructor(rootOf: (clusterQueue: string) => string) {
    this.#rootOf = rootOf;
  }

  /** `borrowing`: the height in the cohort tree up to which the Workload borrows. */
  add(queue: PendingQueue, head: QueuedWorkload, borrowing: number): void {
    const root = this.#rootOf(queue.name);
    const others = this.#byRoot.get(root) ?? new IndexedHeap<AwaitsClaim>(nameOf, compare);
    others.set({ queue, nominated: { head, borrowing } });
    this.#byRoot.set(root, others);
  }

  delete(queue: PendingQueue): void {
    this.#othersOf(queue)?.delete(queue.name);
  }

  /** The Workload no longer waits. */
  forget(queue: PendingQueue, queued: QueuedWorkload): void {
    if (this.#othersOf(queue)?.get(queue.name)?.nominated.head === queued) this.delete(queue);
  }

  first(root: string): AwaitsClaim | undefined {
    return this.#byRoot.get(root)?.peek();
  }

  #othersOf({ name }: PendingQueue): IndexedHeap<AwaitsClaim> | undefined {
    return this.#byRoot.get(this.#rootOf(name));
  }
}

type AwaitsClaim = { readonly queue: PendingQueue; readonly nominated: Nominated };
const nameOf = ({ queue }: AwaitsClaim): string => queue.name;
const compare = (a: AwaitsClaim, b: AwaitsClaim): number => compareNominated(a.nominated, b.nominated);
