import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { createTimeSlices } from '../../shared/runtime/time-slices.ts';
import { inBaseUnit, type Requests } from '../api/amount.ts';
import { isCanaryName } from '../canary/canary-job.ts';
import type { FairScheduler } from './fair-scheduler.ts';
import { isAlwaysShown } from './cluster-row.ts';
import { amountIn, byImportance } from './fill.ts';
import type { JobIndex } from './job-index.ts';
import { hasEnded, namespaceOf } from './job-line.ts';
import { keyOfKept, type KeptJob } from './job-view.ts';
import { createMoment, type PastJob } from './overview-at.ts';
import { keptPastOf, pastOf } from '../api/past-admissions.ts';
import { rightsKey, seenUid, seesIt, type Rights } from './rights.ts';
import { bucketsOf, createLevels, createPlacementBuckets, createTimeBuckets, HOUR_MS, type BucketShape, type Levels } from './time-line.ts';
import type { JobLine } from './views.ts';
import type { ClusterTimeLine, PastOverview, QueueTimeLine, TimeLine } from './past-views.ts';

/**
 * The last hours, by present Jobs and stored history. Undefined where too many questions wait. `owner`: the user whose turn the work takes.
 */
export interface TimeLines {
  of(hours: number, seen: Rights, owner: string): Promise<TimeLine | undefined>;
  /** The overview at that moment. */
  yardAt(atMs: number, seen: Rights, owner: string): Promise<PastOverview | undefined>;
  /** The time line of a ClusterQueue that the viewer may see, with all its Jobs. */
  ofQueue(name: string, hours: number, seen: Rights, owner: string): Promise<QueueTimeLine | undefined>;
  /** The time line of a cluster that the viewer may see: what all its Jobs request, and counts of those that the viewer may see. */
  ofCluster(name: string, hours: number, seen: Rights, owner: string): Promise<ClusterTimeLine | undefined>;
}

export type TimeLineDeps = {
  readonly index: Pick<JobIndex, 'ordered' | 'get' | 'requestsOf' | 'earlierOf'>;
  /** Jobs that ended since then, the latest first; absent: no history is stored. */
  readonly ended: ((sinceMs: number, limit: number) => Promise<readonly KeptJob[]>) | undefined;
  /** The present ClusterQueue of a LocalQueue. */
  readonly clusterQueueOf: (localQueue: string) => string | undefined;
  /** The nominal quota of a ClusterQueue. */
  readonly nominalOf: (clusterQueue: string) => Requests;
  /** The capacity of a cluster. */
  readonly capacityOf: (cluster: string) => Requests;
  /** The scheduler of scans over all Jobs. */
  readonly turns: FairScheduler;
  readonly clock: Clock;
};

/** Jobs read from history: each is an object of its store. */
const ENDED_MAX = 2_000;
/** An answer is reused for this long. */
const CACHE_TTL_MS = 15_000;
const HISTORY_TTL_MS = 60_000;
const GONE_MAX = 16;
/** Cached answers. */
const ANSWERS_MAX = 64;
const SLICE_MS = 8;
const JOBS_PER_SLICE = 500;
const RESOURCES_SHOWN = 6;

/** `gone`: a Job of history, with the UID of its namespace, where that is known. */
type Span = PastJob & { readonly requests: () => Requests; readonly gone?: { readonly namespaceUid: string | undefined } };

export function createTimeLines(deps: TimeLineDeps): TimeLines {
  return new JobTimeLines(deps);
}

class JobTimeLines implements TimeLines {
  readonly #deps: TimeLineDeps;
  readonly #answers = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();
  readonly #gone = new Map<number, { readonly atMs: number; readonly jobs: Promise<readonly Span[]> }>();

  constructor(deps: TimeLineDeps) {
    this.#deps = deps;
  }

  of(hours: number, seen: Rights, owner: string): Promise<TimeLine | undefined> {
    return this.#once(`line ${hours}`, seen, owner, () => this.#readAll(hours, seen));
  }

  yardAt(atMs: number, seen: Rights, owner: string): Promise<PastOverview | undefined> {
    return this.#once(`yard ${atMs}`, seen, owner, () => this.#readYard(atMs, seen));
  }

  ofQueue(name: string, hours: number, seen: Rights, owner: string): Promise<QueueTimeLine | undefined> {
    return this.#once(`queue ${name} ${hours}`, seen, owner, () => this.#readQueue(name, hours, seen));
  }

  ofCluster(name: string, hours: number, seen: Rights, owner: string): Promise<ClusterTimeLine | undefined> {
    return this.#once(`cluster ${name} ${hours}`, seen, owner, () => this.#readCluster(name, hours, seen));
  }

  /** Reuses recent answers. */
  async #once<T>(what: string, seen: Rights, owner: string, make: () => Promise<T>): Promise<T | undefined> {
    const { turns, clock } = this.#deps;
    const answers = this.#answers;
    const key = `${what} ${rightsKey(seen)}`;
    const known = answers.get(key);
    // The answer belongs to the same key, and so has the same type.
    if (known !== undefined && clock.now() - known.atMs < CACHE_TTL_MS) return known.answer as Promise<T>;
    const answer = turns.take(owner, make);
    if (answer === undefined) return undefined;
    answers.delete(key);
    answers.set(key, { atMs: clock.now(), answer });
    const oldest = answers.size > ANSWERS_MAX ? answers.keys().next().value : undefined;
    if (oldest !== undefined) answers.delete(oldest);
    try {
      return await answer;
    } catch (error) {
      // A failure is not reused.
      answers.delete(key);
      this.#gone.clear();
      throw error;
    }
  }

  async #readAll(hours: number, seen: Rights): Promise<TimeLine> {
    const shape = bucketsOf(hours, this.#deps.clock.now());
    const counted = createTimeBuckets(shape);
    let unknown = 0;
    const note = await this.#visit(hours, (span) => {
      if (!seesJob(seen, span)) return;
      counted.add(span);
      if ((span.past.unknownUntilMs ?? 0) > shape.fromMs) unknown++;
    });
    return { ...frame(shape), buckets: counted.told(), ...omitUndefined({ note: withUnknown(note, unknown) }) };
  }

  async #readYard(atMs: number, seen: Rights): Promise<PastOverview> {
    const { clusterQueueOf, clock } = this.#deps;
    const moment = createMoment(atMs, (localQueue) => {
      const queue = clusterQueueOf(localQueue);
      return queue !== undefined && seesIt(seen.queues, queue) ? queue : undefined;
    });
    const hours = Math.max(1, Math.ceil((clock.now() - atMs) / HOUR_MS));
    const note = await this.#visit(hours, (span) => {
      if (seesJob(seen, span)) moment.add(span);
    });
    return { atMs, ...moment.snapshot(), ...omitUndefined({ note }) };
  }

  async #readQueue(name: string, hours: number, seen: Rights): Promise<QueueTimeLine> {
    const { clusterQueueOf, nominalOf, clock } = this.#deps;
    const shape = bucketsOf(hours, clock.now());
    const counted = createTimeBuckets(shape);
    const [own, all] = [createLevels(shape), createLevels(shape)];
    let unknown = 0;
    const nominal = nominalOf(name);
    const held = new Map<string, Levels>([...nominal.keys()].slice(0, RESOURCES_SHOWN).map((resource) => [resource, createLevels(shape)]));
    const note = await this.#visit(hours, (span) => {
      const { line, past } = span;
      for (const { fromMs, untilMs } of past.admissions) all.add(fromMs, untilMs, 1);
      const queue = line.clusterQueue ?? clusterQueueOf(`${namespaceOf(line)}/${line.queue ?? ''}`);
      if (queue !== name) return;
      counted.add(span);
      if ((past.unknownUntilMs ?? 0) > shape.fromMs) unknown++;
      const requests = span.requests();
      for (const { fromMs, untilMs } of past.admissions) {
        own.add(fromMs, untilMs, 1);
        for (const [resource, amount] of requests) held.get(resource)?.add(fromMs, untilMs, inBaseUnit(resource, amount));
      }
    });
    const everybody = all.told();
    return {
      ...frame(shape),
      buckets: counted.told(),
      held: [...held].map(([resource, levels]) => ({
        resource,
        levels: levels.told(),
        nominal: inBaseUnit(resource, nominal.get(resource) ?? amountIn(resource, '0')),
      })),
      // The share needs the Jobs of other queues, so it is for viewers who may see all queues.
      share: seen.queues === 'All' ? own.told().map((much, position) => much / Math.max(1, everybody[position] ?? 0)) : [],
      ...omitUndefined({ note: withUnknown(note, unknown) }),
    };
  }

  async #readCluster(name: string, hours: number, seen: Rights): Promise<ClusterTimeLine> {
    const { capacityOf, clock } = this.#deps;
    const shape = bucketsOf(hours, clock.now());
    const counted = createPlacementBuckets(name, shape);
    const held = new Map<string, Levels>();
    let unknown = 0;
    const note = await this.#visit(hours, (span) => {
      const there = span.past.admissions.filter(({ cluster, untilMs = Infinity }) => cluster === name && untilMs >= shape.fromMs);
      for (const [resource, amount] of there.length === 0 ? [] : span.requests()) {
        const levels = held.get(resource) ?? createLevels(shape);
        held.set(resource, levels);
        for (const { fromMs, untilMs } of there) levels.add(fromMs, untilMs, inBaseUnit(resource, amount));
      }
      if (!seesJob(seen, span)) return;
      counted.add(span);
      if ((span.past.unknownUntilMs ?? 0) > shape.fromMs) unknown++;
    });
    return {
      ...frame(shape),
      buckets: counted.told(),
      held: levelsOf(held, capacityOf(name), shape),
      ...omitUndefined({ note: withUnknown(note, unknown) }),
    };
  }

  /** Visits every Job of these hours, in time slices. Resolves with a note on what is missing. */
  async #visit(hours: number, visit: (span: Span) => void): Promise<string | undefined> {
    const { index, ended, clock } = this.#deps;
    const kept = await this.#goneSince(hours);
    const slices = createTimeSlices(clock, SLICE_MS);
    const lines = index.ordered();
    for (let from = 0; from < lines.length; from += JOBS_PER_SLICE) {
      for (const line of lines.slice(from, from + JOBS_PER_SLICE)) if (line.canary !== true) visit(this.#spanOf(line));
      await slices.nextWhenOver();
    }
    for (const job of kept) if (index.get(job.line.key)?.uid !== job.line.uid) visit(job);
    if (ended === undefined) return 'no history is kept (--history-store): Jobs that are gone are missing';
    return kept.length >= ENDED_MAX ? `of Jobs that are gone only the last ${ENDED_MAX} that ended are counted` : undefined;
  }

  #spanOf(line: JobLine): Span {
    const { index } = this.#deps;
    const { key, createdMs, endedMs, state } = line;
    return {
      line,
      createdMs,
      past: pastOf(line, index.earlierOf(key)),
      ...omitUndefined({ endedMs }),
      ...(hasEnded(line) ? { outcome: state === 'Complete' ? 'Complete' : 'Failed' } : {}),
      requests: () => index.requestsOf(key),
    };
  }

  /** Jobs of history, read once for all viewers. */
  #goneSince(hours: number): Promise<readonly Span[]> {
    const { clock } = this.#deps;
    const gone = this.#gone;
    const known = gone.get(hours);
    if (known !== undefined && clock.now() - known.atMs < HISTORY_TTL_MS) return known.jobs;
    const jobs = this.#readGone(clock.now() - hours * HOUR_MS);
    gone.delete(hours);
    gone.set(hours, { atMs: clock.now(), jobs });
    if (gone.size > GONE_MAX) gone.delete(gone.keys().next().value ?? 0);
    return jobs;
  }

  async #readGone(sinceMs: number): Promise<readonly Span[]> {
    const ended = (await this.#deps.ended?.(sinceMs, ENDED_MAX)) ?? [];
    return ended.filter(({ name }) => !isCanaryName(name)).map(goneJob);
  }
}

function seesJob({ namespaces }: Rights, { line, gone: kept }: Span): boolean {
  if (!seesIt(namespaces, namespaceOf(line))) return false;
  return namespaces === 'All' || kept === undefined || kept.namespaceUid === seenUid(namespaces, namespaceOf(line));
}

const frame = ({ fromMs, bucketMs, count }: BucketShape): Pick<TimeLine, 'fromMs' | 'untilMs' | 'bucketMs'> => ({
  fromMs,
  untilMs: fromMs + count * bucketMs,
  bucketMs,
});

/** What is held of each resource, beside the capacity, the most important first. */
const levelsOf = (held: ReadonlyMap<string, Levels>, capacity: Requests, shape: BucketShape): ClusterTimeLine['held'] =>
  [...new Set([...held.keys(), ...[...capacity.keys()].filter(isAlwaysShown)])]
    .toSorted(byImportance)
    .slice(0, RESOURCES_SHOWN)
    .map((resource) => {
      const amount = capacity.get(resource);
      return {
        resource,
        levels: (held.get(resource) ?? createLevels(shape)).told(),
        ...omitUndefined({ capacity: amount === undefined ? undefined : inBaseUnit(resource, amount) }),
      };
    });

function withUnknown(note: string | undefined, jobs: number): string | undefined {
  if (jobs === 0) return note;
  const unknown = `earlier admissions of ${jobs} ${jobs === 1 ? 'Job' : 'Jobs'} are not recorded: until the first that is, these count nowhere`;
  return note === undefined ? unknown : `${note}; ${unknown}`;
}

function goneJob(job: KeptJob): Span {
  const createdMs = parseWireTime(job.created) ?? 0;
  const times = omitUndefined({ admittedMs: parseWireTime(job.admitted), endedMs: parseWireTime(job.ended) });
  const outcome = job.outcome === 'Complete' ? 'Complete' : 'Failed';
  const { localQueue: queue, clusterQueue, cluster, succeeded, failed } = job;
  return {
    createdMs,
    past: keptPastOf(job),
    ...omitUndefined({ endedMs: times.endedMs }),
    outcome,
    line: {
      key: keyOfKept(job),
      ...omitUndefined({ kind: job.kind }),
      uid: job.uid,
      state: outcome,
      createdMs,
      ...times,
      ...omitUndefined({ queue, clusterQueue, cluster }),
      completions: Math.max(1, succeeded),
      active: 0,
      succeeded,
      failed,
    },
    gone: { namespaceUid: job.namespaceUid },
    requests: () => new Map(Object.entries(job.requests ?? {}).map(([resource, quantity]) => [resource, amountIn(resource, quantity)])),
  };
}
