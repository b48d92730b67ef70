import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';

/** How dispatch says that a Job is on its cluster: in these words for this placement. */
export const dispatchedMessage = ({ cluster, epoch }: Pick<AdmissionRecord, 'cluster' | 'epoch'>): string =>
  `dispatched to cluster "${cluster}" (placement ${epoch})`;

/** Whether the Job says that this very placement has been dispatched; what else it may say of it, such as what keeps its pods from starting, comes after a semicolon. */
export function isDispatched(status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): boolean {
  const present = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  const message = dispatchedMessage(record);
  return present?.status === 'True' && (present.message === message || present.message?.startsWith(`${message}; `) === true);
}
