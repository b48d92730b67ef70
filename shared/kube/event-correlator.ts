import type { CoreEvent } from '../api/kubernetes.ts';

/** An Event complete but for what the server adds. */
export type EventDraft = Omit<CoreEvent, 'metadata'> & { readonly metadata: { readonly name: string; readonly namespace: string } };

/** What becomes of one event: a new object, one more occurrence of a known one, or nothing. */
export type Correlated =
  | { readonly kind: 'create'; readonly key: string; readonly event: EventDraft }
  | { readonly kind: 'repeat'; readonly key: string; readonly event: EventDraft }
  | { readonly kind: 'drop' };

/** Distinct messages of one object and reason after which they are folded into one event. */
const SIMILAR_MAX = 10;
const SIMILAR_WINDOW_MS = 600_000;
/** Token bucket per source and object: this many at once, then one in 300 s. */
const SPAM_BURST = 25;
const SPAM_REFILL_MS = 300_000;
const CACHE_SIZE = 4096;

/** client-go's EventCorrelator: aggregates similar events, counts equal ones, drops floods. Keeps state, has no effects. */
export class EventCorrelator {
  readonly #similar = new RecentlyUsed<{ readonly messages: Set<string>; lastMs: number }>(CACHE_SIZE);
  readonly #observed = new RecentlyUsed<{ readonly name: string; readonly firstTimestamp: string; readonly count: number }>(CACHE_SIZE);
  readonly #buckets = new RecentlyUsed<{ tokens: number; countedAtMs: number }>(CACHE_SIZE);

  /** `event` is complete, with count 1; `name` is the name it gets if it is new. */
  correlate(event: EventDraft, nowMs: number): Correlated {
    const { key, message } = this.#aggregate(event, nowMs);
    const counted = this.#count(key, { ...event, message });
    // As upstream, floods are dropped after counting, so that the count stays true.
    if (!this.#spare(event, nowMs)) return { kind: 'drop' };
    return { kind: (counted.count ?? 1) > 1 ? 'repeat' : 'create', key, event: counted };
  }

  #aggregate(event: EventDraft, nowMs: number): { key: string; message: string } {
    const message = event.message ?? '';
    const group = groupKey(event);
    let record = this.#similar.get(group);
    if (record === undefined || nowMs - record.lastMs > SIMILAR_WINDOW_MS) record = { messages: new Set(), lastMs: nowMs };
    record.messages.add(message);
    record.lastMs = nowMs;
    this.#similar.set(group, record);
    if (record.messages.size < SIMILAR_MAX) return { key: `${group}\0${message}\0${event.involvedObject.fieldPath ?? ''}`, message };
    // The set stays one short of the limit, so that every further new message keeps falling into the aggregate.
    const [any] = record.messages;
    if (any !== undefined) record.messages.delete(any);
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  #count(key: string, event: EventDraft): EventDraft {
    const last = this.#observed.get(key);
    const counted =
      last === undefined
        ? event
        : { ...event, metadata: { ...event.metadata, name: last.name }, firstTimestamp: last.firstTimestamp, count: last.count + 1 };
    this.#observed.set(key, { name: counted.metadata.name, firstTimestamp: counted.firstTimestamp ?? '', count: counted.count ?? 1 });
    return counted;
  }

  #spare(event: EventDraft, nowMs: number): boolean {
    const key = [...sourceAndObject(event), event.type].join('\0');
    const bucket = this.#buckets.get(key) ?? { tokens: SPAM_BURST, countedAtMs: nowMs };
    bucket.tokens = Math.min(SPAM_BURST, bucket.tokens + Math.max(0, nowMs - bucket.countedAtMs) / SPAM_REFILL_MS);
    bucket.countedAtMs = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

const sourceAndObject = ({ source, involvedObject: object }: EventDraft): (string | undefined)[] => [
  source?.component,
  source?.host,
  object.kind,
  object.namespace,
  object.name,
  object.uid,
  object.apiVersion,
];
const groupKey = (event: EventDraft): string => [...sourceAndObject(event), event.type, event.reason].join('\0');

/** A map that forgets what was not touched for longest. */
class RecentlyUsed<V> {
  readonly #entries = new Map<string, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
