import { referenceKey } from '../../api/pod-references.ts';
import type { Workload } from '../workload/workload.ts';

/** Pending Workloads by the objects that their pods refer to or need. */
export interface ReferenceIndex {
  /** The Workload `key` is pending as `now`; undefined: it is not pending. */
  set(key: string, now: Workload | undefined): void;
  /** Keys of the Workloads that refer to the object; without `referenceKey`: to any object of the namespace; without both: to any. */
  of(namespace: string | undefined, referenceKey: string | undefined): readonly string[];
  has(namespace: string, referenceKey: string): boolean;
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
      if (now === undefined || now.references.length + now.needs.length === 0) return;
      const { namespace, references, needs } = now;
      const all = [ANYWHERE, namespace, ...[...references, ...needs].map((each) => `${namespace}/${referenceKey(each)}`)];
      places.set(key, all);
      for (const place of all) keys.set(place, (keys.get(place) ?? new Set()).add(key));
    },
    of: (namespace = ANYWHERE, reference) => [...(keys.get(reference === undefined ? namespace : `${namespace}/${reference}`) ?? [])],
    has: (namespace, reference) => keys.has(`${namespace}/${reference}`),
  };
}

/** No namespace has this name. */
const ANYWHERE = '';
