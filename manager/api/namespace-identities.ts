import type { Namespace } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { Informer } from '../../shared/kube/informer.ts';

/** A namespace, which another one of the same name is not. */
export type NamespaceIdentity = { readonly name: string; readonly uid: string; readonly createdMs: number };

/** Which namespace a name means now. Names come again after a namespace was deleted, perhaps for another tenant; UIDs do not. */
export interface NamespaceIdentities {
  /** Undefined: there is no namespace of that name. */
  of(name: string): NamespaceIdentity | undefined;
  /** Calls `listener` with the name of each namespace that is gone, or replaced by another one, until the returned function is called. */
  onGone(listener: (name: string) => void): () => void;
  /** How many namespaces have gone so far: what was found out before about several namespaces holds while this stays. */
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
      // A list after a gap in the watch shows the new one alone.
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
