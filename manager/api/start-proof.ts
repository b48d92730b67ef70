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

/**
 * Whether the Job has started: one that runs with all the pods that it needs has, though no condition reports it yet. `ready` is the number
 * of its ready pods, `needed` the least that counts as a start.
 */
export const hasStarted = (
  status: DeepReadonly<WorkStatus> | undefined,
  record: AdmissionRecord,
  ready: number,
  needed: () => number,
): boolean => isStartReported(status, record) || (record.evicted !== true && ready > 0 && ready >= needed());

/** The message by which dispatch reports how many pods of a started Job are ready: unique to this admission, as that of its start. */
export const podsReadyMessage = (ready: number, needed: number, record: AdmissionRecord): string =>
  `${ready} of the ${needed} pods that it needs are ready ${admissionOf(record)}`;

/** Since when the Job, which had started in this admission, has had too few ready pods, in epoch milliseconds; undefined if it has not. */
export function podsLostSinceMs(status: DeepReadonly<WorkStatus> | undefined, record: AdmissionRecord): number | undefined {
  const told = findCondition(status?.conditions, SwitchyardCondition.PodsReady);
  if (told?.status !== 'False' || told.message?.endsWith(admissionOf(record)) !== true || !isStartReported(status, record))
    return undefined;
  return Date.parse(told.lastTransitionTime ?? record.since);
}

const admissionOf = ({ epoch, since }: AdmissionRecord): string => `(placement ${epoch}, admitted ${since})`;
