/** A binary heap whose entries can be found, replaced and removed by key in logarithmic time. The least entry is on top. */
export class IndexedHeap<T> {
  readonly #keyOf: (entry: T) => string;
  readonly #compare: (a: T, b: T) => number;
  readonly #entries: T[] = [];
  readonly #positions = new Map<string, number>();

  constructor(keyOf: (entry: T) => string, compare: (a: T, b: T) => number) {
    this.#keyOf = keyOf;
    this.#compare = compare;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): T | undefined {
    return this.#entries[0];
  }

  has(key: string): boolean {
    return this.#positions.has(key);
  }

  get(key: string): T | undefined {
    const position = this.#positions.get(key);
    return position === undefined ? undefined : this.#entries[position];
  }

  /** All entries, in no particular order. */
  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  /** Adds the entry, or replaces the one with its key. Call it also when an entry's rank has changed. */
  set(entry: T): void {
    const known = this.#positions.get(this.#keyOf(entry));
    const position = known ?? this.#entries.length;
    this.#place(entry, position);
    this.#settle(position);
  }

  delete(key: string): T | undefined {
    const position = this.#positions.get(key);
    if (position === undefined) return undefined;
    const removed = this.#entries[position];
    const last = this.#entries.pop();
    this.#positions.delete(key);
    if (last !== undefined && position < this.#entries.length) {
      this.#place(last, position);
      this.#settle(position);
    }
    return removed;
  }

  #settle(position: number): void {
    this.#siftDown(this.#siftUp(position));
  }

  #siftUp(start: number): number {
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#less(position, parent)) break;
      this.#swap(position, parent);
      position = parent;
    }
    return position;
  }

  #siftDown(start: number): void {
    let position = start;
    for (;;) {
      let least = position;
      for (const child of [2 * position + 1, 2 * position + 2]) {
        if (child < this.#entries.length && this.#less(child, least)) least = child;
      }
      if (least === position) return;
      this.#swap(position, least);
      position = least;
    }
  }

  #less(a: number, b: number): boolean {
    const left = this.#entries[a];
    const right = this.#entries[b];
    return left !== undefined && right !== undefined && this.#compare(left, right) < 0;
  }

  #swap(a: number, b: number): void {
    const left = this.#entries[a];
    const right = this.#entries[b];
    if (left === undefined || right === undefined) return;
    this.#place(right, a);
    this.#place(left, b);
  }

  #place(entry: T, position: number): void {
    this.#entries[position] = entry;
    this.#positions.set(this.#keyOf(entry), position);
  }
}
