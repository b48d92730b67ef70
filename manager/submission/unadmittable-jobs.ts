import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { runController } from '../../shared/kube/controller.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { keyOfObject, objectKey, parseKey } from '../../shared/kube/keys.ts';
import { createWorkqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { endedAttempt, type EndedAttempt } from './outcome-reporter.ts';
import { submissionOf } from './outcome.ts';
import type { Outcome, SubmissionQueue } from './submission-queue.ts';
import { isSealedSubmission } from './submission-seal.ts';
import type { Tenant } from './tenant.ts';
import { steadyMs, unadmittable, unadmittableOutcome } from './unadmittable.ts';
import type { WithdrawnJobs } from './withdrawn-jobs.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type UnadmittableJobsDeps = {
  readonly kind: WorkKind;
  /** By tenant id, those that are served now. */
  readonly queues: () => ReadonlyMap<string, SubmissionQueue>;
  readonly tenants: () => ReadonlyMap<string, Tenant>;
  readonly jobs: Informer<Job>;
  /** Deletes Jobs. */
  readonly withdrawnJobs: Pick<WithdrawnJobs, 'withdraw'>;
  /** Told of each end before anybody else is. */
  readonly onEnded?: (of: EndedAttempt, uid: string, outcome: Outcome) => void;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<SubmissionMetrics, 'workqueues'>;
};

/** Ends submissions whose Jobs can never be admitted. */
export interface UnadmittableJobs {
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 4;
const LOOK_AGAIN_MS = 600_000;

/**
 * Watches Jobs of submissions that can never be admitted as things are, where their tenant wants to hear of it. When that has been so for a
 * while the submission fails, and then the Job is deleted: in this order, because the first outcome stands, and a deletion that comes first
 * would be told as one of somebody else's. Call before the informer runs.
 */
export function watchUnadmittableJobs(deps: UnadmittableJobsDeps): UnadmittableJobs {
  const { queues, tenants, jobs, withdrawnJobs, keys: sealKeys, clock, log, metrics } = deps;
  const due = createWorkqueue({
    name: 'unadmittable',
    clock,
    rateLimit: { baseDelayMs: 1_000, maxDelayMs: 60_000 },
    metrics: metrics.workqueues.of('unadmittable'),
  });
  /** Since when it has been so, by UID. */
  const since = new Map<string, number>();
  let watching = false;

  function seen(job: DeepReadonly<Job>): void {
    const { uid } = job.metadata;
    if (submissionOf(job) === undefined || unadmittable(job) === undefined) return void since.delete(uid);
    if (since.has(uid)) return;
    const nowMs = clock.now();
    since.set(uid, nowMs);
    due.addAfter(keyOfObject(job), steadyMs(job, nowMs));
  }
  jobs.addHandler({
    added: (job) => watching && seen(job),
    updated: (job) => watching && seen(job),
    deleted: ({ metadata }) => void since.delete(metadata.uid),
  });

  async function reconcile(key: string): Promise<void> {
    const job = jobs.get(parseKey(key));
    const sinceMs = job && since.get(job.metadata.uid);
    const why = job && unadmittable(job);
    if (job === undefined || sinceMs === undefined || why === undefined) return;
    const remainingMs = sinceMs + steadyMs(job, sinceMs) - clock.now();
    if (remainingMs > 0) return due.addAfter(key, remainingMs);
    const ref = submissionOf(job);
    if (ref === undefined || !isSealedSubmission(sealKeys, job, ref)) return;
    const [queue, tenant] = [queues().get(ref.tenant), tenants().get(ref.tenant)];
    // Its queue may be served again, or say otherwise.
    if (queue === undefined || tenant?.onUnadmittable !== 'Fail') return due.addAfter(key, LOOK_AGAIN_MS);
    const { uid } = job.metadata;
    const outcome = unadmittableOutcome(deps.kind, job, why);
    deps.onEnded?.(endedAttempt(ref), uid, outcome);
    await queue.finish(ref, outcome, uid);
    withdrawnJobs.withdraw({ tenant: ref.tenant, job: objectKey(job), uid });
    log.info('gave up a submission whose Job could never be admitted', { tenant: tenant.label, submission: ref.id, job: key, detail: why });
  }

  return {
    async run(signal) {
      onAbort(signal, () => due.shutDown());
      if (signal.aborted) return;
      watching = true;
      since.clear();
      for (const job of jobs.list()) seen(job);
      await runController({ name: 'unadmittable', queue: due, concurrency: CONCURRENCY, reconcile, log });
    },
  };
}
