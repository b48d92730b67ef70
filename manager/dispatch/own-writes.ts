import type { DeepReadonly, KubeObject } from '../../shared/api/kubernetes.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';

/**
 * What we have just written and the informer has not yet seen, in front of its cache. Without it a decision made between our write and
 * its watch event would be made once more.
 *
 * A write is forgotten as soon as the cache has processed the version that the server gave it, whatever became of the object since.
 */
export interface OwnWrites<T extends KubeObject> {
  /** An object as the server returned it; `name` is what it is looked up by. */
  wrote(name: string, object: T): void;
  /** Our deletion of the object with this UID was accepted. */
  deleted(uid: string): void;
  /** The newest known states of the objects of this name, given those in the cache. */
  overlay(name: string, cached: readonly DeepReadonly<T>[]): readonly DeepReadonly<T>[];
  isDeleted(uid: string): boolean;
}

/** Call before the informer runs. */
export function createOwnWrites<T extends KubeObject>(informer: Informer<T>): OwnWrites<T> {
  const written = new Map<string, DeepReadonly<T>>();
  const deletedUids = new Set<string>();
  informer.addHandler({ deleted: (object) => deletedUids.delete(object.metadata.uid) });
  return {
    wrote: (name, object) => void written.set(name, readOnly(object)),
    deleted: (uid) => void deletedUids.add(uid),
    isDeleted: (uid) => deletedUids.has(uid),
    overlay(name, cached) {
      const own = written.get(name);
      if (own === undefined) return cached;
      if (!isOlder(informer.lastResourceVersion(own.metadata.namespace), own.metadata.resourceVersion)) {
        written.delete(name);
        return cached;
      }
      return [...cached.filter(({ metadata }) => metadata.uid !== own.metadata.uid), own];
    },
  };
}

const readOnly = <T>(object: T): DeepReadonly<T> => object as DeepReadonly<T>;
