import type { DeepReadonly, KubeObject } from '../api/kubernetes.ts';
import { apiVersionOf, EVENTS, type Resource } from '../api/resources.ts';
import { toWireTime } from '../api/wire-time.ts';
import { sleep, type Clock } from '../runtime/clock.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import type { Logger } from '../runtime/logger.ts';
import { ApiError, hasStatusCause, isAlreadyExists, isNotFound } from './api-error.ts';
import type { WriteClient } from './client.ts';
import { EventCorrelator, type EventDraft } from './event-correlator.ts';
import { keyOf, keyOfObject } from './keys.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * Writes core/v1 Events with client-go's correlation: a repeated event raises `count` by PATCH, the tenth distinct
 * message of one object and reason within ten minutes starts an aggregate, a token bucket (25, then one in 300 s)
 * per source, object and type drops floods. While the server answers slowly, events wait: they tell of what happens, and slow it down.
 * Never throws and never blocks its caller: what cannot be written is logged.
 */
export interface EventRecorder {
  event(
    resource: Resource,
    object: DeepReadonly<KubeObject>,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    /** The part of the object that it is about: `spec.containers{main}`. */
    fieldPath?: string,
  ): void;
  /** Resolves when everything recorded so far is written or given up; for the end of a program. */
  flush(): Promise<void>;
}

export type EventRecorderOptions = {
  readonly client: WriteClient;
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
  /** `source.host` and `reportingInstance`: the node that it happened on. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Holds writes back. What then waits too long is dropped. */
  readonly rateLimiter?: RateLimiter;
  /** Gives up what is not written yet. */
  readonly signal?: AbortSignal;
};

/** Attempts at writing one event, and the pause between them (client-go's). */
const TRIES_MAX = 12;
const RETRY_MS = 10_000;
/** Events waiting to be written; more are dropped, as client-go's broadcaster does with more than 1,000. */
const QUEUE_MAX = 4_000;
/** With more than this many waiting a lane rests no more: they would be dropped soon. */
const RESTING_MAX = QUEUE_MAX / 2;
/**
 * After each event its lane rests for so many times as long as the write took: a server with much to do answers slowly, and what matters
 * goes first.
 */
const RESTS = 8;
const REST_MAX_MS = 2_000;
/** Writers at work at once. The events of one object stay in order. */
const LANES = 4;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new QueueingRecorder(options);
}

class QueueingRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator = new EventCorrelator();
  readonly #lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());
  readonly #sourceNanos: bigint;
  /** Aborted at the first flush: a program that ends has no time to rest. */
  readonly #restless = new AbortController();
  #queued = 0;
  #dropping = false;
  #lastNanos = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#sourceNanos = BigInt(hashOf(`${options.component}/${options.host ?? ''}`) % NANOS_PER_MS);
  }

  event(
    resource: Resource,
    object: DeepReadonly<KubeObject>,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    fieldPath?: string,
  ): void {
    const { clock, log, signal } = this.#options;
    if (signal?.aborted === true) return;
    const draft = this.#compose(resource, object, { type, reason, message, fieldPath });
    const correlated = this.#correlator.correlate(draft, clock.now());
    if (correlated.kind === 'drop') return;
    if (this.#queued >= QUEUE_MAX) {
      // Once a flood: a line for each would be a flood of its own.
      if (!this.#dropping) log.warn('events are dropped: too many are waiting', { reason, object: keyOfObject(object) });
      this.#dropping = true;
      return;
    }
    this.#queued++;
    const lane = laneOf(object.metadata.uid);
    const previous = this.#lanes[lane] ?? Promise.resolve();
    this.#lanes[lane] = previous.then(async () => {
      const beganMs = clock.monotonic();
      await this.#write(correlated.kind, correlated.event);
      this.#queued--;
      if (this.#queued === 0) this.#dropping = false;
      await this.#rest(clock.monotonic() - beganMs);
    });
  }

  async #rest(writeMs: number): Promise<void> {
    const restMs = Math.min(REST_MAX_MS, Math.floor(writeMs * RESTS));
    if (restMs > 0 && this.#queued <= RESTING_MAX) await sleep(this.#options.clock, restMs, this.#restless.signal);
  }

  async flush(): Promise<void> {
    this.#restless.abort(new Error('everything is to be written'));
    await Promise.all(this.#lanes);
  }

  #compose(resource: Resource, object: DeepReadonly<KubeObject>, { type, reason, message, fieldPath }: Happening): EventDraft {
    const { component, host, clock } = this.#options;
    const { name, namespace = '', uid, resourceVersion } = object.metadata;
    const timestamp = toWireTime(clock.now());
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${name.slice(0, NAME_PREFIX_MAX)}.${this.#nanos().toString(16)}`,
        namespace: namespace === '' ? 'default' : namespace,
      },
      involvedObject: {
        kind: resource.kind,
        ...(namespace === '' ? {} : { namespace }),
        name,
        uid,
        apiVersion: apiVersionOf(resource),
        resourceVersion,
        ...omitUndefined({ fieldPath }),
      },
      reason,
      message,
      source: { component, ...omitUndefined({ host }) },
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: host ?? '',
    };
  }

  /**
   * Unix nanoseconds; the clock counts milliseconds, so events of the same one are told apart by counting on, and those of two sources
   * about one object by where they begin to count.
   */
  #nanos(): bigint {
    const nowNanos = BigInt(Math.floor(this.#options.clock.now())) * BigInt(NANOS_PER_MS) + this.#sourceNanos;
    this.#lastNanos = nowNanos > this.#lastNanos ? nowNanos : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  /** Never throws: an event that cannot be written is not worth a failure. */
  async #write(kind: 'create' | 'repeat', event: EventDraft): Promise<void> {
    const { clock, log, rateLimiter, signal } = this.#options;
    const fields = { object: keyOf(event.metadata.namespace, event.involvedObject.name ?? ''), reason: event.reason };
    const givenUp = (): boolean => signal?.aborted === true;
    for (let tries = 1; !givenUp(); tries++) {
      try {
        await rateLimiter?.acquire(signal);
        await this.#send(kind, event);
        return;
      } catch (error) {
        if (givenUp()) return;
        if (error instanceof ApiError) {
          const expected = isAlreadyExists(error) || hasStatusCause(error, 'NamespaceTerminating');
          if (!expected) log.warn('the server rejected an event', { ...fields, error });
          return;
        }
        if (tries === TRIES_MAX) {
          log.warn('event given up after many attempts', { ...fields, error });
          return;
        }
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  async #send(kind: 'create' | 'repeat', event: EventDraft): Promise<void> {
    const { client } = this.#options;
    if (kind === 'repeat') {
      const { count, lastTimestamp, message } = event;
      try {
        await client.patch(EVENTS, event.metadata, { type: 'strategic', body: { count, lastTimestamp, message } });
        return;
      } catch (error) {
        // The server forgets events after an hour, or never got the first one: it is written anew, with its count.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(EVENTS, event);
  }
}

/** Room for the dot and sixteen hexadecimal digits in a name of at most 253 characters. */
const NAME_PREFIX_MAX = 236;

type Happening = {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly fieldPath: string | undefined;
};

const NANOS_PER_MS = 1_000_000;

/** Spreads objects over lanes. */
const laneOf = (uid: string): number => hashOf(uid) % LANES;

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}
