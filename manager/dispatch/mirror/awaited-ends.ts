import { hasTrueCondition, isFinished } from '../../../shared/kube/conditions.ts';
import type { Copy, MirrorGroup } from './mirror-group.ts';

/** Longest that a copy stays for the sake of what its worker tells of its pods: the reading of a log may take two seconds. */
export const ENDS_PATIENCE_MS = 3_000;

/**
 * Whether a copy has ended of which its worker tells apart from its status how its pods have ended: that of a Job tells it together with
 * the end.
 */
export const hasEndedCopy = ({ kind, copies }: Pick<MirrorGroup, 'kind' | 'copies'>): boolean =>
  typeof kind.fence === 'object' && copies.some(({ job, deleting }) => !deleting && isFinished(job.status));

/** How long a copy that has ended stays for that reason, in milliseconds; 0: not at all. */
export function awaitsEndsForMs(group: MirrorGroup, { cluster, job, deleting }: Copy, nowMs: number): number {
  const view = group.clusters.get(cluster);
  if (typeof group.kind.fence !== 'object' || deleting || !isFinished(job.status)) return 0;
  // No worker is there that would tell anything.
  if (view === undefined || view.builtIn === true || view.withoutWorker !== undefined || view.leaving === true) return 0;
  return Math.max(0, (group.endedSinceMs ?? nowMs) + ENDS_PATIENCE_MS - nowMs);
}

/** How long the failure of a copy is not reported yet, in milliseconds: the report names the pod that failed. */
export const reportsFailureInMs = (group: MirrorGroup, copy: Copy, nowMs: number): number =>
  hasTrueCondition(copy.job.status?.conditions, 'Failed') ? awaitsEndsForMs(group, copy, nowMs) : 0;
