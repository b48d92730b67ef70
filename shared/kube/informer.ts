import type { DeepReadonly, KubeObject, ObjectKey } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WatchEvent } from './client.ts';
import { createObjectCache, type IndexFunction, type Lister, type ObjectCache } from './indexer.ts';
import { keyOfObject } from './keys.ts';
import { memoryOf, type ObjectBudget } from './object-budget.ts';
import { createReflector, type Reflector } from './reflector.ts';
import type { ReflectorOptions, ReflectorSink } from './reflector-options.ts';
import { UnusableAnswer } from './unusable-answer.ts';

export type EventHandler<T> = {
  added?(object: DeepReadonly<T>, isInInitialList: boolean): void;
  updated?(next: DeepReadonly<T>, previous: DeepReadonly<T>): void;
  /** `object` is the last known state; `finalStateUnknown` says that the deletion itself was missed (found on relist). */
  deleted?(object: DeepReadonly<T>, finalStateUnknown: boolean): void;
};

export type InformerOptions<T extends KubeObject> = ReflectorOptions<T> & {
  readonly indexers?: Readonly<Record<string, IndexFunction<T>>>;
  /** Runs on each object before it is cached; default drops managedFields. */
  readonly transform?: (object: T) => T;
  /**
   * Memory that the cache may take, as it was made by `transform`. When it is full the cache is emptied and filled anew later. Absent: any.
   */
  readonly budget?: ObjectBudget;
};

/**
 * A cache of one resource, kept up to date by LIST and WATCH.
 *
 * Promises: the cache converges to the server's state; events of one object arrive in order, each with the
 * cache already updated; an object deleted and recreated under its name is reported as deleted, then added
 * (compared by UID), also when both happened unseen; a lost watch is resumed from the last resourceVersion,
 * for ever, with jittered back-off; 410, and a server that went back in time, lead to a relist that reports
 * missed deletions; a handler that throws is logged and stops nobody.
 *
 * Does not promise: order across objects, every intermediate state, or any event for an object that came
 * and went while the watch was down.
 */
export interface Informer<T extends KubeObject> extends Lister<T> {
  readonly resource: Resource<T>;
  /** Handlers must be added before `run`. */
  addHandler(handler: EventHandler<T>): void;
  /** Lists and watches until `signal` aborts, then resolves. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first list is in the cache and its handlers have run. */
  hasSynced(): boolean;
  /** Resolves when synced, rejects when `signal` aborts first. */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /**
   * The newest resourceVersion the cache has processed: of a list, an event or a bookmark; '' before the first list. With a namespace, of
   * what concerns objects there; with a name, of what concerns that object. It goes back when the server does.
   */
  lastResourceVersion(namespace?: string, name?: string): string;
  /**
   * Resolves when the cache has all that the server had when this was called, with a namespace: had there; see {@link Reflector.catchUp}.
   * Rejects when `signal` aborts first.
   */
  catchUp(signal: AbortSignal, namespace?: string): Promise<void>;
  /** {@link catchUp} is likely to be called soon; see {@link Reflector.willCatchUp}. */
  willCatchUp(): void;
  /**
   * When the server last gave a sign of life on the list or the watch, a bookmark about once a minute being the least; on the clock's
   * `monotonic`.
   */
  lastHeardMs(): number;
}

/** An informer as described by {@link Informer}. Nothing starts before `run`. */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  return new CachingInformer(options);
}

class CachingInformer<T extends KubeObject> implements Informer<T>, ReflectorSink<T> {
  readonly resource: Resource<T>;
  readonly #options: InformerOptions<T>;
  readonly #reflector: Reflector;
  readonly #log: Logger;
  readonly #cache: ObjectCache<T>;
  readonly #handlers: EventHandler<T>[] = [];
  readonly #transform: (object: T) => T;
  /** Keys of the running LIST. */
  #listed = new Set<string>();
  #resourceVersion = '';
  /** The same version of an object may be another one, until all have been listed. */
  #versionsMeanNothing = false;
  #started = false;
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#reflector = createReflector(options, this);
    this.resource = options.resource;
    this.#log = options.log.with({ resource: options.resource.plural });
    this.#cache = createObjectCache(options.indexers);
    this.#transform = options.transform ?? withoutManagedFields;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#cache.get(key);
  }
  list(namespace?: string): readonly DeepReadonly<T>[] {
    return this.#cache.list(namespace);
  }
  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    return this.#cache.byIndex(index, value);
  }

  addHandler(handler: EventHandler<T>): void {
    if (this.#started) throw new Error('handlers must be added before the informer runs');
    this.#handlers.push(handler);
  }

  run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error('an informer runs once');
    this.#started = true;
    return this.#reflector.run(signal);
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  waitForSync(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#synced.promise;
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      void this.#synced.promise.then(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
    });
  }

  lastResourceVersion(): string {
    return this.#resourceVersion;
  }

  catchUp(signal: AbortSignal): Promise<void> {
    return this.#reflector.catchUp(signal);
  }

  willCatchUp(): void {
    this.#reflector.willCatchUp();
  }

  lastHeardMs(): number {
    return this.#reflector.lastHeardMs();
  }

  wentBack(): void {
    this.#versionsMeanNothing = true;
  }

  listStarted(): void {
    this.#listed = new Set();
  }

  page(items: readonly T[]): void {
    const before = this.#listed.size;
    for (const item of items) {
      this.#listed.add(keyOfObject(item));
      this.#store(item);
    }
    // Page by page the same objects would be a list without an end.
    if (items.length > 0 && this.#listed.size === before) throw new UnusableAnswer('NotKubernetes', 'the list repeats itself');
  }

  listEnded(resourceVersion: string): void {
    // All that was listed is there: where there are as many, nothing else is.
    const hasVanished = this.#cache.size() > this.#listed.size;
    const vanished = hasVanished ? [...this.#cache.keys()].filter((key) => !this.#listed.has(key)) : [];
    this.#listed = new Set();
    for (const key of vanished) this.#remove(key, undefined);
    this.#resourceVersion = resourceVersion;
    this.#versionsMeanNothing = false;
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  events(batch: readonly WatchEvent<T>[]): void {
    for (const event of batch) {
      // Before the handlers run, so that they find the cache as new as it says it is.
      this.#resourceVersion = event.object.metadata.resourceVersion;
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') this.#remove(keyOfObject(event.object), event.object);
      else this.#store(event.object);
    }
  }

  #store(incoming: T): void {
    const key = keyOfObject(incoming);
    const previous = this.#cache.byKey(key);
    const { uid, resourceVersion } = incoming.metadata;
    if (previous !== undefined && previous.metadata.uid !== uid) this.#remove(key, undefined);
    else if (previous?.metadata.resourceVersion === resourceVersion && !this.#versionsMeanNothing) return;
    const next = this.#transform(incoming) as DeepReadonly<T>;
    const isUpdate = previous !== undefined && previous.metadata.uid === uid;
    this.#makeRoom(next, isUpdate ? previous : undefined);
    this.#cache.set(next);
    this.#dispatch((handler) => (isUpdate ? handler.updated?.(next, previous) : handler.added?.(next, !this.#hasSynced)));
  }

  /** `final` is the object as the server last had it; without it the deletion itself was missed. */
  #remove(key: string, final: T | undefined): void {
    const known = this.#cache.remove(key);
    if (known === undefined) return;
    this.#options.budget?.add(-memoryOf(known));
    const last = final === undefined ? known : (this.#transform(final) as DeepReadonly<T>);
    this.#dispatch((handler) => handler.deleted?.(last, final === undefined));
  }

  #makeRoom(next: DeepReadonly<T>, previous: DeepReadonly<T> | undefined): void {
    const { budget } = this.#options;
    if (budget === undefined || budget.add(memoryOf(next) - (previous === undefined ? 0 : memoryOf(previous)))) return;
    // What it kept could be what the server has no more, and would be in the way of what it has.
    for (const key of this.#cache.keys()) this.#remove(key, undefined);
    const limitMiB = Math.round(budget.limitBytes / 1024 / 1024);
    throw new UnusableAnswer('TooManyObjects', `the ${this.resource.plural} take more than the ${limitMiB} MiB of memory that they may`);
  }

  #dispatch(call: (handler: EventHandler<T>) => void): void {
    for (const handler of this.#handlers) {
      try {
        call(handler);
      } catch (error) {
        this.#log.error('an event handler threw', { error });
      }
    }
  }
}

/** managedFields are a sixth of an object's size, and no controller looks at them. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}
