import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../../shared/api/wire-time.ts';
import { finishedCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { awaitsEndsForMs } from '../mirror/awaited-ends.ts';
import { isOf, type Copy, type MirrorGroup } from '../mirror/mirror-group.ts';

export type Retained = { readonly copies: ReadonlySet<Copy>; readonly againAfterMs?: number };

/**
 * The copies of a finished Job that stay for now, and when to check again. Copies of a Job that is being deleted go, and so do unfinished
 * copies.
 */
export function retainedCopies(group: MirrorGroup, local: DeepReadonly<WorkObject>, copies: readonly Copy[], nowMs: number): Retained {
  const end = finishedCondition(local.status);
  const endedMs = parseWireTime(end?.lastTransitionTime);
  if (end === undefined || endedMs === undefined || local.metadata.deletionTimestamp !== undefined) return { copies: new Set() };
  const kept = copies.flatMap((copy) => {
    const view = group.clusters.get(copy.cluster);
    if (copy.deleting || view === undefined || view.leaving === true) return [];
    if (!isOf(copy.job, local) || !isFinished(copy.job.status)) return [];
    // A cluster whose clock is ahead may set an end in the future.
    const sinceMs = Math.max(0, nowMs - endedMs);
    const { completeMs, failedMs } = view.retains ?? { completeMs: 0, failedMs: 0 };
    const leftMs = Math.max((end.type === 'Complete' ? completeMs : failedMs) - sinceMs, awaitsEndsForMs(group, copy, nowMs));
    return leftMs > 0 ? [{ copy, leftMs }] : [];
  });
  if (kept.length === 0) return { copies: new Set() };
  return { copies: new Set(kept.map(({ copy }) => copy)), againAfterMs: Math.min(...kept.map(({ leftMs }) => leftMs)) };
}
