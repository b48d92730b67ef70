import type { Clock } from '../../shared/runtime/clock.ts';
import { createTimeSlices } from '../../shared/runtime/time-slices.ts';
import type { FairScheduler } from './fair-scheduler.ts';
import type { JobIndex } from './job-index.ts';
import { findJobs, foundKey, pageOf, type FoundJobs, type JobLookups, type JobQuery } from './job-query.ts';
import { rightsKey, type Seen } from './rights.ts';
import type { JobPage } from './views.ts';

/**
 * Pages of Jobs for tables. The result of a query is computed once for all viewers with the same rights, in time slices: with many Jobs a
 * query scans all of them, while the manager has other work.
 */
export interface JobTable {
  /** `owner`: the user whose turn the work takes. Undefined where too many queries wait. */
  page(query: JobQuery, namespaces: Seen, owner: string): Promise<JobPage | undefined>;
}

export type JobTableDeps = {
  readonly index: Pick<JobIndex, 'ordered' | 'labelsOf' | 'version'>;
  readonly clusterQueueOf: JobLookups['clusterQueueOf'];
  readonly turns: FairScheduler;
  readonly clock: Clock;
};

/** A result is reused for this long, though Jobs have changed: pages refresh every few seconds. */
const FRESH_MS = 1_000;
/** Results kept; each may list all Jobs. */
const FOUND_MAX = 8;
const SLICE_MS = 8;

type Known = {
  readonly found: Promise<FoundJobs>;
  /** The time of the result, and its version of the index; a result that still waits for its turn counts as current. */
  made: { readonly atMs: number; readonly version: number } | undefined;
};

export function createJobTable({ index, clusterQueueOf, turns, clock }: JobTableDeps): JobTable {
  const known = new Map<string, Known>();

  const find = async (query: JobQuery, namespaces: Seen): Promise<FoundJobs> => {
    const slices = createTimeSlices(clock, SLICE_MS);
    const steps = findJobs(index.ordered(), query, namespaces, { labelsOf: (line) => index.labelsOf(line), clusterQueueOf });
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await slices.nextWhenOver();
    }
  };

  const isOld = ({ made }: Known): boolean =>
    made !== undefined && made.version !== index.version() && clock.monotonic() - made.atMs >= FRESH_MS;

  const foundFor = (query: JobQuery, namespaces: Seen, owner: string): Promise<FoundJobs> | undefined => {
    for (const [key, each] of known) if (isOld(each)) known.delete(key);
    const rightsId = rightsKey({ namespaces, queues: 'All', clusters: 'All' });
    const key = `${rightsId} ${foundKey(query)}`;
    const before = known.get(key);
    if (before !== undefined) return before.found;
    const found = turns.take(owner, async () => {
      const version = index.version();
      try {
        return await find(query, namespaces);
      } finally {
        asked.made = { atMs: clock.monotonic(), version };
      }
    });
    if (found === undefined) return undefined;
    const asked: Known = { found, made: undefined };
    known.set(key, asked);
    const oldest = known.size > FOUND_MAX ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return found;
  };

  return {
    async page(query, namespaces, owner) {
      const found = await foundFor(query, namespaces, owner);
      return found && pageOf(found, query);
    },
  };
}
