import type { KubeObject } from '../shared/api/kubernetes.ts';
import { isForbidden } from '../shared/kube/api-error.ts';
import { createInformer, type Informer, type InformerOptions } from '../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../shared/kube/informer-of-namespaces.ts';
import type { Logger } from '../shared/runtime/logger.ts';

/**
 * What a worker has in its caches: all namespaces, or those that it is bound to, each listed and watched by itself. Of the latter one that
 * it may not read, as after its Role was deleted there, holds up no other: the worker begins without it, and takes it in as soon as it may
 * read it.
 */
export interface WatchedNamespaces {
  informerOf<T extends KubeObject>(options: InformerOptions<T>): Informer<T>;
  /** Resolves when all is in the caches that the worker may read. Call once. */
  filled(): Promise<void>;
  /** Whether all that it looks for in this namespace is in the caches. */
  isFilled(namespace: string): boolean;
  /** Namespaces that it may not read, as far as it has been told. */
  unreadable(): readonly string[];
  /** What it waits for before it can work anywhere; undefined: for nothing. */
  problem(): string | undefined;
}

type Part = {
  readonly resource: string;
  /** '' where it is all of them. */
  readonly namespace: string;
  readonly informer: Pick<Informer<KubeObject>, 'hasSynced' | 'waitForSync'>;
  readonly refusedOnce: PromiseWithResolvers<void>;
  isRefused: boolean;
};

/** `namespaces` empty: all. `onTakenIn` hears of each one that could not be read at first, and is in the caches now. */
export function createWatchedNamespaces(
  namespaces: readonly string[],
  log: Logger,
  onTakenIn: (namespace: string) => void,
): WatchedNamespaces {
  const parts: Part[] = [];
  const unreadable = new Set<string>();
  const isFilled = (namespace: string): boolean =>
    (namespaces.length === 0 || namespaces.includes(namespace)) &&
    parts.every((part) => (part.namespace !== '' && part.namespace !== namespace) || part.informer.hasSynced());

  function watch<T extends KubeObject>(options: InformerOptions<T>, namespace: string): Informer<T> {
    const { client } = options;
    const informer = createInformer({
      ...options,
      namespace,
      client: {
        get: (resource, key, how) => client.get(resource, key, how),
        list: (resource, how) => noting(part, () => client.list(resource, how)),
        watch: (resource, how) => noting(part, () => client.watch(resource, how)),
      },
    });
    const part: Part = {
      resource: options.resource.plural,
      namespace,
      informer,
      refusedOnce: Promise.withResolvers(),
      isRefused: false,
    };
    parts.push(part);
    return informer;
  }

  async function noting<Answer>(part: Part, call: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await call();
      part.isRefused = false;
      noteReadable(part.namespace);
      return answer;
    } catch (error) {
      if (isForbidden(error)) refused(part, error);
      throw error;
    }
  }

  function refused(part: Part, error: Error): void {
    const { namespace, refusedOnce } = part;
    part.isRefused = true;
    refusedOnce.resolve();
    if (unreadable.has(namespace)) return;
    unreadable.add(namespace);
    log.warn(
      'a namespace of --namespace may not be read, and its Jobs wait until it may: grant the rights there (chart switchyard-worker: config.namespaces), or take it off the list',
      { namespace, resource: part.resource, error },
    );
  }

  function noteReadable(namespace: string): void {
    if (!unreadable.has(namespace) || parts.some((part) => part.namespace === namespace && part.isRefused)) return;
    unreadable.delete(namespace);
    log.info('a namespace of --namespace may be read again', { namespace });
  }

  return {
    informerOf(options) {
      if (namespaces.length > 0) return createInformerOfNamespaces(options.resource, namespaces, (each) => watch(options, each));
      const informer = createInformer(options);
      const { plural: resource } = options.resource;
      parts.push({ resource, namespace: '', informer, refusedOnce: Promise.withResolvers(), isRefused: false });
      return informer;
    },
    async filled() {
      await Promise.all(parts.map(({ informer, refusedOnce }) => Promise.race([informer.waitForSync(), refusedOnce.promise])));
      for (const { informer, namespace } of parts.filter((part) => !part.informer.hasSynced()))
        void informer.waitForSync().then(() => (isFilled(namespace) ? onTakenIn(namespace) : undefined));
    },
    isFilled,
    unreadable: () => [...unreadable],
    problem() {
      const empty = parts.filter(({ informer, isRefused }) => !informer.hasSynced() && !isRefused);
      if (empty.length > 0) return `the cache of ${[...new Set(empty.map(({ resource }) => resource))].join(' and ')} is not filled yet`;
      if (namespaces.length === 0 || namespaces.some(isFilled)) return undefined;
      return `none of the namespaces of --namespace may be read: ${namespaces.join(', ')}`;
    },
  };
}
