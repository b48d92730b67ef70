import type { DeepReadonly, Job, JobStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { DispatchedReason, SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';
import { isRefusalOf } from './refusals.ts';

/** How dispatch says that nothing of a suspended Job runs: in these words for this admission alone, so that no later one is taken for proven. */
export const atRestMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `nothing of it runs on cluster "${cluster}" (placement ${epoch}, admitted ${since})`;

/** How it says the same of a Job whose cluster nobody can look at. */
export const fencedOffMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `cluster "${cluster}" is lost, and its worker has stopped what ran there (placement ${epoch}, admitted ${since})`;

/**
 * Whether dispatch has proven that nothing runs of the Job's last admission: it rests, its cluster has refused it for good, or is lost and fenced off. From the moment a record exists the Job may run; that its status
 * never told of a pod, or told that it was suspended before, proves nothing.
 */
export function isProvenAtRest(status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  if (told?.status !== 'False') return false;
  if (told.reason === DispatchedReason.FencedOff) return told.message === fencedOffMessage(record);
  return isRefusalOf(record.epoch, told) || (told.reason === DispatchedReason.AtRest && told.message === atRestMessage(record));
}

/** The same of a Job whose record is lost, of all clusters. Each admission is another generation of the Job, and needs another proof. */
export const nowhereMessage = (generation: number | undefined): string =>
  `nothing of it runs on any cluster (generation ${generation ?? 0}, without an admission record)`;

export function isProvenNowhere({ metadata, status }: DeepReadonly<Pick<Job, 'metadata' | 'status'>>): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  return told?.status === 'False' && told.reason === DispatchedReason.AtRest && told.message === nowhereMessage(metadata.generation);
}
