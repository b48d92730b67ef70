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
  return new Namespaces(namespaces, log, onTakenIn);
}

class Namespaces implements WatchedNamespaces {
  readonly #namespaces: readonly string[];
  readonly #log: Logger;
  readonly #onTakenIn: (namespace: string) => void;
  readonly #parts: Part[] = [];
  readonly #unreadable = new Set<string>();

  constructor(namespaces: readonly string[], log: Logger, onTakenIn: (namespace: string) => void) {
    this.#namespaces = namespaces;
    this.#log = log;
    this.#onTakenIn = onTakenIn;
  }

  informerOf<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
    if (this.#namespaces.length > 0)
      return createInformerOfNamespaces(options.resource, this.#namespaces, (each) => this.#watch(options, each));
    const informer = createInformer(options);
    const { plural: resource } = options.resource;
    this.#parts.push({ resource, namespace: '', informer, refusedOnce: Promise.withResolvers(), isRefused: false });
    return informer;
  }

  #watch<T extends KubeObject>(options: InformerOptions<T>, namespace: string): Informer<T> {
    const { client } = options;
    const informer = createInformer({
      ...options,
      namespace,
      client: {
        get: (resource, key, how) => client.get(resource, key, how),
        list: (resource, how) => this.#noting(part, () => client.list(resource, how)),
        watch: (resource, how) => this.#noting(part, () => client.watch(resource, how)),
      },
    });
    const part: Part = {
      resource: options.resource.plural,
      namespace,
      informer,
      refusedOnce: Promise.withResolvers(),
      isRefused: false,
    };
    this.#parts.push(part);
    return informer;
  }

  async #noting<Answer>(part: Part, call: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await call();
      part.isRefused = false;
      this.#noteReadable(part.namespace);
      return answer;
    } catch (error) {
      if (isForbidden(error)) this.#refused(part, error);
      throw error;
    }
  }

  #noteReadable(namespace: string): void {
    if (!this.#unreadable.has(namespace) || this.#parts.some((part) => part.namespace === namespace && part.isRefused)) return;
    this.#unreadable.delete(namespace);
    this.#log.info('a namespace of --namespace may be read again', { namespace });
  }

  #refused(part: Part, error: Error): void {
    const { namespace, refusedOnce } = part;
    part.isRefused = true;
    refusedOnce.resolve();
    if (this.#unreadable.has(namespace)) return;
    this.#unreadable.add(namespace);
    this.#log.warn(
      'a namespace of --namespace may not be read, and its Jobs wait until it may: grant the rights there (chart switchyard-worker: config.namespaces), or take it off the list',
      { namespace, resource: part.resource, error },
    );
  }

  async filled(): Promise<void> {
    await Promise.all(this.#parts.map(({ informer, refusedOnce }) => Promise.race([informer.waitForSync(), refusedOnce.promise])));
    for (const { informer, namespace } of this.#parts.filter((part) => !part.informer.hasSynced()))
      void informer.waitForSync().then(() => (this.isFilled(namespace) ? this.#onTakenIn(namespace) : undefined));
  }

  isFilled(namespace: string): boolean {
    return (
      (this.#namespaces.length === 0 || this.#namespaces.includes(namespace)) &&
      this.#parts.every((part) => (part.namespace !== '' && part.namespace !== namespace) || part.informer.hasSynced())
    );
  }

  unreadable(): readonly string[] {
    return [...this.#unreadable];
  }

  problem(): string | undefined {
    const empty = this.#parts.filter(({ informer, isRefused }) => !informer.hasSynced() && !isRefused);
    if (empty.length > 0) return `the cache of ${[...new Set(empty.map(({ resource }) => resource))].join(' and ')} is not filled yet`;
    if (this.#namespaces.length === 0 || this.#namespaces.some((namespace) => this.isFilled(namespace))) return undefined;
    return `none of the namespaces of --namespace may be read: ${this.#namespaces.join(', ')}`;
  }
}
