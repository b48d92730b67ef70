import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../../shared/api/wire-time.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { requestsOfJob } from '../../api/job-requests.ts';
import { isOfShape, shapeOf } from '../../api/job-shape.ts';
import type { AdmissionRecord } from '../../api/records.ts';

/**
 * Recent final refusals, by cluster and shape of Job. Jobs of the same shape that were already admitted to that cluster are held back until
 * admission has moved them, so that many such Jobs cost the cluster few requests.
 */
export interface RecentRefusals {
  /** The cluster has refused a Job for good. */
  note(cluster: string, job: DeepReadonly<Job> | undefined, reason: string): void;
  /** Milliseconds for which a Job with this admission is not to be sent to the cluster; 0: it may be sent. */
  holdMs(cluster: string, job: DeepReadonly<Job> | undefined, admission: Pick<AdmissionRecord, 'since'>): number;
}

/** Admission may have thousands of Jobs to move, at one write each. A Job that is still there afterwards is sent. */
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
      // An admission after the refusal was made with knowledge of it.
      if (refusal === undefined || (parseWireTime(since) ?? 0) > refusal.atMs) return 0;
      return Math.max(0, refusal.untilMs - clock.monotonic());
    },
  };
}

const keyOf = (cluster: string, job: DeepReadonly<Job>): string => `${cluster} ${shapeOf(job, requestsOfJob(job).requests)}`;
