import type { PackingJob } from './jobs.ts';

/**
 * From where a run time is known beforehand. `exact`: it is the true one. `limit`: what the user states, too long by up to five times in
 * generated loads. `history`: from Jobs of the same family that have ended.
 */
export const ESTIMATES = ['exact', 'limit', 'history'] as const;
export type EstimateKind = (typeof ESTIMATES)[number];

export type RunTimeEstimates = {
  /** In milliseconds, at least 1. */
  of(job: PackingJob): number;
  ended(job: PackingJob): void;
};

/** What is assumed while nothing has ended. */
const UNKNOWN_MS = 3_600_000;

/**
 * History is the mean of the last two runs of the family, as in Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated
 * Predictions Rather than User Runtime Estimates" (2007); for a new family the mean of all.
 */
export function runTimeEstimates(kind: EstimateKind): RunTimeEstimates {
  const lastOf = new Map<string, readonly number[]>();
  let sumMs = 0;
  let count = 0;
  return {
    of: (job) => {
      if (kind === 'exact') return Math.max(1, job.runMs);
      if (kind === 'limit') return Math.max(1, job.limitMs);
      const last = lastOf.get(job.family);
      if (last === undefined) return count === 0 ? UNKNOWN_MS : Math.max(1, sumMs / count);
      return Math.max(1, last.reduce((sum, each) => sum + each, 0) / last.length);
    },
    ended: ({ family, runMs }) => {
      lastOf.set(family, [...(lastOf.get(family) ?? []), runMs].slice(-2));
      sumMs += runMs;
      count++;
    },
  };
}
