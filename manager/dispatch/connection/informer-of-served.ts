import type { DeepReadonly, KubeObject, ObjectKey, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient, WatchClient } from '../../../shared/kube/client.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../../../shared/kube/informer-of-namespaces.ts';
import { parseQualifiedName } from '../../work-kind/qualified-name.ts';
import type { ClusterView, Contact } from '../mirror/mirror-group.ts';
import type { ServedKinds } from './served-kinds.ts';

/**
 * An informer over the served namespaces of a worker cluster. A namespace in which the manager may not list, as after its Role was deleted
 * there, does not keep the others from being synced. Its last known objects stay in the cache, and it is listed again with back-off.
 */
export interface InformerOfServed<T extends KubeObject> extends Informer<T> {
  /** The namespaces whose last list or watch was forbidden, in the order of `namespaces`. */
  unreadable(): readonly string[];
  /** Whether the cache of this namespace is complete, and kept up to date. */
  isKnown(namespace: string): boolean;
}

/**
 * `create` makes the informer of one namespace with this client. `onChanged` is called when a namespace becomes unreadable, when it becomes
 * readable, and when it is synced after that.
 */
export function createInformerOfServed<T extends KubeObject>(
  resource: Resource<T>,
  namespaces: readonly string[],
  client: ReadClient & WatchClient,
  create: (namespace: string, client: ReadClient & WatchClient) => Informer<T>,
  onChanged: () => void,
): InformerOfServed<T> {
  const parts = new Map<string, Informer<T>>();
  const refused = new Set<string>();
  const onceRefused = new Set<string>();
  let changed = Promise.withResolvers<void>();
  const all = createInformerOfNamespaces(resource, namespaces, (namespace) => {
    const part = create(namespace, noting(namespace));
    parts.set(namespace, part);
    return part;
  });
  const readable = (): Informer<T>[] => [...parts].flatMap(([namespace, part]) => (refused.has(namespace) ? [] : [part]));
  const hasSynced = (): boolean => readable().length > 0 && readable().every((part) => part.hasSynced());

  function change(): void {
    changed.resolve();
    changed = Promise.withResolvers();
    onChanged();
  }

  function noting(namespace: string): ReadClient & WatchClient {
    const noted = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
      try {
        const answer = await call();
        if (refused.delete(namespace)) change();
        return answer;
      } catch (error) {
        if (isForbidden(error) && !refused.has(namespace)) {
          refused.add(namespace);
          onceRefused.add(namespace);
          change();
        }
        throw error;
      }
    };
    return {
      get: (...question) => client.get(...question),
      list: (...question) => noted(() => client.list(...question)),
      watch: (...question) => noted(() => client.watch(...question)),
    };
  }

  /** A namespace that becomes readable is known only once its first list is complete. */
  const tellOfLate = (namespace: string, part: Informer<T>, signal: AbortSignal): Promise<void> =>
    part.waitForSync(signal).then(
      () => {
        if (onceRefused.has(namespace)) change();
      },
      () => undefined, // The signal has aborted.
    );

  return {
    ...all,
    unreadable: () => [...parts.keys()].filter((namespace) => refused.has(namespace)),
    isKnown: (namespace) => !refused.has(namespace) && parts.get(namespace)?.hasSynced() === true,
    async run(signal) {
      await Promise.all([all.run(signal), ...[...parts].map(([namespace, part]) => tellOfLate(namespace, part, signal))]);
    },
    hasSynced,
    async waitForSync(signal) {
      while (!hasSynced()) {
        signal?.throwIfAborted();
        const unsynced = [...parts.values()].filter((part) => !part.hasSynced());
        await Promise.race([changed.promise, ...unsynced.map((part) => part.waitForSync(signal))]);
      }
    },
    lastHeardMs: () => (readable().length === 0 ? all.lastHeardMs() : Math.min(...readable().map((part) => part.lastHeardMs()))),
  };
}

/** The namespaces of a cluster, by whether their copies are known. */
export interface Served extends Pick<InformerOfServed<WorkObject>, 'unreadable' | 'isKnown'> {
  readonly kinds: Pick<ServedKinds, 'names' | 'isServed'>;
  /**
   * The copies that were there last in namespaces that are unreadable now. Nothing can be put in order there, so that one of them that is
   * out of place holds back the answer to a fence token.
   */
  unlisted(): readonly DeepReadonly<WorkObject>[];
  /** The newest resourceVersion of each namespace, '' being all of them. */
  versions(): ReadonlyMap<string, string>;
}

/** `parts`: the informers of each kind, over which `copies` is. */
export function servedBy(
  copies: Informer<WorkObject>,
  parts: readonly (Informer<WorkObject> | InformerOfServed<WorkObject>)[],
  namespaces: readonly string[] | undefined,
  kinds: Pick<ServedKinds, 'names' | 'isServed'>,
): Served {
  const unreadable = (): readonly string[] => [...new Set(parts.flatMap((part) => ('unreadable' in part ? part.unreadable() : [])))];
  return {
    kinds,
    unreadable,
    isKnown: (namespace) => parts.every((part) => ('isKnown' in part ? part.isKnown(namespace) : part.hasSynced())),
    unlisted: () => unreadable().flatMap((namespace) => copies.list(namespace)),
    versions: () => new Map((namespaces ?? ['']).map((namespace) => [namespace, copies.lastResourceVersion(namespace)])),
  };
}

/**
 * The contact with the place of one object. A cluster that is lost is lost with all of its namespaces: its worker stops the copies. A kind
 * that it does not serve cannot be read there.
 */
export function contactIn(served: Served, { namespace, name }: ObjectKey, contact: Contact): ClusterView['contact'] {
  if (contact !== 'Ready') return contact;
  if (!served.kinds.isServed(parseQualifiedName(name).qualifier)) return 'Unreadable';
  if (served.isKnown(namespace)) return contact;
  return served.unreadable().includes(namespace) ? 'Unreadable' : 'Connecting';
}
