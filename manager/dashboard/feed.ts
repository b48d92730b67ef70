import type { Clock } from '../../shared/runtime/clock.ts';
import { eventFrame } from '../../shared/runtime/event-frame.ts';
import { hasEnded, namespaceOf } from './job-line.ts';
import { rightsKey, seesIt, type Rights } from './rights.ts';
import { linesOf, sentItem } from './sent-item.ts';
import type { CohortNode, JobLine, OverviewChange } from './views.ts';
import {
  clusterId,
  cohortId,
  cohortsOf,
  ENDED_ID,
  localQueueId,
  queueId,
  TOTALS_ID,
  overviewIds,
  overviewItem,
  type OverviewSources,
} from './overview.ts';

export type FeedsDeps = OverviewSources & { readonly clock: Clock; readonly newId: () => string };

/** An event in its bytes, for all viewers with the same rights. */
export type FeedEvent = { readonly frame: Uint8Array };

/** Streams of changes. An event is encoded once for all viewers with the same rights, and at most once in a tick. */
export interface Feeds {
  /** The whole overview, then its changes, until `signal` aborts; or the changes since the event with that id, while they are kept. */
  follow(rights: Rights, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<FeedEvent>;
  /** An item of the overview may have changed; the index records changes of Jobs by itself. */
  touched(id: string): void;
  /** Some Job has changed. */
  jobsTouched(): void;
  /** The number of feeds, one for each set of rights that is served now or was a moment ago. */
  readonly size: number;
}

/** Often enough to look live, rare enough for hundreds of pages. */
const TICK_MS = 1_000;
/** After a pause, a change is sent together with those that follow from it, and not a tick later. */
const SOON_MS = 50;
/** Jobs sent in one tick: more than a viewer can follow. */
const JOBS_SENT_MAX = 64;
/** Events kept for viewers who reconnect: for one feed, and for all feeds together. */
const REPLAY_BYTES_MAX = 1024 * 1024;
const ALL_REPLAY_BYTES_MAX = 32 * 1024 * 1024;
const REPLAY_EVENTS_MAX = 600;
/** How long a feed without viewers is kept. */
const IDLE_MS = 120_000;
/** More sets of rights than a user can create; one more replaces a feed without viewers. */
const FEEDS_MAX = 256;

type Feed = {
  readonly rights: Rights;
  readonly epoch: string;
  /** The items as sent last: as JSON, and with the keys of their Jobs. */
  readonly items: Map<string, { readonly json: string; readonly keys: readonly string[] }>;
  /** The number of items that list a Job, by its key. */
  readonly listed: Map<string, number>;
  readonly events: FeedEvent[];
  bytes: number;
  /** Numbers of the first event that is kept, and of the next one. */
  first: number;
  next: number;
  /** The state after the last event, once a viewer has asked for it. */
  snapshot: FeedEvent | undefined;
  followers: number;
  idleSinceMs: number;
  /** Wake-up functions of followers that have received everything. */
  readonly waiting: Set<() => void>;
};

export function createFeeds(deps: FeedsDeps): Feeds {
  return new OverviewFeeds(deps);
}

class OverviewFeeds implements Feeds {
  readonly #deps: FeedsDeps;
  readonly #feeds = new Map<string, Feed>();
  #touchedIds = new Set<string>();
  #knownCohorts: readonly CohortNode[] | undefined;
  #isTicking = false;
  #tickedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: FeedsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#feeds.size;
  }

  touched(id: string): void {
    this.#touchedIds.add(id);
    // The totals of cohorts depend on all queues and cohorts.
    if (id.startsWith('queue/') || id.startsWith('cohort/')) this.#knownCohorts = undefined;
    this.#wake();
  }

  jobsTouched(): void {
    if (this.#feeds.size > 0) this.#wake();
    else this.#deps.index.takeChanges();
  }

  async *follow(rights: Rights, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<FeedEvent> {
    const feed = this.#feedOf(rights);
    feed.followers++;
    const [, epoch, number] = /^([\w-]+)\.(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
    const last = Number(number);
    let position = epoch === feed.epoch && last < feed.next && last >= feed.first - 1 ? last + 1 : undefined;
    let go = (): void => undefined;
    const leave = (): void => go();
    signal.addEventListener('abort', leave, { once: true });
    try {
      while (!signal.aborted) {
        if (position === undefined || position < feed.first) {
          const snapshot = this.#snapshotOf(feed);
          position = feed.next;
          yield snapshot;
        } else if (position < feed.next) {
          const event = feed.events[position - feed.first];
          position++;
          if (event !== undefined) yield event;
        } else
          await new Promise<void>((resolve) => {
            go = resolve;
            feed.waiting.add(go);
          });
      }
    } finally {
      signal.removeEventListener('abort', leave);
      feed.waiting.delete(go);
      feed.followers--;
      feed.idleSinceMs = this.#deps.clock.monotonic();
      if (feed.followers === 0) this.#deps.clock.schedule(() => this.#removeIdle(), IDLE_MS + SOON_MS);
    }
  }

  #wake(): void {
    if (this.#isTicking || this.#feeds.size === 0) return;
    this.#isTicking = true;
    this.#deps.clock.schedule(() => this.#tick(), Math.max(SOON_MS, this.#tickedMs + TICK_MS - this.#deps.clock.monotonic()));
  }

  #tick(): void {
    this.#isTicking = false;
    this.#tickedMs = this.#deps.clock.monotonic();
    this.#advanceAll();
  }

  #advanceAll(): void {
    const { jobs, ids } = this.#takeTouched();
    const jsonOf = jsonOfLines();
    for (const feed of this.#feeds.values()) this.#advance(feed, jobs, ids, jsonOf);
  }

  /** Removes feeds that stayed without viewers. */
  #removeIdle(): void {
    const nowMs = this.#deps.clock.monotonic();
    for (const [key, feed] of this.#feeds) if (feed.followers === 0 && nowMs - feed.idleSinceMs >= IDLE_MS) this.#feeds.delete(key);
  }

  /** All items and Jobs that have changed, with the items that depend on them. */
  #takeTouched(): { readonly jobs: ReadonlyMap<string, JobLine | undefined>; readonly ids: ReadonlySet<string> } {
    const changes = this.#deps.index.takeChanges();
    const ids = this.#touchedIds;
    this.#touchedIds = new Set();
    for (const name of changes.clusters) ids.add(clusterId(name));
    for (const key of changes.localQueues) {
      const [namespace = '', name = ''] = key.split('/');
      const behind = this.#deps.localQueues.get({ namespace, name })?.spec.clusterQueue;
      ids.add(localQueueId(key));
      if (behind !== undefined) ids.add(queueId(behind));
    }
    if (changes.jobs.size > 0) ids.add(TOTALS_ID);
    if ([...changes.jobs.values()].some((line) => line === undefined || hasEnded(line))) ids.add(ENDED_ID);
    if (this.#knownCohorts === undefined) for (const { name } of this.#cohorts()) ids.add(cohortId(name));
    return { jobs: changes.jobs, ids };
  }

  #cohorts(): readonly CohortNode[] {
    return (this.#knownCohorts ??= cohortsOf(this.#deps));
  }

  /** Updates one item; undefined where it is as it was sent. `lines` receives the Jobs that no item has listed before. */
  #bring(feed: Feed, id: string, lines: Map<string, JobLine>): string | undefined {
    const item = overviewItem(this.#deps, this.#cohorts(), id, feed.rights);
    const before = feed.items.get(id);
    const json = item && JSON.stringify(sentItem(item));
    if (json === before?.json) return undefined;
    const listed = item === undefined ? [] : linesOf(item);
    for (const line of listed) {
      const times = feed.listed.get(line.key) ?? 0;
      feed.listed.set(line.key, times + 1);
      if (times === 0) lines.set(line.key, line);
    }
    for (const key of before?.keys ?? []) {
      const times = (feed.listed.get(key) ?? 1) - 1;
      if (times > 0) feed.listed.set(key, times);
      else feed.listed.delete(key);
    }
    if (json === undefined) feed.items.delete(id);
    else feed.items.set(id, { json, keys: listed.map(({ key }) => key) });
    return json ?? 'null';
  }

  #advance(feed: Feed, jobs: ReadonlyMap<string, JobLine | undefined>, ids: ReadonlySet<string>, jsonOf: JsonOfLine): void {
    const items = new Map<string, string>();
    const lines = new Map<string, JobLine>();
    // A cohort without an object ends without an event of its own.
    const known = ids.size === 0 ? [] : [...feed.items.keys()].filter((id) => id.startsWith('cohort/') && !ids.has(id));
    for (const id of [...ids, ...known]) {
      const json = this.#bring(feed, id, lines);
      if (json !== undefined) items.set(id, json);
    }
    const visible = [...jobs].filter(([key]) => seesIt(feed.rights.namespaces, namespaceOf({ key })));
    if (visible.length === 0 && items.size === 0) return;
    const sent = visible.slice(-JOBS_SENT_MAX);
    for (const [key, line] of visible) if (line !== undefined && feed.listed.has(key)) lines.set(key, line);
    for (const [key] of sent) lines.delete(key);
    const change = {
      items,
      jobs: sent.flatMap(([, line]) => line ?? []),
      lines: [...lines.values()],
      gone: sent.flatMap(([key, line]) => (line === undefined ? [key] : [])),
      more: visible.length - sent.length,
      atMs: this.#deps.clock.now(),
    };
    this.#keep(feed, eventOf(`${feed.epoch}.${feed.next}`, 'change', change, jsonOf));
  }

  #keep(feed: Feed, event: FeedEvent): void {
    feed.events.push(event);
    feed.bytes += event.frame.byteLength;
    feed.next++;
    feed.snapshot = undefined;
    const bytesMax = Math.min(REPLAY_BYTES_MAX, ALL_REPLAY_BYTES_MAX / this.#feeds.size);
    while (feed.events.length > 1 && (feed.bytes > bytesMax || feed.events.length > REPLAY_EVENTS_MAX)) {
      feed.bytes -= feed.events.shift()?.frame.byteLength ?? 0;
      feed.first++;
    }
    const waiting = [...feed.waiting];
    feed.waiting.clear();
    for (const go of waiting) go();
  }

  #snapshotOf(feed: Feed): FeedEvent {
    if (feed.snapshot === undefined) {
      const items = new Map([...feed.items].map(([id, { json }]) => [id, json]));
      // Lines are those of now: the next event updates a Job that has changed or gone since.
      const lines = [...feed.listed.keys()].flatMap((key) => this.#deps.index.get(key) ?? []);
      const whole = { items, jobs: [], lines, gone: [], more: 0, atMs: this.#deps.clock.now() };
      feed.snapshot = eventOf(`${feed.epoch}.${feed.next - 1}`, 'yard', whole, jsonOfLines());
    }
    return feed.snapshot;
  }

  #feedOf(rights: Rights): Feed {
    const key = rightsKey(rights);
    const found = this.#feeds.get(key);
    if (found !== undefined) return found;
    const idle = this.#feeds.size >= FEEDS_MAX ? [...this.#feeds].find(([, { followers }]) => followers === 0)?.[0] : undefined;
    if (idle !== undefined) this.#feeds.delete(idle);
    // Changes that other feeds have not sent yet are part of this feed's first snapshot.
    this.#advanceAll();
    const feed: Feed = {
      rights,
      epoch: this.#deps.newId(),
      items: new Map(),
      listed: new Map(),
      events: [],
      bytes: 0,
      first: 1,
      next: 1,
      snapshot: undefined,
      followers: 0,
      idleSinceMs: this.#deps.clock.monotonic(),
      waiting: new Set(),
    };
    for (const id of overviewIds(this.#deps, this.#cohorts(), rights)) this.#bring(feed, id, new Map());
    this.#feeds.set(key, feed);
    return feed;
  }
}

/** A change with its items as JSON. */
type FeedChange = Omit<OverviewChange, 'items'> & { readonly items: ReadonlyMap<string, string> };
type JsonOfLine = (line: JobLine) => string;

/** Encodes each line once for all feeds that send it at the same time. */
function jsonOfLines(): JsonOfLine {
  const texts = new Map<JobLine, string>();
  return (line) => {
    const text = texts.get(line) ?? JSON.stringify(line);
    texts.set(line, text);
    return text;
  };
}

/** Joins texts that exist already, and encodes them to bytes once. */
function eventOf(
  id: string,
  event: 'yard' | 'change',
  { items, jobs, lines, gone, more, atMs }: FeedChange,
  jsonOf: JsonOfLine,
): FeedEvent {
  const all = [...items].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',');
  const list = (some: readonly JobLine[]): string => `[${some.map(jsonOf).join(',')}]`;
  const rest = `"gone":${JSON.stringify(gone)},"more":${more},"atMs":${atMs}`;
  return { frame: Buffer.from(eventFrame(id, event, `{"items":{${all}},"jobs":${list(jobs)},"lines":${list(lines)},${rest}}`)) };
}
