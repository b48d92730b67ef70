import type { JobSpan } from './time-line.ts';
import type { JobLine, PastYard } from './views.ts';

/** A Job of some time, as a line of it: what it was then is worked out from its times. */
export type PastJob = JobSpan & { readonly line: JobLine };

const SHOWN = 24;

/** What stood where at one moment. */
export interface Moment {
  add(job: PastJob): void;
  told(): Pick<PastYard, 'waiting' | 'running'>;
}

/**
 * Jobs that waited then, by queue, and that ran, by cluster. `queueOf`: the ClusterQueue that a Job of a LocalQueue (`NAMESPACE/NAME`) waited for, as far as
 * somebody may see it.
 */
export function createMoment(atMs: number, queueOf: (localQueue: string) => string | undefined): Moment {
  const waiting = new Map<string, { readonly name: string; readonly isLocal: boolean; readonly jobs: JobLine[] }>();
  const running = new Map<string, JobLine[]>();
  return {
    add({ createdMs, admittedMs, endedMs, line }) {
      if (createdMs > atMs || (endedMs !== undefined && endedMs <= atMs)) return;
      const { key, uid, queue, cluster } = line;
      // How far it was then is not known: it is told of as one thing.
      const then = { key, uid, createdMs, completions: 1, active: 0, succeeded: 0, failed: 0, ...(queue !== undefined && { queue }) };
      if (admittedMs !== undefined && admittedMs <= atMs) {
        const there = running.get(cluster ?? '') ?? [];
        there.push({ ...then, state: 'Running', admittedMs, ...(cluster !== undefined && { cluster }) });
        running.set(cluster ?? '', there);
        return;
      }
      const local = `${key.slice(0, key.indexOf('/'))}/${queue ?? ''}`;
      const seen = queueOf(local);
      const name = seen ?? local;
      const there = waiting.get(name) ?? { name, isLocal: seen === undefined, jobs: [] };
      there.jobs.push({ ...then, state: 'Waiting' });
      waiting.set(name, there);
    },
    told: () => ({
      waiting: [...waiting.values()].toSorted(byName).map(({ jobs, ...queue }) => ({ ...queue, ...some(jobs, (job) => job.createdMs) })),
      running: [...running].map(([cluster, jobs]) => ({ name: cluster, ...some(jobs, (job) => job.admittedMs ?? 0) })).toSorted(byName),
    }),
  };
}

/** How many, and those that came first. */
const some = (
  jobs: readonly JobLine[],
  cameMs: (job: JobLine) => number,
): { readonly count: number; readonly first: readonly JobLine[] } => ({
  count: jobs.length,
  first: jobs.toSorted((a, b) => cameMs(a) - cameMs(b) || (a.key < b.key ? -1 : 1)).slice(0, SHOWN),
});

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
