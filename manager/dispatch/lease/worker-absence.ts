import type { Clock } from '../../../shared/runtime/clock.ts';
import { isWithoutWorker, workerAbsence, type WorkerFinding } from '../cluster/worker-finding.ts';

/** For how long nobody has run the copies on one cluster, as its findings tell. */
export interface WorkerAbsence {
  /** The finding, which says of a cluster without a worker whether one may still be starting. Call with each. */
  found(finding: WorkerFinding): WorkerFinding;
  /** Why no worker has run the copies for {@link ABSENCE_TOLD_MS}; undefined while one does, or nobody can tell. */
  told(): string | undefined;
}

/** A worker that was just installed has this long to announce itself before its cluster counts as one without a worker. */
export const WORKER_START_MS = 40_000;
/** A worker that is replaced, as in an upgrade, is back sooner than its Jobs say that they have none. */
export const ABSENCE_TOLD_MS = 60_000;

/** `onChanged`: what is told has changed. */
export function createWorkerAbsence(clock: Clock, onChanged: () => void): WorkerAbsence {
  let sinceMs: number | undefined;
  let told: string | undefined;
  const forMs = (): number => (sinceMs === undefined ? 0 : clock.monotonic() - sinceMs);
  return {
    found(finding) {
      // A cluster that is out of reach neither has a worker nor lacks one.
      if (finding.kind === 'OutOfSight') return finding;
      const isAbsent = isWithoutWorker(finding);
      sinceMs = isAbsent ? (sinceMs ?? clock.monotonic()) : undefined;
      const now = isAbsent && forMs() >= ABSENCE_TOLD_MS ? workerAbsence(finding) : undefined;
      const hasChanged = now !== told;
      told = now;
      if (hasChanged) onChanged();
      return finding.kind === 'None' ? { ...finding, mayStart: forMs() < WORKER_START_MS } : finding;
    },
    told: () => told,
  };
}
