import type { DeepReadonly, KubeObject, ObjectKey } from '../api/kubernetes.ts';
import { formatKey, keyOfObject } from './keys.ts';

/** The values under which an object is found in one index; the object is listed under each of them. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** Reading a cache. Nothing here makes an API call. Returned objects are shared: nobody may change them. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
}

/** A cache of one resource with its indexes: the write side of a {@link Lister}. */
export interface ObjectCache<T extends KubeObject> extends Lister<T> {
  /** Stores an object, in place of the one of its name. */
  set(object: DeepReadonly<T>): void;
  /** Drops the object of this key and returns it. */
  remove(key: string): DeepReadonly<T> | undefined;
  byKey(key: string): DeepReadonly<T> | undefined;
  keys(): Iterable<string>;
  size(): number;
}

/** An empty cache. Every index costs one set entry per object and value. */
export function createObjectCache<T extends KubeObject>(indexers: Readonly<Record<string, IndexFunction<T>>> = {}): ObjectCache<T> {
  const objects = new Map<string, DeepReadonly<T>>();
  const byNamespace = new Index<T>((object) => [object.metadata.namespace ?? '']);
  const indexes = new Map(Object.entries(indexers).map(([name, values]) => [name, new Index<T>(values)]));
  const all = [byNamespace, ...indexes.values()];

  return {
    get: (key) => objects.get(formatKey(key)),
    list: (namespace) => (namespace === undefined || namespace === '' ? [...objects.values()] : byNamespace.of(namespace)),
    byIndex(name, value) {
      const index = indexes.get(name);
      if (index === undefined) throw new Error(`the cache has no index ${JSON.stringify(name)}`);
      return index.of(value);
    },
    set(object) {
      const key = keyOfObject(object);
      const previous = objects.get(key);
      objects.set(key, object);
      for (const index of all) index.replace(previous, object);
    },
    remove(key) {
      const previous = objects.get(key);
      if (previous === undefined) return undefined;
      objects.delete(key);
      for (const index of all) index.replace(previous, undefined);
      return previous;
    },
    byKey: (key) => objects.get(key),
    keys: () => objects.keys(),
    size: () => objects.size,
  };
}

class Index<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #objects = new Map<string, Set<DeepReadonly<T>>>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  of(value: string): readonly DeepReadonly<T>[] {
    const found = this.#objects.get(value);
    return found === undefined ? [] : [...found];
  }

  replace(previous: DeepReadonly<T> | undefined, next: DeepReadonly<T> | undefined): void {
    if (previous !== undefined) {
      for (const value of this.#valuesOf(previous)) this.#remove(value, previous);
    }
    if (next !== undefined) {
      for (const value of this.#valuesOf(next)) this.#add(value, next);
    }
  }

  #add(value: string, object: DeepReadonly<T>): void {
    const found = this.#objects.get(value);
    if (found === undefined) this.#objects.set(value, new Set([object]));
    else found.add(object);
  }

  #remove(value: string, object: DeepReadonly<T>): void {
    const found = this.#objects.get(value);
    found?.delete(object);
    if (found?.size === 0) this.#objects.delete(value);
  }
}
