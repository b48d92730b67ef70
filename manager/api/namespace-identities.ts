import type { Namespace } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { Informer } from '../../shared/kube/informer.ts';

/** The identity of a namespace, which a later namespace of the same name does not share. */
export type NamespaceIdentity = { readonly name: string; readonly uid: string; readonly createdMs: number };

/** The present namespaces by name. A name can return after its namespace was deleted, perhaps for another tenant; a UID cannot. */
export interface NamespaceIdentities {
  /** Undefined: there is no namespace of that name. */
  of(name: string): NamespaceIdentity | undefined;
  /** Calls `listener` with the name of each namespace that is gone, or replaced by another one, until the returned function is called. */
  onGone(listener: (name: string) => void): () => void;
  /** The number of namespaces that have gone: a result about several namespaces stays valid while this number does. */
  readonly gone: number;
}

/** Call before the informer runs. */
export function createNamespaceIdentities(namespaces: Pick<Informer<Namespace>, 'addHandler' | 'get'>): NamespaceIdentities {
  const listeners = new Set<(name: string) => void>();
  let gone = 0;
  const isGone = (name: string): void => {
    gone++;
    for (const listener of listeners) listener(name);
  };
  namespaces.addHandler({
    updated: (next, previous) => {
      // A list after a gap in the watch shows only the new namespace.
      if (next.metadata.uid !== previous.metadata.uid) isGone(next.metadata.name);
    },
    deleted: ({ metadata }) => isGone(metadata.name),
  });
  return {
    of(name) {
      const metadata = namespaces.get({ namespace: '', name })?.metadata;
      return metadata && { name, uid: metadata.uid, createdMs: parseWireTime(metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY };
    },
    onGone(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get gone() {
      return gone;
    },
  };
}
