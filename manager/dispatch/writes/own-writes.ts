import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { objectKey } from '../../../shared/kube/keys.ts';
import { isOlder } from '../../../shared/kube/resource-version.ts';

/**
 * The writes of this manager that the informer has not seen yet, laid over its cache. Without them a decision made between a write and its
 * watch event would be made again.
 *
 * A write is forgotten once the cache has processed its resourceVersion, whatever happened to the object since.
 */
export interface OwnWrites<T extends KubeObject> {
  /** Records an object as the server returned it; `name` is the key for lookups. */
  wrote(name: string, object: T): void;
  /** Records that the server accepted the deletion of the object. */
  deleted(name: string, object: DeepReadonly<T>): void;
  /** The newest known states of the objects of this name, given those in the cache. */
  overlay(name: string, cached: readonly DeepReadonly<T>[]): readonly DeepReadonly<T>[];
  isDeleted(uid: string): boolean;
  /**
   * Forgets deletions for which the cache has shown no event since the last call, and returns the names of their objects. A server restored
   * from a backup has the object again; where the restore is not detected, the deletion must be repeated.
   */
  forgetUnseen(): string[];
}

/** Call before the informer runs. */
export function createOwnWrites<T extends KubeObject>(informer: Informer<T>): OwnWrites<T> {
  const written = new Map<string, DeepReadonly<T>>();
  const deletedUids = new Map<string, { readonly name: string; readonly object: DeepReadonly<T>; isAwaited: boolean }>();
  informer.addHandler({ deleted: (object) => deletedUids.delete(object.metadata.uid) });
  const isCached = ({ metadata }: DeepReadonly<T>): boolean => informer.get(objectKey({ metadata }))?.metadata.uid === metadata.uid;
  /** The informer never cached this object and will report no deletion of it. */
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
      // The cache has already processed the deletion, so there is nothing to record.
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
      const { namespace, name: ownName, resourceVersion } = own.metadata;
      if (!isOlder(informer.lastResourceVersion(namespace, ownName), resourceVersion)) {
        dropWritten(name);
        return cached;
      }
      return [...cached.filter(({ metadata }) => metadata.uid !== own.metadata.uid), own];
    },
  };
}

const readOnly = <T>(object: T): DeepReadonly<T> => object as DeepReadonly<T>;
