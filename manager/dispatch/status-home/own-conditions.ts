import type { DeepReadonly, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { findCondition, hasTrueCondition } from '../../../shared/kube/conditions.ts';
import { dispatchedMessage } from '../../api/dispatch-proof.ts';
import {
  CannotStartReason,
  DispatchedReason,
  FailReason,
  PodsReadyReason,
  QuotaReservedReason,
  StartedReason,
  SwitchyardCondition,
} from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { maxExecutionOf } from '../../api/job-annotations.ts';
import { atRestMessage } from '../../api/rest-proof.ts';
import { isStartReported, podsReadyMessage, startedMessage } from '../../api/start-proof.ts';
import type { OwnCondition, SingleKind } from '../../work-kind/work-kind.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';

/** The copy is on its cluster; `detail` says what keeps its pods from starting or running. */
export const dispatched = (record: AdmissionRecord, detail?: string): OwnCondition => ({
  type: SwitchyardCondition.Dispatched,
  status: 'True',
  reason: DispatchedReason.Dispatched,
  message: detail === undefined ? dispatchedMessage(record) : `${dispatchedMessage(record)}; ${detail}`,
});

/**
 * Admission records the quota in the admission record, without a status write. This status write corrects the condition, unless admission
 * has done so itself. The condition of an evicted Job belongs to admission and stays as it is.
 */
export function quotaReserved(
  kind: SingleKind,
  local: DeepReadonly<WorkObject>,
  { clusterQueue, parallelism, executedSeconds }: AdmissionRecord,
): OwnCondition[] {
  const type = SwitchyardCondition.QuotaReserved;
  if (kind.isSuspended(local)) return [];
  const { Preempted } = SwitchyardCondition;
  const wasPreempted = hasTrueCondition(local.status?.conditions, Preempted);
  const again: OwnCondition[] = wasPreempted
    ? [{ type: Preempted, status: 'False', reason: QuotaReservedReason.QuotaReserved, message: 'admitted again' }]
    : [];
  if (hasTrueCondition(local.status?.conditions, type)) return again;
  const max = maxExecutionOf(local);
  const isLimited = executedSeconds !== undefined && max.kind === 'MaxExecution' && max.seconds !== undefined;
  const used = isLimited ? `; of its ${max.seconds}s, ${executedSeconds}s were used before` : '';
  const pods = kind.podsAtOnce(local);
  const part = parallelism !== undefined && parallelism < pods ? ` for ${parallelism} of ${pods} pods at once` : '';
  const message = `quota reserved in ClusterQueue "${clusterQueue}"${part}${used}`;
  return [{ type, status: 'True', reason: QuotaReservedReason.QuotaReserved, message }, ...again];
}

/**
 * The start of a copy is noted once for each admission, with the next status write: admission judges by it whether the placement worked.
 * Pods that have ended since the last status of the Job had started. From then on it is noted when too few pods are ready.
 */
export function started(
  kind: SingleKind,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
  told: DeepReadonly<WorkStatus> | undefined,
): OwnCondition[] {
  if (record.evicted === true) return [];
  if (isStartReported(local.status, record)) return podsReadyNow(kind, local, record, told);
  const [is, was] = [kind.progress(omitUndefined({ status: told })), kind.progress(local)];
  const ended = Math.max(0, is.succeeded - was.succeeded) + Math.max(0, is.failed - was.failed);
  if (is.ready + ended === 0) return [];
  const needed = kind.readyPodsNeeded(local, record.parallelism);
  if (is.ready + ended < needed) return [];
  // The time of a condition of an earlier admission says nothing of this one.
  const again = lacksPods(local) ? [podsReadyAs('True', is.ready, needed, record)] : [];
  const message = startedMessage(record);
  const start: OwnCondition = { type: SwitchyardCondition.Started, status: 'True', reason: StartedReason.Started, message };
  const { CannotStart: type } = SwitchyardCondition;
  if (!hasTrueCondition(local.status?.conditions, type)) return [start, ...again];
  return [start, ...again, { type, status: 'False', reason: CannotStartReason.Started, message }];
}

/** Whether as many pods as the Job needs are ready, since it has started: noted when they no longer are, and when they are again. */
function podsReadyNow(
  kind: SingleKind,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
  told: DeepReadonly<WorkStatus> | undefined,
): OwnCondition[] {
  // A suspended Job or copy has lost no pods, and one that is about to end needs none.
  if (told === undefined || kind.isSuspended(local) || hasTrueCondition(told.conditions, 'Suspended')) return [];
  if (kind.home.hasVerdict({ status: told }) || kind.home.hasVerdict(local)) return [];
  const needed = kind.readyPodsNeeded(local, record.parallelism, told);
  const { ready } = kind.progress({ status: told });
  if (ready < needed) return [podsReadyAs('False', ready, needed, record)];
  return lacksPods(local) ? [podsReadyAs('True', ready, needed, record)] : [];
}

const lacksPods = ({ status }: DeepReadonly<WorkObject>): boolean =>
  findCondition(status?.conditions, SwitchyardCondition.PodsReady)?.status === 'False';

const podsReadyAs = (status: 'True' | 'False', ready: number, needed: number, record: AdmissionRecord): OwnCondition => ({
  type: SwitchyardCondition.PodsReady,
  status,
  reason: status === 'True' ? PodsReadyReason.PodsReady : PodsReadyReason.PodsLost,
  message: podsReadyMessage(ready, needed, record),
});

export const cannotStart = ({ reason, message }: NonNullable<AdmissionRecord['fail']>): OwnCondition[] =>
  reason === FailReason.CannotStart
    ? [{ type: SwitchyardCondition.CannotStart, status: 'True', reason: CannotStartReason.TooManyMoves, message }]
    : [];

export const atRest = (record: AdmissionRecord): OwnCondition =>
  notDispatched({ reason: DispatchedReason.AtRest, message: atRestMessage(record) });

export const notDispatched = (problem: DispatchProblem): OwnCondition => ({
  type: SwitchyardCondition.Dispatched,
  status: 'False',
  ...problem,
});
