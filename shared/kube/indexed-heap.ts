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
    this.#sift(entry, this.#positions.get(this.#keyOf(entry)) ?? this.#entries.length);
  }

  delete(key: string): T | undefined {
    const position = this.#positions.get(key);
    if (position === undefined) return undefined;
    const removed = this.#entries[position];
    const last = this.#entries.pop();
    this.#positions.delete(key);
    if (last !== undefined && position < this.#entries.length) this.#sift(last, position);
    return removed;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#positions.clear();
  }

  /** Puts the entry where it belongs, beginning at a place that is free for it: first up, then down. */
  #sift(entry: T, free: number): void {
    this.#place(entry, this.#makeRoomBelow(entry, this.#makeRoomAbove(entry, free)));
  }

  /** Moves down what must stand below the entry, and returns the place that has become free. */
  #makeRoomAbove(entry: T, free: number): number {
    let position = free;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = this.#entries[parentPosition];
      if (parent === undefined || this.#compare(entry, parent) >= 0) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    return position;
  }

  #makeRoomBelow(entry: T, free: number): number {
    let position = free;
    for (;;) {
      let childPosition = 2 * position + 1;
      let child = this.#entries[childPosition];
      if (child === undefined) return position;
      const right = this.#entries[childPosition + 1];
      if (right !== undefined && this.#compare(right, child) < 0) {
        childPosition++;
        child = right;
      }
      if (this.#compare(entry, child) <= 0) return position;
      this.#place(child, position);
      position = childPosition;
    }
  }

  #place(entry: T, position: number): void {
    this.#entries[position] = entry;
    this.#positions.set(this.#keyOf(entry), position);
  }
}
