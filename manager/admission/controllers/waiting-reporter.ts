import type { DeepReadonly, JobCondition, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { Patch, StatusClient } from '../../../shared/kube/client.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { runController } from '../../../shared/kube/controller.ts';
import type { EventRecorder } from '../../../shared/kube/event-recorder.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { createWorkqueue } from '../../../shared/kube/workqueue.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import { createWakeUp } from '../../../shared/runtime/wake-up.ts';
import { JobEventReason, QuotaReservedReason, SwitchyardCondition } from '../../api/reasons.ts';
import { preemptedMessage, type Preempted } from '../../api/preempted.ts';
import { readShortOf, shortOfChange } from '../../api/short-of.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';

/**
 * Writes to waiting Jobs why they wait, as the condition QuotaReserved=False. Thousands of Jobs may wait, and their status must not take
 * what admission needs. So the reporter sweeps them in parts, one per second, instead of following every change. A Job admitted within a
 * second or two is never written. A Job is written again only when its reason changes, whatever the numbers, and at most 200 Jobs are
 * written per second.
 */
export interface WaitingReporter {
  /** Reasons may have changed. */
  changed(): void;
  run(signal: AbortSignal): Promise<void>;
}

export type WaitingReporterDeps = {
  readonly kind: WorkKind;
  readonly client: StatusClient;
  readonly events: EventRecorder;
  readonly jobs: Lister<WorkObject>;
  /** Keys of all waiting Jobs. */
  readonly waiting: () => Iterable<string>;
  readonly inadmissibleReasonOf: (key: string) => InadmissibleReason | undefined;
  /** The reason only, if it is known without a nomination. */
  readonly reasonOf: (key: string) => string | undefined;
  /** The preemption by which a waiting Job was suspended. */
  readonly preemptedOf: (key: string) => Preempted | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<AdmissionMetrics, 'workqueues'>;
};

const SWEEP_INTERVAL_MS = 1_000;
/** Jobs examined, and Jobs written, in one sweep at most. */
const LOOKS_MAX = 2_000;
const REPORTS_MAX = 200;
const CONCURRENCY = 4;

/** The last reported reason of a Job, and the round in which the Job was last found waiting. */
type Seen = { readonly reason: string | undefined; readonly round: number };

export function createWaitingReporter({
  kind,
  client,
  events,
  jobs,
  waiting,
  inadmissibleReasonOf,
  reasonOf,
  preemptedOf,
  clock,
  log,
  metrics,
}: WaitingReporterDeps): WaitingReporter {
  const rateLimit = { baseDelayMs: 100, maxDelayMs: 60_000 };
  const queue = createWorkqueue({ name: 'waiting-jobs', clock, rateLimit, metrics: metrics.workqueues.of('waiting-jobs') });
  const changes = createWakeUp(clock, SWEEP_INTERVAL_MS);
  const seen = new Map<string, Seen>();
  let round = 0;
  let rest: Iterator<string> | undefined;

  const reconcile = async (key: string): Promise<void> => {
    const inadmissibleReason = inadmissibleReasonOf(key);
    const job = jobs.get(parseKey(key));
    if (inadmissibleReason === undefined || job === undefined || isFinished(job.status)) return;
    const conditions = waitingConditions(kind, job, inadmissibleReason, clock.now(), preemptedOf(key)) ?? [];
    // Verdicts are computed when they are read.
    const { shortOf } = inadmissibleReason;
    if (conditions.length <= 1 && isReported(job, inadmissibleReason, shortOf)) return;
    try {
      const patch = waitingPatch(job, conditions, { shortOf });
      await client.patchStatus(kind.resource, parseKey(key), patch, { fieldManager: MANAGER_FIELD_MANAGER });
    } catch (error) {
      if (isNotFound(error)) return;
      throw new Error(`tell ${key} why it waits`, { cause: error });
    }
    // `kubectl describe job` shows Events and no conditions, so each reason gets one Event.
    if (waitingReason(job) !== inadmissibleReason.reason)
      events.event(kind.resource, job, 'Normal', JobEventReason.Pending, inadmissibleReason.message);
  };

  /** Continues where the last sweep stopped. A Job that is found for the first time is reported in the next round. */
  const sweep = (): void => {
    const keys = rest ?? waiting()[Symbol.iterator]();
    rest = undefined;
    let hasChanged = false;
    let reports = 0;
    for (let looks = 0; ; looks++) {
      if (looks === LOOKS_MAX || reports === REPORTS_MAX) {
        rest = keys;
        return changes.wake();
      }
      const next = keys.next();
      if (next.done === true) break;
      const key = next.value;
      const before = seen.get(key);
      if (before === undefined) {
        hasChanged = true;
        seen.set(key, { reason: undefined, round });
        continue;
      }
      const reason = before.reason === undefined ? inadmissibleReasonOf(key)?.reason : (reasonOf(key) ?? before.reason);
      seen.set(key, { reason, round });
      if (reason === before.reason) continue;
      queue.add(key);
      reports++;
    }
    for (const [key, each] of seen) if (each.round < round) seen.delete(key);
    round++;
    if (hasChanged) changes.wake();
  };

  return {
    changed: changes.wake,
    run: async (signal) => {
      onAbort(signal, () => queue.shutDown());
      const controller = runController({ name: 'waiting-jobs', queue, concurrency: CONCURRENCY, reconcile, log });
      await changes.run(sweep, signal);
      await controller;
    },
  };
}

/** Whether the Job has this reason already, perhaps with other numbers and resources. */
const isReported = (job: DeepReadonly<WorkObject>, { reason }: InadmissibleReason, shortOf: readonly string[] = []): boolean =>
  waitingReason(job) === reason && (readShortOf(job.metadata).length === 0) === (shortOf.length === 0);

/** The reason that the Job's condition has now. */
const waitingReason = (job: DeepReadonly<WorkObject>): string | undefined =>
  job.status?.conditions?.find(({ type, status }) => type === SwitchyardCondition.QuotaReserved && status === 'False')?.reason;

/**
 * Writes the conditions to a waiting Job, and the resources of which it is short. A strategic merge patch merges conditions by type, so
 * those of dispatch stay.
 */
export const waitingPatch = (
  { metadata }: DeepReadonly<WorkObject>,
  conditions: readonly JobCondition[],
  { shortOf }: Pick<InadmissibleReason, 'shortOf'>,
): Patch => ({
  type: 'strategic',
  body: { metadata: { resourceVersion: metadata.resourceVersion, ...shortOfChange(metadata, shortOf) }, status: { conditions } },
});

/** The conditions to write to a waiting Job; undefined if it has them already. */
export function waitingConditions(
  kind: WorkKind,
  job: DeepReadonly<WorkObject>,
  inadmissibleReason: InadmissibleReason,
  nowMs: number,
  preempted?: Preempted,
): JobCondition[] | undefined {
  const conditions = job.status?.conditions ?? [];
  const preemptedConditions = preempted === undefined ? [] : preemptedCondition(conditions, preempted, nowMs);
  const present = findCondition(conditions, SwitchyardCondition.QuotaReserved);
  const isFalse = present?.status === 'False';
  if (isFalse && present.reason === inadmissibleReason.reason && present.message === inadmissibleReason.message)
    return preemptedConditions.length > 0 ? preemptedConditions : undefined;
  const time = toWireTime(nowMs);
  const waiting: JobCondition = {
    type: SwitchyardCondition.QuotaReserved,
    status: 'False',
    reason: inadmissibleReason.reason,
    message: inadmissibleReason.message,
    lastProbeTime: time,
    lastTransitionTime: (isFalse ? present.lastTransitionTime : undefined) ?? time,
  };
  // While a Job is being evicted, only its copy shows whether anything still runs.
  const mayRun = inadmissibleReason.mayRun === true || MAY_RUN.includes(inadmissibleReason.reason);
  const isSuspended = kind.isSuspended(job) && !mayRun;
  const neverSuspended = isSuspended && findCondition(conditions, 'Suspended') === undefined;
  const { home } = kind.of(job.metadata.name);
  return neverSuspended ? [waiting, ...preemptedConditions, ...home.suspendedConditions(time)] : [waiting, ...preemptedConditions];
}

/** The condition of a preempted Job; empty if it has that already. */
function preemptedCondition(conditions: readonly DeepReadonly<JobCondition>[], preempted: Preempted, nowMs: number): JobCondition[] {
  const { Preempted: type } = SwitchyardCondition;
  const message = preemptedMessage(preempted);
  const present = findCondition(conditions, type);
  if (present?.status === 'True' && present.message === message) return [];
  const time = toWireTime(nowMs);
  return [{ type, status: 'True', reason: preempted.rule, message, lastProbeTime: time, lastTransitionTime: time }];
}

/** Reasons that occur while pods of the Job may still run. */
const MAY_RUN: readonly QuotaReservedReason[] = [QuotaReservedReason.Evicted, QuotaReservedReason.RecordNotTrusted];
