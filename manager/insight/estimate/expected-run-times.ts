import type { Job } from '../../../shared/api/kubernetes.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { RunTimeEstimates } from '../../admission/admission.ts';
import type { RecordReader } from '../../api/records.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { queueingOf, type World } from '../world/world.ts';
import type { Past } from './run-time-sampler.ts';
import { familyOf, runFactsOf, type History, type Run, type RunTimes } from './run-times.ts';

/** How long Jobs are expected to hold their quota, in milliseconds, for reservations by time. */
export interface ExpectedRunTimes {
  /** Undefined if nothing is known. `longestMs`: the longest time that the Job may run; undefined: unlimited. */
  of(clusterQueue: string, family: string, longestMs: number | undefined): number | undefined;
  /**
   * A Job went in front of one with a reservation and outlived the time that was expected of it: the next of its family is charged for it.
   */
  outlived(clusterQueue: string, family: string): void;
  /** Learns from a Job that has ended. One that ended in the time that was expected of it halves what its family is charged. */
  observe(run: Run): void;
}

/** The share of runs that are no longer than what is expected. */
const QUANTILE = 0.5;
/** Families that are charged at most, and how much longer their next run is expected to be at most. */
const CHARGED_MAX = 1_024;
const CHARGE_MAX = 16;

export function createExpectedRunTimes(runTimes: RunTimes): ExpectedRunTimes {
  /** Factors above 1 by family, the last charged last. */
  const charges = new Map<string, number>();
  const nameOf = (clusterQueue: string, family: string): string => `${clusterQueue} ${family}`;
  const of: ExpectedRunTimes['of'] = (clusterQueue, family, longestMs) => {
    const history = runTimes.of(clusterQueue, family);
    if (history === undefined) return longestMs;
    const expectedMs = quantileOf(history, QUANTILE) * (charges.get(nameOf(clusterQueue, family)) ?? 1);
    return Math.min(expectedMs, longestMs ?? Number.POSITIVE_INFINITY);
  };
  return {
    of,
    outlived: (clusterQueue, family) => {
      const name = nameOf(clusterQueue, family);
      const factor = Math.min(CHARGE_MAX, 2 * (charges.get(name) ?? 1));
      charges.delete(name);
      charges.set(name, factor);
      if (charges.size > CHARGED_MAX) charges.delete(charges.keys().next().value ?? '');
    },
    observe: (run) => {
      const { clusterQueue, family, ranMs } = run;
      const name = nameOf(clusterQueue, family);
      const factor = charges.get(name);
      const isInTime = factor !== undefined && ranMs <= (of(clusterQueue, family, undefined) ?? 0);
      runTimes.observe(run);
      if (!isInTime) return;
      if (factor <= 2) charges.delete(name);
      else charges.set(name, factor / 2);
    },
  };
}

/** The same by Job, as admission asks it. */
export const expectedOfJobs = (
  kind: WorkKind,
  expected: ExpectedRunTimes,
  jobs: Lister<Job>,
  readRecord: RecordReader,
): RunTimeEstimates => ({
  of: ({ key, record }, clusterQueue) => {
    const job = jobs.get(parseKey(key));
    const facts = job && runFactsOf(kind, job);
    return facts && expected.of(clusterQueue, facts.family, facts.longestMs(record));
  },
  outlived: (key) => {
    const job = jobs.get(parseKey(key));
    const parsed = job && readRecord(job);
    if (job !== undefined && parsed?.kind === 'Record') expected.outlived(parsed.record.clusterQueue, familyOf(job));
  },
});

/**
 * The world in which admission expects of its Jobs what their past tells, as the manager does once a ClusterQueue has the strategy
 * Backfill. What single families are charged is not known here.
 */
export function withExpectedTimes(world: World, { runTimes, factsOf }: Past): World {
  const { backfills, localQueues } = queueingOf(world);
  if (!backfills) return world;
  const { of } = createExpectedRunTimes(runTimes);
  const workloads = world.workloads.map((workload): Workload => {
    const { key, namespace, queue, record, phase } = workload;
    const clusterQueue =
      phase === 'Pending' || record === undefined ? localQueues.get(`${namespace}/${queue}`)?.clusterQueue : record.clusterQueue;
    const facts = factsOf(key);
    if (clusterQueue === undefined || facts === undefined) return workload;
    return { ...workload, ...omitUndefined({ expectedMs: of(clusterQueue, facts.family, facts.longestMs(record)) }) };
  });
  return { ...world, workloads };
}

/** The run time that this share of the weighted runs does not exceed. */
function quantileOf({ runs }: History, share: number): number {
  const all = runs.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  for (const { ranMs, weight } of runs) {
    before += weight;
    if (before >= share * all) return ranMs;
  }
  return runs.at(-1)?.ranMs ?? 0;
}
