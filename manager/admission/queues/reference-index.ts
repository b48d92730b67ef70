import { createInvertedIndex } from '../../../shared/runtime/inverted-index.ts';
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
  const byPlace = createInvertedIndex();
  return {
    set: (key, now) => byPlace.set(key, now === undefined ? [] : placesOf(now)),
    of: (namespace = ANYWHERE, reference) => byPlace.of(reference === undefined ? namespace : `${namespace}/${reference}`),
    has: (namespace, reference) => byPlace.has(`${namespace}/${reference}`),
  };
}

function placesOf({ namespace, references, needs }: Workload): readonly string[] {
  if (references.length + needs.length === 0) return [];
  return [ANYWHERE, namespace, ...[...references, ...needs].map((each) => `${namespace}/${referenceKey(each)}`)];
}

/** No namespace has this name. */
const ANYWHERE = '';
