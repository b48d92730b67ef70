import type { DeepReadonly, KubeObject } from '../api/kubernetes.ts';
import { apiVersionOf, EVENTS, type Resource } from '../api/resources.ts';
import { toWireTime } from '../api/wire-time.ts';
import { sleep, type Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { ApiError, hasStatusCause, isAlreadyExists, isNotFound } from './api-error.ts';
import type { WriteClient } from './client.ts';
import { EventCorrelator, type EventDraft } from './event-correlator.ts';
import { keyOf, keyOfObject } from './keys.ts';

/**
 * Writes core/v1 Events with client-go's correlation: a repeated event raises `count` by PATCH, the tenth distinct
 * message of one object and reason within ten minutes starts an aggregate, a token bucket (25, then one in 300 s)
 * per source, object and type drops floods. Never throws and never blocks its caller: what cannot be written is logged.
 */
export interface EventRecorder {
  event(resource: Resource, object: DeepReadonly<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Resolves when everything recorded so far is written or given up. */
  flush(): Promise<void>;
}

export type EventRecorderOptions = {
  readonly client: WriteClient;
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Attempts at writing one event, and the pause between them (client-go's). */
const TRIES_MAX = 12;
const RETRY_MS = 10_000;
/** Events waiting to be written; more are dropped, as client-go's broadcaster does. */
const QUEUE_MAX = 1000;
/** Writers at work at once. The events of one object stay in order. */
const LANES = 4;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new QueueingRecorder(options);
}

class QueueingRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator = new EventCorrelator();
  readonly #lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());
  #queued = 0;
  #lastNanos = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  event(resource: Resource, object: DeepReadonly<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { clock, log } = this.#options;
    const correlated = this.#correlator.correlate(this.#compose(resource, object, type, reason, message), clock.now());
    if (correlated.kind === 'drop') return;
    if (this.#queued >= QUEUE_MAX) {
      log.warn('event dropped: too many are waiting', { reason, object: keyOfObject(object) });
      return;
    }
    this.#queued++;
    const lane = laneOf(object.metadata.uid);
    const previous = this.#lanes[lane] ?? Promise.resolve();
    this.#lanes[lane] = previous.then(async () => {
      await this.#write(correlated.kind, correlated.event);
      this.#queued--;
    });
  }

  async flush(): Promise<void> {
    await Promise.all(this.#lanes);
  }

  #compose(resource: Resource, object: DeepReadonly<KubeObject>, type: string, reason: string, message: string): EventDraft {
    const { component, clock } = this.#options;
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
      },
      reason,
      message,
      source: { component },
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: '',
    };
  }

  /** Unix nanoseconds; the clock counts milliseconds, so events of the same one are told apart by counting on. */
  #nanos(): bigint {
    const nowNanos = BigInt(Math.floor(this.#options.clock.now())) * 1_000_000n;
    this.#lastNanos = nowNanos > this.#lastNanos ? nowNanos : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  /** Never throws: an event that cannot be written is not worth a failure. */
  async #write(kind: 'create' | 'repeat', event: EventDraft): Promise<void> {
    const { clock, log } = this.#options;
    const fields = { object: keyOf(event.metadata.namespace, event.involvedObject.name ?? ''), reason: event.reason };
    for (let tries = 1; ; tries++) {
      try {
        await this.#send(kind, event);
        return;
      } catch (error) {
        if (error instanceof ApiError) {
          const expected = isAlreadyExists(error) || hasStatusCause(error, 'NamespaceTerminating');
          if (!expected) log.warn('the server rejected an event', { ...fields, error });
          return;
        }
        if (tries === TRIES_MAX) {
          log.warn('event given up after many attempts', { ...fields, error });
          return;
        }
        await sleep(clock, RETRY_MS);
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

/** FNV-1a, to spread objects over lanes. */
function laneOf(uid: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < uid.length; index++) hash = Math.imul(hash ^ uid.charCodeAt(index), 0x01000193) >>> 0;
  return hash % LANES;
}
