/** How soon a Job is looked at again. */
import type { JobMemory } from './job-memory.ts';
import type { JobIdentity } from './written-versions.ts';

/**
 * Events of pods and statuses are gathered over the batch period, so that many share one sync and its status writes.
 * A sync that was capped - it could create, remove or count only so many pods - goes on without that pause, as soon as the
 * caches show what it did: each capped sync is a batch already.
 */
export function nextSyncDelayMs(memory: JobMemory, job: JobIdentity, batchPeriodMs: number): number {
  const hasRest = memory.capped.has(job.uid) && memory.expectations.satisfied(job.uid) && memory.written.behind(job).length === 0;
  return hasRest ? 0 : batchPeriodMs;
}
