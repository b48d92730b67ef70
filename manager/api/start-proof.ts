import type { DeepReadonly, JobStatus } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { SwitchyardCondition } from './reasons.ts';
import type { AdmissionRecord } from './records.ts';

/** How dispatch says that a Job has started: in these words for this admission alone, so that no later one is taken for started. */
export const startedMessage = ({ cluster, epoch, since }: AdmissionRecord): string =>
  `started on cluster "${cluster}" (placement ${epoch}, admitted ${since})`;

/** Whether the status says that the Job has started since this admission. */
export function isStartTold(status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): boolean {
  const told = findCondition(status?.conditions, SwitchyardCondition.Started);
  return told?.status === 'True' && told.message === startedMessage(record);
}

/** Whether it has: one that is seen running has, though nobody has noted it yet. */
export const hasStarted = (status: DeepReadonly<JobStatus> | undefined, record: AdmissionRecord): boolean =>
  isStartTold(status, record) || (record.evicted !== true && podsReady(status) > 0);

/** Pods that are ready. An API server that does not count them counts those that are active. */
export const podsReady = (status: DeepReadonly<JobStatus> | undefined): number => status?.ready ?? status?.active ?? 0;
