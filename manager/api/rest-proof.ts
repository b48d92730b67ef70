import type { DeepReadonly, WorkObject, WorkStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { DispatchedReason, SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';
import { isRefusalOf } from './refusals.ts';

/**
 * The message by which dispatch reports that no pod of a suspended Job runs: unique to this admission, so that no later one counts as
 * proven.
 */
export const atRestMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `nothing of it runs on cluster "${cluster}" (placement ${epoch}, admitted ${since})`;

/** The message for a Job whose cluster cannot be read. */
export const fencedOffMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `cluster "${cluster}" is lost, and its worker has stopped what ran there (placement ${epoch}, admitted ${since})`;

/**
 * Whether dispatch has proven that no pod of the Job's last admission runs: the copy rests, its cluster has refused it for good, or is lost
 * and the Job is fenced off. The Job may run from the moment its record exists: a status without pods, or with an earlier suspension,
 * proves nothing.
 */
export function isProvenAtRest(status: DeepReadonly<WorkStatus> | undefined, record: AdmissionRecord): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  if (told?.status !== 'False') return false;
  if (told.reason === DispatchedReason.FencedOff) return told.message === fencedOffMessage(record);
  return isRefusalOf(record.epoch, told) || (told.reason === DispatchedReason.AtRest && told.message === atRestMessage(record));
}

/**
 * The message for a Job whose record is lost, about all clusters. Each admission is another generation of the Job, and needs another proof.
 */
export const nowhereMessage = (generation: number | undefined): string =>
  `nothing of it runs on any cluster (generation ${generation ?? 0}, without an admission record)`;

export function isProvenNowhere({ metadata, status }: DeepReadonly<Pick<WorkObject, 'metadata' | 'status'>>): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  return told?.status === 'False' && told.reason === DispatchedReason.AtRest && told.message === nowhereMessage(metadata.generation);
}
