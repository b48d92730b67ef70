/** An entry and where it stands. What moves in the heap is the slot, so that a move costs no look-up by key. */
type Slot<T> = { readonly key: string; entry: T; position: number };

/** A binary heap whose entries can be found, replaced and removed by key in logarithmic time. The least entry is on top. */
export class IndexedHeap<T> {
  readonly #keyOf: (entry: T) => string;
  readonly #compare: (a: T, b: T) => number;
  readonly #slots: Slot<T>[] = [];
  readonly #byKey = new Map<string, Slot<T>>();

  constructor(keyOf: (entry: T) => string, compare: (a: T, b: T) => number) {
    this.#keyOf = keyOf;
    this.#compare = compare;
  }

  get size(): number {
    return this.#slots.length;
  }

  peek(): T | undefined {
    return this.#slots[0]?.entry;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  get(key: string): T | undefined {
    return this.#byKey.get(key)?.entry;
  }

  /** All entries, in no particular order. */
  *values(): IterableIterator<T> {
    for (const { entry } of this.#slots) yield entry;
  }

  /** Adds the entry, or replaces the one with its key. Call it also when an entry's rank has changed. */
  set(entry: T): void {
    const key = this.#keyOf(entry);
    let slot = this.#byKey.get(key);
    if (slot === undefined) {
      slot = { key, entry, position: this.#slots.length };
      this.#byKey.set(key, slot);
    } else slot.entry = entry;
    this.#sift(slot, slot.position);
  }

  delete(key: string): T | undefined {
    const slot = this.#byKey.get(key);
    if (slot === undefined) return undefined;
    this.#byKey.delete(key);
    const last = this.#slots.pop();
    if (last !== undefined && last !== slot) this.#sift(last, slot.position);
    return slot.entry;
  }

  clear(): void {
    this.#slots.length = 0;
    this.#byKey.clear();
  }

  /** Puts the slot where it belongs, beginning at a position that is free for it: first up, then down. */
  #sift(slot: Slot<T>, free: number): void {
    this.#place(slot, this.#makeRoomBelow(slot.entry, this.#makeRoomAbove(slot.entry, free)));
  }

  /** Moves down what must stand below the entry, and returns the position that has become free. */
  #makeRoomAbove(entry: T, free: number): number {
    let position = free;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = this.#slots[parentPosition];
      if (parent === undefined || this.#compare(entry, parent.entry) >= 0) break;
      this.#place(parent, position);
      position = parentPosition;
    }
    return position;
  }

  /** Moves up what must stand above the entry, and returns the position that has become free. */
  #makeRoomBelow(entry: T, free: number): number {
    let position = free;
    for (;;) {
      const childPosition = this.#lesserChild(position);
      const child = this.#slots[childPosition];
      if (child === undefined || this.#compare(entry, child.entry) <= 0) return position;
      this.#place(child, position);
      position = childPosition;
    }
  }

  #lesserChild(position: number): number {
    const leftPosition = 2 * position + 1;
    const left = this.#slots[leftPosition];
    const right = this.#slots[leftPosition + 1];
    return left !== undefined && right !== undefined && this.#compare(right.entry, left.entry) < 0 ? leftPosition + 1 : leftPosition;
  }

  #place(slot: Slot<T>, position: number): void {
    this.#slots[position] = slot;
    slot.position = position;
  }
}
