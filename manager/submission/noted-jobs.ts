import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, MANAGER_FIELD_MANAGER, SUBMISSION_FINALIZER } from '../../shared/api/names.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { runController, type ReconcileResult } from '../../shared/kube/controller.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { keyOfObject, objectKey, parseKey } from '../../shared/kube/keys.ts';
import { createWorkqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { created } from './ledger.ts';
import type { SubmissionLedger } from './ledger-store.ts';
import { submissionOf } from './outcome.ts';
import { isSealedSubmission } from './submission-seal.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type NotedJobsDeps = {
  readonly kind: WorkKind;
  readonly jobs: Informer<WorkObject>;
  readonly client: Pick<WriteClient, 'patch'>;
  /** Undefined: no submissions are taken, and nothing is noted. */
  readonly ledger: SubmissionLedger | undefined;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<SubmissionMetrics, 'workqueues'>;
};

/**
 * Keeps the Jobs of submissions from vanishing before it is noted that they were made. That is noted up to a second later, and a leader may
 * die before. The next one, who finds the intent and no Job, takes it that none was made, and makes it; so a Job that somebody deletes
 * meanwhile would be made twice. Its finalizer has it stay.
 *
 * How it ended is noted up to a second later, too. One that goes by its TTL within that time stays until then, or the next leader would
 * tell that somebody deleted it.
 */
export interface NotedJobs {
  /** Whether the finalizer may go, with whatever is written of the Job. Has it noted where it is not. */
  isNoted(job: DeepReadonly<WorkObject>): boolean;
  /**
   * Takes the finalizer off Jobs that have ended or are being deleted, where nobody else writes to them any more, until `signal` aborts.
   */
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 4;
const LOOK_AGAIN_MS = 250;
/** Many times what it takes to note an end. A longer TTL costs no call. */
const SHORT_TTL_SECONDS = 30;

/** Call before the informer runs. */
export function createNotedJobs({ kind, jobs, client, ledger, keys, clock, log, metrics }: NotedJobsDeps): NotedJobs {
  const queue = createWorkqueue({
    name: 'noted-jobs',
    clock,
    rateLimit: { baseDelayMs: 100, maxDelayMs: 30_000 },
    metrics: metrics.workqueues.of('noted-jobs'),
  });
  let [leading, loaded] = [false, ledger === undefined];
  const seen = (job: DeepReadonly<WorkObject>): void => {
    if (leading && isLeftOver(job)) queue.add(keyOfObject(job));
  };
  jobs.addHandler({ added: seen, updated: seen });

  function isNoted(job: DeepReadonly<WorkObject>): boolean {
    const of = submissionOf(job);
    if (of === undefined || ledger === undefined || !isSealedSubmission(keys, job, of)) return true;
    if (!loaded) return false;
    const ours = ledger.of(of.tenant);
    const entry = ours.get(of.key);
    // Forgotten, or another attempt by now: nobody makes this one again.
    if (entry === undefined || entry.attempt !== of.made.attempt) return true;
    if (entry.state === 'Intended') ours.mark(of.key, created(entry.attempt, objectKey(job), job.metadata.uid, clock.now()));
    const noted = ours.get(of.key);
    if (noted?.state === 'Created' && noted.uid === job.metadata.uid && goesByItself(kind, job)) return false;
    return ours.isWritten(of.key);
  }

  async function reconcile(key: string): Promise<ReconcileResult> {
    const job = jobs.get(parseKey(key));
    if (job === undefined || !isLeftOver(job)) return undefined;
    if (!isNoted(job)) return { requeueAfterMs: LOOK_AGAIN_MS };
    const { uid, resourceVersion, finalizers = [] } = job.metadata;
    const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((each) => each !== SUBMISSION_FINALIZER) } };
    try {
      await client.patch(kind.resource, parseKey(key), { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER });
    } catch (error) {
      // The newer version is on its way into the cache.
      if (isConflict(error)) return { requeueAfterMs: LOOK_AGAIN_MS };
      if (!isNotFound(error)) throw new Error(`take the finalizer off Job ${key}`, { cause: error });
    }
    return undefined;
  }

  return {
    isNoted,
    async run(signal) {
      onAbort(signal, () => queue.shutDown());
      await ledger?.loaded(signal);
      if (signal.aborted) return;
      [leading, loaded] = [true, true];
      for (const job of jobs.list()) seen(job);
      await runController({ name: 'noted-jobs', queue, concurrency: CONCURRENCY, reconcile, log });
    },
  };
}

/** Soon after its end, by its TTL: not one that somebody deletes before, whose end is its deletion. */
const goesByItself = (kind: WorkKind, job: DeepReadonly<WorkObject>): boolean =>
  (kind.ttlSeconds(job) ?? SHORT_TTL_SECONDS) < SHORT_TTL_SECONDS &&
  (job.metadata.deletionTimestamp === undefined || isFinished(job.status));

/** It goes, or has ended, and dispatch has written to it for the last time. */
const isLeftOver = ({ metadata: { finalizers = [], deletionTimestamp }, status }: DeepReadonly<WorkObject>): boolean =>
  finalizers.includes(SUBMISSION_FINALIZER) &&
  !finalizers.includes(COPIES_FINALIZER) &&
  (deletionTimestamp !== undefined || isFinished(status));
