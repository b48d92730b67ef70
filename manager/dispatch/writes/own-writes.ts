import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { isOlder } from '../../../shared/kube/resource-version.ts';

/**
 * What we have just written and the informer has not yet seen, in front of its cache. Without it a decision made between our write and
 * its watch event would be made once more.
 *
 * A write is forgotten as soon as the cache has processed the version that the server gave it, whatever became of the object since.
 */
export interface OwnWrites<T extends KubeObject> {
  /** An object as the server returned it; `name` is what it is looked up by. */
  wrote(name: string, object: T): void;
  /** Our deletion of the object was accepted. */
  deleted(name: string, object: DeepReadonly<T>): void;
  /** The newest known states of the objects of this name, given those in the cache. */
  overlay(name: string, cached: readonly DeepReadonly<T>[]): readonly DeepReadonly<T>[];
  isDeleted(uid: string): boolean;
  /**
   * Forgets the deletions of which the cache has shown nothing since the call before, and returns the names of these objects. A server that was restored from a backup
   * has the object again, and where it is not known that it was restored, the deletion must be made once more.
   */
  forgetUnseen(): string[];
}

/** Call before the informer runs. */
export function createOwnWrites<T extends KubeObject>(informer: Informer<T>): OwnWrites<T> {
  const written = new Map<string, DeepReadonly<T>>();
  const deletedUids = new Map<string, { readonly name: string; readonly object: DeepReadonly<T>; isAwaited: boolean }>();
  informer.addHandler({ deleted: (object) => deletedUids.delete(object.metadata.uid) });
  const isCached = ({ metadata }: DeepReadonly<T>): boolean => informer.get(objectKey({ metadata }))?.metadata.uid === metadata.uid;
  /** Nobody will tell of its deletion any more. */
  const dropWritten = (name: string): void => {
    const own = written.get(name);
    written.delete(name);
    if (own !== undefined && !isCached(own)) deletedUids.delete(own.metadata.uid);
  };
  return {
    wrote(name, object) {
      if (written.get(name)?.metadata.uid !== object.metadata.uid) dropWritten(name);
      written.set(name, readOnly(object));
    },
    deleted(name, object) {
      const { uid } = object.metadata;
      // Where the cache has lost it already, there is nothing to remember.
      if (isCached(object) || written.get(name)?.metadata.uid === uid) deletedUids.set(uid, { name, object, isAwaited: false });
    },
    isDeleted: (uid) => deletedUids.has(uid),
    forgetUnseen() {
      const names: string[] = [];
      for (const [uid, deletion] of deletedUids) {
        if (informer.get(objectKey(deletion.object))?.metadata.deletionTimestamp !== undefined) continue;
        if (deletion.isAwaited && deletedUids.delete(uid)) names.push(deletion.name);
        deletion.isAwaited = true;
      }
      return names;
    },
    overlay(name, cached) {
      const own = written.get(name);
      if (own === undefined) return cached;
      if (!isOlder(informer.lastResourceVersion(own.metadata.namespace), own.metadata.resourceVersion)) {
        dropWritten(name);
        return cached;
      }
      return [...cached.filter(({ metadata }) => metadata.uid !== own.metadata.uid), own];
    },
  };
}

const readOnly = <T>(object: T): DeepReadonly<T> => object as DeepReadonly<T>;
