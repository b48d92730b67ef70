import type { KubeObject } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ReadClient, WatchClient, WatchEvent } from './client.ts';
import type { RevisionTracker } from './revision-tracker.ts';
import type { UnusableAnswer } from './unusable-answer.ts';

/** What a reflector reports, in order. */
export interface ReflectorSink<T> {
  /** The server has gone back in time: the versions seen so far say nothing about those that follow. A new LIST comes. */
  wentBack(): void;
  /** A new LIST begins; pages follow. */
  listStarted(): void;
  page(items: readonly T[]): void;
  /** The LIST is complete: what it did not contain is gone. */
  listEnded(resourceVersion: string): void;
  events(batch: readonly WatchEvent<T>[]): void;
}

export type ReflectorOptions<T extends KubeObject> = {
  readonly client: ReadClient & WatchClient;
  readonly resource: Resource<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** '' or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Metadata: objects come without anything else, such as the data of Secrets. */
  readonly answer?: 'metadata';
  /**
   * Told of answers that cannot be used; given for servers that are not trusted, which are then left alone for a while. `fault` is
   * undefined when they are usable again: a list was complete. `source` tells several reflectors apart.
   */
  readonly onFault?: (source: string, fault: UnusableAnswer | undefined) => void;
  /** Told once with 0 when it begins to watch (so that there is a count to begin with), then with 1 whenever it opens the watch anew. */
  readonly onRestart?: (resource: string, times: 0 | 1) => void;
  /** Told when the server has gone back in time, as one that was restored from an older backup; a new list follows. */
  readonly onWentBack?: (error: Error) => void;
  /** Shared by all reflectors of one API server whose resources it keeps together. */
  readonly course?: RevisionTracker;
};
