/** How soon a Job is looked at again. */
import type { JobMemory } from './job-memory.ts';

/**
 * Events of pods and statuses are gathered over the batch period, so that many share one sync and its status writes.
 * A sync that was capped - it could create, remove or count only so many pods - goes on without that pause, as soon as the
 * caches show what it did: each capped sync is a batch already.
 */
export function nextSyncDelayMs(memory: JobMemory, jobUid: string, batchPeriodMs: number): number {
  const hasRest = memory.capped.has(jobUid) && memory.expectations.satisfied(jobUid) && memory.written.behind(jobUid).length === 0;
  return hasRest ? 0 : batchPeriodMs;
}
