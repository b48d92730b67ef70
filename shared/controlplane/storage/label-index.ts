import type { StoredObject } from './stored-object.ts';

/**
 * Finds objects by the value of a label. A label key is indexed from the first time that it is asked for: a control
 * plane lists by few of the labels that its objects carry.
 */
export interface LabelIndex {
  /** Objects whose label `key` is one of `values`; `all` is read when the key is not indexed yet. */
  find(key: string, values: readonly string[], all: () => readonly StoredObject[]): StoredObject[];
  /** Follows a write: an object is added, replaced, or taken out. */
  replace(previous: StoredObject | undefined, next: StoredObject | undefined): void;
}

export function createLabelIndex(): LabelIndex {
  const keys = new Map<string, Map<string, Map<string, StoredObject>>>();

  const add = (byValue: Map<string, Map<string, StoredObject>>, value: string, stored: StoredObject): void => {
    let objects = byValue.get(value);
    if (objects === undefined) byValue.set(value, (objects = new Map()));
    objects.set(`${stored.namespace}/${stored.name}`, stored);
  };
  const drop = (byValue: Map<string, Map<string, StoredObject>>, value: string, stored: StoredObject): void => {
    const objects = byValue.get(value);
    objects?.delete(`${stored.namespace}/${stored.name}`);
    if (objects?.size === 0) byValue.delete(value);
  };
  const indexed = (key: string, all: () => readonly StoredObject[]): Map<string, Map<string, StoredObject>> => {
    let byValue = keys.get(key);
    if (byValue === undefined) {
      keys.set(key, (byValue = new Map()));
      for (const stored of all()) {
        const value = stored.object.metadata.labels?.[key];
        if (value !== undefined) add(byValue, value, stored);
      }
    }
    return byValue;
  };

  return {
    find: (key, values, all) => {
      const byValue = indexed(key, all);
      return [...new Set(values)].flatMap((value) => [...(byValue.get(value)?.values() ?? [])]);
    },
    replace: (previous, next) => {
      for (const [key, byValue] of keys) {
        const before = previous?.object.metadata.labels?.[key];
        const after = next?.object.metadata.labels?.[key];
        if (previous !== undefined && before !== undefined && before !== after) drop(byValue, before, previous);
        if (next !== undefined && after !== undefined) add(byValue, after, next);
      }
    },
  };
}
