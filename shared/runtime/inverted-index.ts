/** Keys by terms: which keys have a term is found without a scan of all keys. */
export interface InvertedIndex {
  /** Replaces the terms of a key. A key without terms is forgotten. */
  set(key: string, terms: readonly string[]): void;
  /** The keys that have this term. */
  of(term: string): readonly string[];
  has(term: string): boolean;
  keys(): Iterable<string>;
}

export function createInvertedIndex(): InvertedIndex {
  const termsOf = new Map<string, readonly string[]>();
  const keysOf = new Map<string, Set<string>>();
  return {
    set(key, terms) {
      const before = termsOf.get(key) ?? [];
      if (before.length === terms.length && before.every((term, index) => term === terms[index])) return;
      for (const term of before) {
        const keys = keysOf.get(term);
        keys?.delete(key);
        if (keys?.size === 0) keysOf.delete(term);
      }
      for (const term of terms) {
        const keys = keysOf.get(term);
        if (keys === undefined) keysOf.set(term, new Set([key]));
        else keys.add(key);
      }
      if (terms.length === 0) termsOf.delete(key);
      else termsOf.set(key, terms);
    },
    of: (term) => [...(keysOf.get(term) ?? [])],
    has: (term) => keysOf.has(term),
    keys: () => termsOf.keys(),
  };
}
