import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../../shared/api/wire-time.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { requestsOfJob } from '../../api/job-requests.ts';
import { isOfShape, shapeOf } from '../../api/job-shape.ts';
import type { AdmissionRecord } from '../../api/records.ts';

/**
 * What clusters have refused a moment ago, by shape of Job. Those of the same shape that were on their way there by then are held back until admission has
 * called them off, so that many of them cost a cluster that refuses them a few requests, and not as many.
 */
export interface RecentRefusals {
  /** A cluster has refused a Job for good. */
  note(cluster: string, job: DeepReadonly<Job> | undefined, reason: string): void;
  /** For how long a Job that was admitted then is not to be sent to a cluster, in milliseconds; 0: it may be sent. */
  holdMs(cluster: string, job: DeepReadonly<Job> | undefined, admission: Pick<AdmissionRecord, 'since'>): number;
}

/** Thousands may have to be called off, one write each. Whoever is still there after that is sent. */
const HOLD_MS = 60_000;

export function createRecentRefusals(clock: Clock): RecentRefusals {
  const refusals = new Map<string, { readonly atMs: number; readonly untilMs: number }>();
  return {
    note(cluster, job, reason) {
      if (job === undefined || !isOfShape(reason)) return;
      const nowMs = clock.monotonic();
      for (const [key, { untilMs }] of refusals) if (untilMs <= nowMs) refusals.delete(key);
      refusals.set(keyOf(cluster, job), { atMs: clock.now(), untilMs: nowMs + HOLD_MS });
    },
    holdMs(cluster, job, { since }) {
      const refusal = job === undefined || refusals.size === 0 ? undefined : refusals.get(keyOf(cluster, job));
      // Whoever was admitted after that goes there on purpose.
      if (refusal === undefined || (parseWireTime(since) ?? 0) > refusal.atMs) return 0;
      return Math.max(0, refusal.untilMs - clock.monotonic());
    },
  };
}

const keyOf = (cluster: string, job: DeepReadonly<Job>): string => `${cluster} ${shapeOf(job, requestsOfJob(job).requests)}`;
