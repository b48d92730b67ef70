import type { DeepReadonly, WorkStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';

/** The message by which dispatch reports the start of a Job: unique to this admission, so that no later one counts as started. */
export const startedMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `started on cluster "${cluster}" (placement ${epoch}, admitted ${since})`;

/** Whether the status reports that the Job has started since this admission. */
export function isStartReported(status: DeepReadonly<WorkStatus> | undefined, record: AdmissionRecord): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Started);
  return told?.status === 'True' && told.message === startedMessage(record);
}

/** Whether the Job has started: a running Job has, though no condition reports it yet. `podsReady` is the number of its ready pods. */
export const hasStarted = (status: DeepReadonly<WorkStatus> | undefined, record: AdmissionRecord, podsReady: number): boolean =>
  isStartReported(status, record) || (record.evicted !== true && podsReady > 0);
