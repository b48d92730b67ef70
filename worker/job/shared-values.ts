/**
 * Equal values kept once. The pods of a Job differ in little: without this each of a hundred thousand would hold its own
 * copy of the owner's name, of the labels' values, of the node's name.
 */
export interface SharedValues {
  /** The first text that was equal to this one. */
  text(value: string): string;
  /** What was made first under this key, which must tell all of its content. It is never changed, as everything in a cache. */
  value<T extends object>(key: string, make: () => T): T;
}

/** The memory forgets everything when it is full: sharing starts anew, and what is in use stays with its users. */
const ENTRIES_MAX = 10_000;

export function createSharedValues(): SharedValues {
  const texts = new Map<string, string>();
  const values = new Map<string, object>();
  return {
    text: (value) => firstOf(texts, value, () => value),
    // Keys of different kinds of values do not collide: see where they are made.
    value: <T extends object>(key: string, make: () => T) => firstOf(values, key, make) as T,
  };
}

function firstOf<V>(known: Map<string, V>, key: string, make: () => V): V {
  const first = known.get(key);
  if (first !== undefined) return first;
  if (known.size >= ENTRIES_MAX) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}
