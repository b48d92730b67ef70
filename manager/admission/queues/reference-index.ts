import { referenceKey } from '../../api/pod-references.ts';
import type { Workload } from '../workload/workload.ts';

/** Pending Workloads by the objects that their pods refer to. */
export interface ReferenceIndex {
  /** The Workload `key` is pending as `now`; undefined: it is not pending. */
  set(key: string, now: Workload | undefined): void;
  /** Keys of the Workloads that refer to the object; without `referenceKey`: to any object of the namespace. */
  of(namespace: string, referenceKey: string | undefined): readonly string[];
}

export function createReferenceIndex(): ReferenceIndex {
  const places = new Map<string, readonly string[]>();
  const keys = new Map<string, Set<string>>();
  return {
    set(key, now) {
      for (const place of places.get(key) ?? []) {
        const known = keys.get(place);
        known?.delete(key);
        if (known?.size === 0) keys.delete(place);
      }
      places.delete(key);
      if (now === undefined || now.references.length === 0) return;
      const { namespace, references } = now;
      const all = [namespace, ...references.map((reference) => `${namespace}/${referenceKey(reference)}`)];
      places.set(key, all);
      for (const place of all) keys.set(place, (keys.get(place) ?? new Set()).add(key));
    },
    of: (namespace, reference) => [...(keys.get(reference === undefined ? namespace : `${namespace}/${reference}`) ?? [])],
  };
}
