import type { DeepReadonly, Job, JobCondition } from '../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { StatusClient } from '../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../shared/kube/controller.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import { createWorkqueue } from '../../shared/kube/workqueue.ts';
import { toWireTime, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import type { Hindrance } from './snapshot.ts';
import { finishedCondition } from './workload.ts';

/**
 * Tells a Job why it waits, as the condition QuotaReserved=False of its status. A Job that is admitted within the settling time is never
 * written to, an unchanged text is never written again, and a text that changes under the same reason is written at most every ten seconds:
 * under load thousands of Jobs wait, and their status must not cost what admission needs.
 */
export interface WaitingReporter {
  report(key: string, hindrance: Hindrance): void;
  /** The Job waits no longer. */
  withdraw(key: string): void;
  /** What was last reported, for those who ask why. */
  hindranceOf(key: string): Hindrance | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const SETTLE_MS = 1_000;
const SAME_REASON_INTERVAL_MS = 10_000;
const CONCURRENCY = 4;

export function createWaitingReporter(deps: {
  readonly client: StatusClient;
  readonly jobs: Lister<Job>;
  readonly clock: Clock;
  readonly log: Logger;
}): WaitingReporter {
  const { client, jobs, clock, log } = deps;
  const hindrances = new Map<string, Hindrance>();
  const queue = createWorkqueue({ name: 'waiting-jobs', clock, rateLimit: { baseDelayMs: 100, maxDelayMs: 60_000 } });

  const reconcile = async (key: string): Promise<ReconcileResult> => {
    const hindrance = hindrances.get(key);
    const job = jobs.get(parseKey(key));
    if (hindrance === undefined || job === undefined || finishedCondition(job) !== undefined) return;
    const next = nextWrite(job, hindrance, clock.now());
    if (next.kind === 'Nothing') return;
    if (next.kind === 'Later') return { requeueAfterMs: next.delayMs };
    const body = { metadata: { resourceVersion: job.metadata.resourceVersion }, status: { conditions: next.conditions } };
    try {
      // Strategic: conditions merge by type, so those of dispatch stay as they are.
      await client.patchStatus(JOBS, parseKey(key), { type: 'strategic', body }, { fieldManager: MANAGER_FIELD_MANAGER });
    } catch (error) {
      if (!isNotFound(error)) throw new Error(`tell ${key} why it waits`, { cause: error });
    }
  };

  return {
    report: (key, hindrance) => {
      const known = hindrances.get(key);
      hindrances.set(key, hindrance);
      if (known?.reason !== hindrance.reason || known.message !== hindrance.message) queue.addAfter(key, SETTLE_MS);
    },
    withdraw: (key) => {
      hindrances.delete(key);
      queue.forget(key);
    },
    hindranceOf: (key) => hindrances.get(key),
    run: async (signal) => {
      // A new leader does not know what was written before it: every Job that waits is looked at once.
      for (const key of hindrances.keys()) queue.addAfter(key, SETTLE_MS);
      signal.addEventListener('abort', () => queue.shutDown(), { once: true });
      await runController({ name: 'waiting-jobs', queue, concurrency: CONCURRENCY, reconcile, clock, log });
    },
  };
}

type NextWrite =
  | { readonly kind: 'Nothing' }
  | { readonly kind: 'Later'; readonly delayMs: number }
  | { readonly kind: 'Write'; readonly conditions: JobCondition[] };

/** What has to be written to the Job's status now, if anything. */
export function nextWrite(job: DeepReadonly<Job>, hindrance: Hindrance, now: number): NextWrite {
  const conditions = job.status?.conditions ?? [];
  const present = conditions.find(({ type }) => type === SwitchyardCondition.QuotaReserved);
  const isFalse = present?.status === 'False';
  if (isFalse && present.reason === hindrance.reason) {
    if (present.message === hindrance.message) return { kind: 'Nothing' };
    const dueMs = Date.parse(present.lastProbeTime ?? '') + SAME_REASON_INTERVAL_MS - now;
    if (dueMs > 0) return { kind: 'Later', delayMs: dueMs };
  }
  const time = toWireTime(now);
  const waiting: JobCondition = {
    type: SwitchyardCondition.QuotaReserved,
    status: 'False',
    reason: hindrance.reason,
    message: hindrance.message,
    lastProbeTime: time,
    lastTransitionTime: (isFalse ? present.lastTransitionTime : undefined) ?? time,
  };
  const neverSuspended = job.spec.suspend === true && !conditions.some(({ type }) => type === 'Suspended');
  return { kind: 'Write', conditions: neverSuspended ? [waiting, suspended(time)] : [waiting] };
}

/** What the Job controller says of a Job that is created suspended; without it kubectl would show a waiting Job as running. */
const suspended = (time: string): JobCondition => ({
  type: 'Suspended',
  status: 'True',
  reason: 'JobSuspended',
  message: 'Job suspended',
  lastProbeTime: time,
  lastTransitionTime: time,
});
