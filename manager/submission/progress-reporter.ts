import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { runController } from '../../shared/kube/controller.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import { createWorkqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { submissionOf } from './outcome.ts';
import { progressOf } from './progress.ts';
import { isSealedSubmission } from './submission-seal.ts';
import type { SubmissionQueue } from './submission-queue.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type ProgressReporterDeps = {
  readonly kind: WorkKind;
  /** By tenant id, those that are served now. */
  readonly queues: () => ReadonlyMap<string, SubmissionQueue>;
  readonly jobs: Informer<Job>;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<SubmissionMetrics, 'workqueues'>;
};

/** Tells submitters how their Jobs get on. */
export interface ProgressReporter {
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 8;
/** Of one Job, progress is told no more often. */
const INTERVAL_MS = 1_000;
/** Of all together: outcomes share the stream by which they are told, and what is Redis' time. */
const TOLD_QPS = 300;

/**
 * Watches Jobs that came through a queue, and tells what has changed: at most once a second of each, and of what changed more often the
 * latest. What it is told again the queue knows, so whoever leads next tells all. Call before the informer runs.
 */
export function createProgressReporter({
  kind,
  queues,
  jobs,
  keys: sealKeys,
  clock,
  log,
  metrics,
}: ProgressReporterDeps): ProgressReporter {
  const changed = createWorkqueue({
    name: 'progress',
    clock,
    rateLimit: { baseDelayMs: 1_000, maxDelayMs: 60_000 },
    metrics: metrics.workqueues.of('progress'),
  });
  const limiter = createRateLimiter({ qps: TOLD_QPS, burst: TOLD_QPS, clock });
  /** In the order of the instants: those of the last second. */
  const toldAtMs = new Map<string, number>();
  let telling = false;

  function seen(job: DeepReadonly<Job>): void {
    const key = keyOfObject(job);
    changed.addAfter(key, (toldAtMs.get(key) ?? -Infinity) + INTERVAL_MS - clock.now());
  }

  jobs.addHandler({
    added: (job) => telling && mayBeTold(kind, job) && seen(job),
    updated: (job, previous) =>
      telling && submissionOf(job) !== undefined && !isDeepStrictEqual(progressOf(kind, job), progressOf(kind, previous)) && seen(job),
    deleted: () => undefined,
  });

  async function reconcile(key: string): Promise<void> {
    const job = jobs.get(parseKey(key));
    const ref = job && submissionOf(job);
    if (job === undefined || ref === undefined || !isSealedSubmission(sealKeys, job, ref)) return;
    const queue = queues().get(ref.tenant);
    if (queue === undefined) return;
    await limiter.acquire();
    toldAtMs.delete(key); // It moves to the end.
    toldAtMs.set(key, clock.now());
    forgetOlder();
    await queue.report(ref, progressOf(kind, job));
  }

  function forgetOlder(): void {
    for (const [key, instantMs] of toldAtMs) {
      if (instantMs > clock.now() - INTERVAL_MS) return;
      toldAtMs.delete(key);
    }
  }

  return {
    async run(signal) {
      onAbort(signal, () => changed.shutDown());
      if (signal.aborted) return;
      telling = true;
      for (const job of jobs.list()) if (mayBeTold(kind, job)) seen(job);
      await runController({ name: 'progress', queue: changed, concurrency: CONCURRENCY, reconcile, log });
    },
  };
}

/** What has ended when it is first seen has been told, or its outcome tells it. */
const mayBeTold = (kind: WorkKind, job: DeepReadonly<Job>): boolean =>
  submissionOf(job) !== undefined && progressOf(kind, job).phase !== 'Finished';
