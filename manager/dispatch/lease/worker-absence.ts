import type { Clock } from '../../../shared/runtime/clock.ts';
import { isWithoutWorker, workerAbsence, type WorkerFinding } from '../cluster/worker-finding.ts';

/** For how long no worker has run the copies on one cluster, by the findings of its probes. */
export interface WorkerAbsence {
  /** Records a finding and returns it; for a cluster without a worker with `mayStart` set. Call with each finding. */
  found(finding: WorkerFinding): WorkerFinding;
  /** Why no worker has run the copies for {@link ABSENCE_REPORTED_MS}; undefined while a worker runs them, or when that is unknown. */
  reason(): string | undefined;
}

/** Time in which a worker that was just installed announces itself before its cluster counts as a cluster without a worker. */
export const WORKER_START_MS = 40_000;
/** Longer than it takes to replace a worker, as in an upgrade, so that Jobs do not report such a gap. */
export const ABSENCE_REPORTED_MS = 60_000;

/** `onChanged` is called when the result of `reason` has changed. */
export function createWorkerAbsence(clock: Clock, onChanged: () => void): WorkerAbsence {
  let sinceMs: number | undefined;
  let reported: string | undefined;
  const forMs = (): number => (sinceMs === undefined ? 0 : clock.monotonic() - sinceMs);
  return {
    found(finding) {
      // A cluster out of reach neither has nor lacks a worker.
      if (finding.kind === 'OutOfSight') return finding;
      const isAbsent = isWithoutWorker(finding);
      sinceMs = isAbsent ? (sinceMs ?? clock.monotonic()) : undefined;
      const now = isAbsent && forMs() >= ABSENCE_REPORTED_MS ? workerAbsence(finding) : undefined;
      const hasChanged = now !== reported;
      reported = now;
      if (hasChanged) onChanged();
      return finding.kind === 'None' ? { ...finding, mayStart: forMs() < WORKER_START_MS } : finding;
    },
    reason: () => reported,
  };
}
