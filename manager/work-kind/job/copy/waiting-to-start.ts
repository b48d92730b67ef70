import type { DeepReadonly, Job } from '../../../../shared/api/kubernetes.ts';
import { hasVerdict } from '../status-home/to-local-status.ts';
import { podsReady } from '../job-progress.ts';

/** Pods of the Job are wanted, and by its status none of them is or was ready. */
export const isWaitingToStart = ({ metadata, spec, status }: DeepReadonly<Job>): boolean =>
  metadata.deletionTimestamp === undefined &&
  spec.suspend !== true &&
  spec.parallelism !== 0 &&
  podsNotStarted(status) &&
  !hasVerdict(status);

function podsNotStarted(status: DeepReadonly<Job>['status']): boolean {
  // An API server that does not count ready pods leaves open whether active pods have started.
  const ready = status?.ready === undefined ? 0 : podsReady(status);
  return ready === 0 && (status?.succeeded ?? 0) === 0 && (status?.failed ?? 0) === 0;
}
