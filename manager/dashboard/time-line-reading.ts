import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { given } from '../../shared/runtime/given.ts';
import type { JobIndex } from './job-index.ts';
import { isOver, namespaceOf } from './job-line.ts';
import type { KeptJob } from './job-view.ts';
import { rightsKey, seesIt, type Rights } from './rights.ts';
import { bucketsOf, HOURS_MAX, timeBuckets, type JobSpan } from './time-line.ts';
import type { TimeLine } from './views.ts';

/** What happened in the last hours, as far as Jobs that are there and history tell. */
export type ReadTimeLine = (hours: number, seen: Rights) => Promise<TimeLine>;

export type TimeLineDeps = {
  readonly index: Pick<JobIndex, 'ordered' | 'get'>;
  /** Jobs that ended since then, the latest first; absent: nothing is kept of Jobs that are gone. */
  readonly ended: ((sinceMs: number, limit: number) => Promise<readonly KeptJob[]>) | undefined;
  readonly clock: Clock;
};

/** Of Jobs that are gone, so many are read: each is an object of the store. */
const ENDED_MAX = 2_000;
/** Then all of it is looked at anew. */
const KEPT_MS = 15_000;
const GONE_KEPT_MS = 60_000;
/** Made for so many rights and times. */
const LINES_MAX = 64;

type Gone = JobSpan & { readonly uid: string; readonly key: string };

export function createTimeLines({ index, ended, clock }: TimeLineDeps): ReadTimeLine {
  const lines = new Map<string, { readonly atMs: number; readonly line: Promise<TimeLine> }>();
  const gone = new Map<number, { readonly atMs: number; readonly jobs: Promise<readonly Gone[]> }>();

  /** For whoever asks: read once. */
  const goneSince = (hours: number): Promise<readonly Gone[]> => {
    const known = gone.get(hours);
    if (known !== undefined && clock.now() - known.atMs < GONE_KEPT_MS) return known.jobs;
    const jobs = readGone(clock.now() - hours * 3_600_000);
    gone.set(hours, { atMs: clock.now(), jobs });
    if (gone.size > HOURS_MAX / 8) gone.delete(gone.keys().next().value ?? 0);
    return jobs;
  };

  const readGone = async (sinceMs: number): Promise<readonly Gone[]> =>
    ((await ended?.(sinceMs, ENDED_MAX)) ?? []).map((job) => ({
      uid: job.uid,
      key: `${job.namespace}/${job.name}`,
      createdMs: parseWireTime(job.created) ?? 0,
      ...given({ admittedMs: parseWireTime(job.admitted), endedMs: parseWireTime(job.ended) }),
      outcome: job.outcome === 'Complete' ? 'Complete' : 'Failed',
    }));

  const made = async (hours: number, seen: Rights): Promise<TimeLine> => {
    const kept = await goneSince(hours);
    const buckets = bucketsOf(hours, clock.now());
    const sees = (key: string): boolean => seesIt(seen.namespaces, namespaceOf({ key }));
    const spans: JobSpan[] = [];
    for (const line of index.ordered()) {
      if (!sees(line.key)) continue;
      const { createdMs, admittedMs, endedMs, state } = line;
      // One that waits again has a record of its last admission, which is over.
      const isAdmitted = state !== 'Waiting' && state !== 'Held';
      spans.push({
        createdMs,
        ...given({ admittedMs: isAdmitted ? admittedMs : undefined, endedMs }),
        ...(isOver(line) ? { outcome: state === 'Complete' ? 'Complete' : 'Failed' } : {}),
      });
    }
    for (const job of kept) if (sees(job.key) && index.get(job.key)?.uid !== job.uid) spans.push(job);
    const note =
      ended === undefined
        ? 'no history is kept (--history-store): Jobs that are gone are missing'
        : kept.length >= ENDED_MAX
          ? `of Jobs that are gone only the last ${ENDED_MAX} that ended are counted`
          : undefined;
    return {
      fromMs: buckets.fromMs,
      untilMs: buckets.fromMs + buckets.count * buckets.bucketMs,
      bucketMs: buckets.bucketMs,
      buckets: timeBuckets(spans, buckets),
      ...given({ note }),
    };
  };

  return async (hours, seen) => {
    const key = `${hours} ${rightsKey(seen)}`;
    const known = lines.get(key);
    if (known !== undefined && clock.now() - known.atMs < KEPT_MS) return known.line;
    const line = made(hours, seen);
    lines.delete(key);
    lines.set(key, { atMs: clock.now(), line });
    const oldest = lines.size > LINES_MAX ? lines.keys().next().value : undefined;
    if (oldest !== undefined) lines.delete(oldest);
    try {
      return await line;
    } catch (error) {
      // Nobody is told of it again.
      lines.delete(key);
      gone.delete(hours);
      throw error;
    }
  };
}
