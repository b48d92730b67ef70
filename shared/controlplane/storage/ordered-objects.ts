import type { StoredObject } from './stored-object.ts';

/** The objects of one namespace by name, and in the order of their names. */
export interface OrderedObjects {
  get(name: string): StoredObject | undefined;
  set(stored: StoredObject): void;
  delete(name: string): void;
  size(): number;
  /** A snapshot, the same one until something changes. What was written since the last is merged into it, nothing sorted anew. */
  list(): readonly StoredObject[];
}

const NOTES_MIN = 1000;

export function createOrderedObjects(namespace: string): OrderedObjects {
  const byName = new Map<string, StoredObject>();
  let snapshot: readonly StoredObject[] = [];
  const changed = new Set<string>();
  const note = (name: string): void => {
    changed.add(name);
    if (changed.size <= NOTES_MIN + 2 * byName.size) return;
    // Nobody lists here. What is gone need not be remembered for ever.
    snapshot = [];
    changed.clear();
    for (const present of byName.keys()) changed.add(present);
  };
  return {
    get: (name) => byName.get(name),
    set: (stored) => {
      byName.set(stored.name, stored);
      note(stored.name);
    },
    delete: (name) => {
      byName.delete(name);
      note(name);
    },
    size: () => byName.size,
    list: () => {
      if (changed.size === 0) return snapshot;
      const changes = Array.from(changed, (name): Change => ({ namespace, name, now: byName.get(name) }));
      changed.clear();
      return (snapshot = withChanges(snapshot, changes));
    },
  };
}

type Key = Pick<StoredObject, 'namespace' | 'name'>;
/** What is to be under a key; undefined: nothing. */
export type Change = Key & { readonly now: StoredObject | undefined };

/** Orders as the storage keys `namespace/name` do: `ns-two/` comes before `ns/`. */
export const compareKeys = (a: Key, b: Key): number => {
  if (a.namespace === b.namespace) return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  return `${a.namespace}/` < `${b.namespace}/` ? -1 : 1;
};

/** A list in the order of the keys with changes to different keys made in it. */
export function withChanges(sorted: readonly StoredObject[], changes: Change[]): StoredObject[] {
  const result: StoredObject[] = [];
  let next = 0;
  for (const change of changes.sort(compareKeys)) {
    for (const end = firstNotBefore(sorted, change, next); next < end; next++) push(result, sorted[next]);
    const there = sorted[next];
    if (there !== undefined && compareKeys(there, change) === 0) next++;
    push(result, change.now);
  }
  for (; next < sorted.length; next++) push(result, sorted[next]);
  return result;
}

const push = (list: StoredObject[], stored: StoredObject | undefined): void => {
  if (stored !== undefined) list.push(stored);
};

function firstNotBefore(sorted: readonly StoredObject[], key: Key, from: number): number {
  let low = from;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = sorted[middle];
    if (there !== undefined && compareKeys(there, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
