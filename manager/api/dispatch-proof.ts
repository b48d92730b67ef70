import type { DeepReadonly, WorkStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';

/** The message by which dispatch reports that a Job is on its cluster: unique to this placement. */
export const dispatchedMessage = ({ cluster, epoch }: Pick<AdmissionRecord, 'cluster' | 'epoch'>): string =>
  `dispatched to cluster "${cluster}" (placement ${epoch})`;

/** Whether the status reports that this placement is dispatched. Details, such as why its pods do not start, follow after a semicolon. */
export function isDispatched(status: DeepReadonly<WorkStatus> | undefined, record: AdmissionRecord): boolean {
  const present = findCondition(status?.conditions, SwitchyardCondition.Dispatched);
  const message = dispatchedMessage(record);
  return present?.status === 'True' && (present.message === message || present.message?.startsWith(`${message}; `) === true);
}
