import type { DeepReadonly, KubeObject } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ReadClient, WatchClient } from './client.ts';
import type { IndexFunction, Lister } from './indexer.ts';

export type EventHandler<T> = {
  added?(object: DeepReadonly<T>, isInInitialList: boolean): void;
  updated?(next: DeepReadonly<T>, previous: DeepReadonly<T>): void;
  /** `object` is the last known state; `finalStateUnknown` says that the deletion itself was missed (found on relist). */
  deleted?(object: DeepReadonly<T>, finalStateUnknown: boolean): void;
};

export type InformerOptions<T extends KubeObject> = {
  readonly client: ReadClient & WatchClient;
  readonly resource: Resource<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** '' or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexers?: Readonly<Record<string, IndexFunction<T>>>;
  /** Runs on each object before it is cached; default drops managedFields. */
  readonly transform?: (object: T) => T;
};

/**
 * A cache of one resource, kept up to date by LIST and WATCH.
 *
 * Promises: the cache converges to the server's state; events of one object arrive in order, each with the
 * cache already updated; an object deleted and recreated under its name is reported as deleted, then added
 * (compared by UID), also when both happened unseen; a lost watch is resumed from the last resourceVersion,
 * for ever, with jittered back-off; 410 leads to a relist that reports missed deletions; a handler that
 * throws is logged and stops nobody.
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
  /** The newest resourceVersion the cache has processed: of a list, an event or a bookmark; '' before the first list. */
  lastResourceVersion(): string;
}

export declare function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T>;
