import { IndexedHeap } from '../../shared/kube/indexed-heap.ts';

export type LanesOptions<T> = {
  readonly keyOf: (entry: T) => string;
  /** The LocalQueue that it comes by, or anything else where they do not count. */
  readonly laneOf: (entry: T) => string;
  /** Order within a lane, and between lanes of equal usage. */
  readonly compare: (a: T, b: T) => number;
  /** What a lane has used: the least goes first. It is asked for when a lane begins, and when it is said to have changed. */
  readonly usageOf: (lane: string) => number;
};

/**
 * What is to be tried of one ClusterQueue, in lanes that share it by what each has used: with admission fair sharing one of each LocalQueue, else one for all. All of a lane
 * changes its place with its usage, at the cost of one entry.
 */
export class Lanes<T> {
  readonly #options: LanesOptions<T>;
  readonly #lanes: IndexedHeap<Lane<T>>;
  readonly #laneOfKey = new Map<string, Lane<T>>();

  constructor(options: LanesOptions<T>) {
    this.#options = options;
    this.#lanes = new IndexedHeap<Lane<T>>(
      ({ id }) => id,
      (a, b) => {
        if (a.usage !== b.usage) return a.usage < b.usage ? -1 : 1;
        const [first, second] = [a.entries.peek(), b.entries.peek()];
        return first === undefined || second === undefined ? Number(first === undefined) : options.compare(first, second);
      },
    );
  }

  /** The first of the lane that has used least. */
  peek(): T | undefined {
    return this.#lanes.peek()?.entries.peek();
  }

  /** Adds the entry, or replaces the one with its key. Call it also when an entry's rank has changed. */
  set(entry: T): void {
    const { keyOf, laneOf, compare, usageOf } = this.#options;
    const id = laneOf(entry);
    const key = keyOf(entry);
    if (this.#laneOfKey.get(key)?.id !== id) this.delete(key);
    const lane = this.#lanes.get(id) ?? { id, usage: usageOf(id), entries: new IndexedHeap<T>(keyOf, compare) };
    lane.entries.set(entry);
    this.#laneOfKey.set(key, lane);
    this.#lanes.set(lane);
  }

  delete(key: string): void {
    const lane = this.#laneOfKey.get(key);
    if (lane === undefined) return;
    this.#laneOfKey.delete(key);
    lane.entries.delete(key);
    if (lane.entries.size === 0) this.#lanes.delete(lane.id);
    else this.#lanes.set(lane);
  }

  /** What the lane is compared by. */
  usageOf(id: string): number {
    return this.#lanes.get(id)?.usage ?? this.#options.usageOf(id);
  }

  /** A lane, or each of them, has used something else now. */
  usageChanged(id?: string): void {
    const lanes = id === undefined ? [...this.#lanes.values()] : [this.#lanes.get(id)].flatMap((lane) => lane ?? []);
    for (const lane of lanes) {
      lane.usage = this.#options.usageOf(lane.id);
      this.#lanes.set(lane);
    }
  }
}

type Lane<T> = { readonly id: string; usage: number; readonly entries: IndexedHeap<T> };
