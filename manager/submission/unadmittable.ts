import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { findCondition, isFinished } from '../../shared/kube/conditions.ts';
import { QuotaReservedReason, SwitchyardCondition } from '../api/reasons.ts';
import { formatWork } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { Outcome } from './submission-queue.ts';

/**
 * For what a Job can never be admitted as things are: something would have to change in it, or in its queues. What waits for room, for
 * others or for a check is not among it, nor what is plainly wrong with a queue and no fault of the Job.
 */
const NEVER: ReadonlySet<string> = new Set([
  QuotaReservedReason.ExceedsQuota,
  QuotaReservedReason.NoMatchingFlavor,
  QuotaReservedReason.LocalQueueNotFound,
  QuotaReservedReason.ClusterQueueNotFound,
  QuotaReservedReason.NamespaceNotAllowed,
  QuotaReservedReason.PriorityClassNotFound,
  QuotaReservedReason.PriorityNotAllowed,
  QuotaReservedReason.InvalidJob,
  QuotaReservedReason.ForbiddenByLimitRange,
]);

/** Why the Job can never be admitted; undefined where it might be, or has been. */
export function unadmittable(job: DeepReadonly<Job>): string | undefined {
  const { metadata, status } = job;
  if (metadata.annotations?.[ADMISSION_ANNOTATION] !== undefined || metadata.deletionTimestamp !== undefined || isFinished(status))
    return undefined;
  const condition = findCondition(status?.conditions, SwitchyardCondition.QuotaReserved);
  if (condition?.status !== 'False' || !NEVER.has(condition.reason ?? '')) return undefined;
  return `${condition.reason}: ${condition.message ?? ''}`;
}

const YOUNG_MS = 600_000;
const STEADY_YOUNG_MS = 60_000;
const STEADY_OLD_MS = 1_800_000;

/**
 * For how long that must be so until its submission fails. Who has just submitted wants to hear soon; a Job that has waited for long is not
 * given up because somebody rearranges the queues.
 */
export const steadyMs = ({ metadata }: DeepReadonly<Job>, sinceMs: number): number =>
  sinceMs - Date.parse(metadata.creationTimestamp) < YOUNG_MS ? STEADY_YOUNG_MS : STEADY_OLD_MS;

/** How the submission of such a Job ends. */
export const unadmittableOutcome = (kind: WorkKind, { metadata }: DeepReadonly<Job>, why: string): Outcome => ({
  kind: 'Failed',
  failure: { reason: 'Rejected', message: `Unadmittable: ${why} (${formatWork(kind, metadata)})` },
});
