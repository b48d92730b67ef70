import type { DeepReadonly, Job, JobCondition } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { StatusClient } from '../../../shared/kube/client.ts';
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
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';

/**
 * Tells Jobs why they wait, as the condition QuotaReserved=False of their status. Under load thousands of Jobs wait, and their status must not
 * cost what admission needs. So this goes round them, a part in every second, instead of following every change: a Job that is admitted within a
 * second or two is never written to, a Job is written to again only when it waits for another reason, whatever the numbers are by then, and no
 * more than two hundred in a second are.
 */
export interface WaitingReporter {
  /** Somebody may wait for something else now. */
  changed(): void;
  run(signal: AbortSignal): Promise<void>;
}

export type WaitingReporterDeps = {
  readonly client: StatusClient;
  readonly events: EventRecorder;
  readonly jobs: Lister<Job>;
  /** Keys of all Jobs that wait. */
  readonly waiting: () => Iterable<string>;
  readonly inadmissibleReasonOf: (key: string) => InadmissibleReason | undefined;
  /** The reason alone, if it is known without looking for it. */
  readonly reasonOf: (key: string) => string | undefined;
  /** For whose sake a Job that waits was suspended. */
  readonly preemptedOf: (key: string) => Preempted | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<AdmissionMetrics, 'workqueues'>;
};

const SWEEP_INTERVAL_MS = 1_000;
/** So many Jobs are looked at in a sweep, and so many are told. */
const LOOKS_MAX = 2_000;
const TELLINGS_MAX = 200;
const CONCURRENCY = 4;

/** What is known of a Job: what it was told, and in which round it was last found waiting. */
type Seen = { readonly reason: string | undefined; readonly round: number };

export function createWaitingReporter({
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
    const conditions = waitingConditions(job, inadmissibleReason, clock.now(), preemptedOf(key));
    if (conditions === undefined || (isTold(job, inadmissibleReason) && conditions.length === 1)) return;
    const body = { metadata: { resourceVersion: job.metadata.resourceVersion }, status: { conditions } };
    try {
      // Strategic: conditions merge by type, so those of dispatch stay as they are.
      await client.patchStatus(JOBS, parseKey(key), { type: 'strategic', body }, { fieldManager: MANAGER_FIELD_MANAGER });
    } catch (error) {
      if (isNotFound(error)) return;
      throw new Error(`tell ${key} why it waits`, { cause: error });
    }
    // `kubectl describe job` shows Events and no conditions: whoever asks there is told once for each reason.
    if (waitingReason(job) !== inadmissibleReason.reason)
      events.event(JOBS, job, 'Normal', JobEventReason.Pending, inadmissibleReason.message);
  };

  /** Goes on where the last one stopped. Whoever is found for the first time is told the next time. */
  const sweep = (): void => {
    const keys = rest ?? waiting()[Symbol.iterator]();
    rest = undefined;
    let hasChanged = false;
    let tellings = 0;
    for (let looks = 0; ; looks++) {
      if (looks === LOOKS_MAX || tellings === TELLINGS_MAX) {
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
      tellings++;
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

/** It says so already, perhaps with other numbers, and nothing of its own being suspended or preempted is to be added. */
const isTold = (job: DeepReadonly<Job>, { reason }: InadmissibleReason): boolean => waitingReason(job) === reason;

/** What the Job says already that it waits for. */
const waitingReason = (job: DeepReadonly<Job>): string | undefined =>
  job.status?.conditions?.find(({ type, status }) => type === SwitchyardCondition.QuotaReserved && status === 'False')?.reason;

/** The conditions to be written to a Job that waits; undefined when it says so already. */
export function waitingConditions(
  job: DeepReadonly<Job>,
  inadmissibleReason: InadmissibleReason,
  nowMs: number,
  preempted?: Preempted,
): JobCondition[] | undefined {
  const conditions = job.status?.conditions ?? [];
  const told = preempted === undefined ? [] : preemptedCondition(conditions, preempted, nowMs);
  const present = findCondition(conditions, SwitchyardCondition.QuotaReserved);
  const isFalse = present?.status === 'False';
  if (isFalse && present.reason === inadmissibleReason.reason && present.message === inadmissibleReason.message)
    return told.length > 0 ? told : undefined;
  const time = toWireTime(nowMs);
  const waiting: JobCondition = {
    type: SwitchyardCondition.QuotaReserved,
    status: 'False',
    reason: inadmissibleReason.reason,
    message: inadmissibleReason.message,
    lastProbeTime: time,
    lastTransitionTime: (isFalse ? present.lastTransitionTime : undefined) ?? time,
  };
  // Of a Job that is being evicted only its copy can tell whether anything still runs.
  const mayRun = inadmissibleReason.mayRun === true || MAY_RUN.includes(inadmissibleReason.reason);
  const rests = job.spec.suspend === true && !mayRun;
  const neverSuspended = rests && findCondition(conditions, 'Suspended') === undefined;
  return neverSuspended ? [waiting, ...told, suspended(time)] : [waiting, ...told];
}

/** That it was preempted, and by whom; nothing where it says so already. */
function preemptedCondition(conditions: readonly DeepReadonly<JobCondition>[], preempted: Preempted, nowMs: number): JobCondition[] {
  const { Preempted: type } = SwitchyardCondition;
  const message = preemptedMessage(preempted);
  const present = findCondition(conditions, type);
  if (present?.status === 'True' && present.message === message) return [];
  const time = toWireTime(nowMs);
  return [{ type, status: 'True', reason: preempted.rule, message, lastProbeTime: time, lastTransitionTime: time }];
}

/** Reasons that are given while something of the Job may still run. */
const MAY_RUN: readonly QuotaReservedReason[] = [QuotaReservedReason.Evicted, QuotaReservedReason.RecordNotTrusted];

/** What the Job controller says of a Job that is created suspended; without it kubectl would show a waiting Job as running. */
const suspended = (time: string): JobCondition => ({
  type: 'Suspended',
  status: 'True',
  reason: 'JobSuspended',
  message: 'Job suspended',
  lastProbeTime: time,
  lastTransitionTime: time,
});
