import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../../shared/api/wire-time.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { isOfShape, shapeOf } from '../../api/job-shape.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { requestsOf } from '../../work-kind/pod-sets.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * Recent final refusals, by cluster and shape of Job. Jobs of the same shape that were already admitted to that cluster are held back until
 * admission has moved them, so that many such Jobs cost the cluster few requests.
 */
export interface RecentRefusals {
  /** The cluster has refused a Job for good. */
  note(cluster: string, job: DeepReadonly<WorkObject> | undefined, reason: string): void;
  /** Milliseconds for which a Job with this admission is not to be sent to the cluster; 0: it may be sent. */
  holdMs(cluster: string, job: DeepReadonly<WorkObject> | undefined, admission: Pick<AdmissionRecord, 'since'>): number;
}

/** Admission may have thousands of Jobs to move, at one write each. A Job that is still there afterwards is sent. */
const HOLD_MS = 60_000;

export function createRecentRefusals(kind: WorkKind, clock: Clock): RecentRefusals {
  const refusals = new Map<string, { readonly atMs: number; readonly untilMs: number }>();
  return {
    note(cluster, job, reason) {
      if (job === undefined || !isOfShape(reason)) return;
      const nowMs = clock.monotonic();
      for (const [key, { untilMs }] of refusals) if (untilMs <= nowMs) refusals.delete(key);
      refusals.set(keyOf(kind, cluster, job), { atMs: clock.now(), untilMs: nowMs + HOLD_MS });
    },
    holdMs(cluster, job, { since }) {
      const refusal = job === undefined || refusals.size === 0 ? undefined : refusals.get(keyOf(kind, cluster, job));
      // An admission after the refusal was made with knowledge of it.
      if (refusal === undefined || (parseWireTime(since) ?? 0) > refusal.atMs) return 0;
      return Math.max(0, refusal.untilMs - clock.monotonic());
    },
  };
}

const keyOf = (kind: WorkKind, cluster: string, job: DeepReadonly<WorkObject>): string =>
  `${cluster} ${shapeOf(job.metadata.namespace, requestsOf(kind.podSets(job)).requests, kind.programOf(job))}`;
