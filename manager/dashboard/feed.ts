import type { Clock } from '../../shared/runtime/clock.ts';
import { isOver, namespaceOf } from './job-line.ts';
import { rightsKey, seesIt, type Rights } from './rights.ts';
import type { CohortNode, JobLine, YardChange, YardItem } from './views.ts';
import { clusterId, cohortId, cohortsOf, ENDED_ID, localQueueId, queueId, TOTALS_ID, yardIds, yardItem, type YardSources } from './yard.ts';

export type FeedsDeps = YardSources & { readonly clock: Clock; readonly newId: () => string };

/** An event as it goes to everybody who may see the same. */
export type FeedEvent = { readonly id: string; readonly event: 'yard' | 'change'; readonly json: string };

/** Streams of what changes: what is sent is made once for all viewers of the same rights, and at most once in a tick. */
export interface Feeds {
  /** The whole yard, then its changes, until `signal` aborts; or the changes since the event with that id, where they are still known. */
  follow(rights: Rights, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<FeedEvent>;
  /** A part of the yard may have changed; of Jobs the index knows by itself. */
  touched(id: string): void;
  /** Some Job has changed. */
  jobsTouched(): void;
  /** How many kinds of viewers are served, or were a moment ago. */
  readonly size: number;
}

/** Often enough to look alive, rare enough for hundreds of pages. */
const TICK_MS = 1_000;
/** Jobs told in one tick: more than anybody can follow. */
const JOBS_TOLD_MAX = 64;
/** For whoever comes back. */
const KEPT_BYTES = 1024 * 1024;
const KEPT_EVENTS = 600;
/** Of viewers who have all gone. */
const IDLE_MS = 120_000;
/** Rights that nobody can make up for himself; one more than this begins where another ends. */
const FEEDS_MAX = 256;

type Feed = {
  readonly rights: Rights;
  readonly epoch: string;
  /** As they were sent last. */
  readonly items: Map<string, string>;
  readonly events: FeedEvent[];
  bytes: number;
  /** Of the first that is kept, and of the next one. */
  first: number;
  next: number;
  snapshot: { readonly at: number; readonly json: string } | undefined;
  followers: number;
  idleSinceMs: number;
  waiting: PromiseWithResolvers<void>;
};

export function createFeeds(deps: FeedsDeps): Feeds {
  const { index, clock, newId } = deps;
  const feeds = new Map<string, Feed>();
  let touchedIds = new Set<string>();
  let cohorts: readonly CohortNode[] | undefined;
  let isTicking = false;

  const wake = (): void => {
    if (isTicking || feeds.size === 0) return;
    isTicking = true;
    clock.schedule(tick, TICK_MS);
  };

  const tick = (): void => {
    isTicking = false;
    const nowMs = clock.now();
    for (const [key, feed] of feeds) if (feed.followers === 0 && nowMs - feed.idleSinceMs >= IDLE_MS) feeds.delete(key);
    const { jobs, ids } = takeTouched();
    for (const feed of feeds.values()) advance(feed, jobs, ids, nowMs);
    // Those that nobody follows are let go at their time.
    if ([...feeds.values()].some(({ followers }) => followers === 0)) wake();
  };

  /** What has changed, with all that follows from it. */
  const takeTouched = (): { readonly jobs: ReadonlyMap<string, JobLine | undefined>; readonly ids: ReadonlySet<string> } => {
    const changes = index.takeChanges();
    const ids = touchedIds;
    touchedIds = new Set();
    for (const name of changes.clusters) ids.add(clusterId(name));
    for (const key of changes.localQueues) {
      const [namespace = '', name = ''] = key.split('/');
      const behind = deps.localQueues.get({ namespace, name })?.spec.clusterQueue;
      ids.add(localQueueId(key));
      if (behind !== undefined) ids.add(queueId(behind));
    }
    if (changes.jobs.size > 0) ids.add(TOTALS_ID);
    if ([...changes.jobs.values()].some((line) => line === undefined || isOver(line))) ids.add(ENDED_ID);
    if (cohorts === undefined) {
      cohorts = cohortsOf(deps);
      for (const { name } of cohorts) ids.add(cohortId(name));
    }
    return { jobs: changes.jobs, ids };
  };

  const itemOf = (id: string, rights: Rights): YardItem | undefined => yardItem(deps, (cohorts ??= cohortsOf(deps)), id, rights);

  const advance = (feed: Feed, jobs: ReadonlyMap<string, JobLine | undefined>, ids: ReadonlySet<string>, nowMs: number): void => {
    const items: Record<string, YardItem | null> = {};
    // A cohort without an object goes without a word of its own.
    const known = ids.size === 0 ? [] : [...feed.items.keys()].filter((id) => id.startsWith('cohort/') && !ids.has(id));
    for (const id of [...ids, ...known]) {
      const item = itemOf(id, feed.rights);
      const json = item && JSON.stringify(item);
      if (json === feed.items.get(id)) continue;
      if (json === undefined) feed.items.delete(id);
      else feed.items.set(id, json);
      items[id] = item ?? null;
    }
    const visible = [...jobs].filter(([key]) => seesIt(feed.rights.namespaces, namespaceOf({ key })));
    if (visible.length === 0 && Object.keys(items).length === 0) return;
    const told = visible.slice(-JOBS_TOLD_MAX);
    const change: YardChange = {
      items,
      jobs: told.flatMap(([, line]) => line ?? []),
      gone: told.flatMap(([key, line]) => (line === undefined ? [key] : [])),
      more: visible.length - told.length,
      atMs: nowMs,
    };
    keep(feed, { id: `${feed.epoch}.${feed.next}`, event: 'change', json: JSON.stringify(change) });
  };

  const keep = (feed: Feed, event: FeedEvent): void => {
    feed.events.push(event);
    feed.bytes += event.json.length;
    feed.next++;
    while (feed.events.length > 1 && (feed.bytes > KEPT_BYTES || feed.events.length > KEPT_EVENTS)) {
      feed.bytes -= feed.events.shift()?.json.length ?? 0;
      feed.first++;
    }
    feed.waiting.resolve();
    feed.waiting = Promise.withResolvers();
  };

  const snapshotOf = (feed: Feed): FeedEvent => {
    if (feed.snapshot?.at !== feed.next) {
      const items = Object.fromEntries([...feed.items].map(([id, json]) => [id, JSON.parse(json) as YardItem]));
      const json = JSON.stringify({ items, jobs: [], gone: [], more: 0, atMs: clock.now() } satisfies YardChange);
      feed.snapshot = { at: feed.next, json };
    }
    return { id: `${feed.epoch}.${feed.next - 1}`, event: 'yard', json: feed.snapshot.json };
  };

  const feedOf = (rights: Rights): Feed => {
    const key = rightsKey(rights);
    const found = feeds.get(key);
    if (found !== undefined) return found;
    const idle = feeds.size >= FEEDS_MAX ? [...feeds].find(([, { followers }]) => followers === 0)?.[0] : undefined;
    if (idle !== undefined) feeds.delete(idle);
    // What others have not been told yet is part of the beginning of this one.
    const { jobs, ids } = takeTouched();
    for (const feed of feeds.values()) advance(feed, jobs, ids, clock.now());
    const feed: Feed = {
      rights,
      epoch: newId(),
      items: new Map(),
      events: [],
      bytes: 0,
      first: 1,
      next: 1,
      snapshot: undefined,
      followers: 0,
      idleSinceMs: clock.now(),
      waiting: Promise.withResolvers(),
    };
    for (const id of yardIds(deps, (cohorts ??= cohortsOf(deps)), rights)) {
      const item = itemOf(id, rights);
      if (item !== undefined) feed.items.set(id, JSON.stringify(item));
    }
    feeds.set(key, feed);
    return feed;
  };

  return {
    get size() {
      return feeds.size;
    },
    touched(id) {
      touchedIds.add(id);
      // What cohorts have follows from all queues and cohorts.
      if (id.startsWith('queue/') || id.startsWith('cohort/')) cohorts = undefined;
      wake();
    },
    jobsTouched() {
      if (feeds.size > 0) wake();
      else index.takeChanges();
    },
    async *follow(rights, lastEventId, signal) {
      const feed = feedOf(rights);
      feed.followers++;
      const [, epoch, number] = /^([\w-]+)\.(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
      const last = Number(number);
      let position = epoch === feed.epoch && last < feed.next && last >= feed.first - 1 ? last + 1 : undefined;
      const left = Promise.withResolvers<void>();
      const leave = (): void => left.resolve();
      signal.addEventListener('abort', leave, { once: true });
      try {
        while (!signal.aborted) {
          if (position === undefined || position < feed.first) {
            const snapshot = snapshotOf(feed);
            position = feed.next;
            yield snapshot;
          } else if (position < feed.next) {
            const event = feed.events[position - feed.first];
            position++;
            if (event !== undefined) yield event;
          } else await Promise.race([feed.waiting.promise, left.promise]);
        }
      } finally {
        signal.removeEventListener('abort', leave);
        feed.followers--;
        feed.idleSinceMs = clock.now();
        wake();
      }
    },
  };
}
