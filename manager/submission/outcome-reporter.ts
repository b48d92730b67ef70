import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import { runController } from '../../shared/kube/controller.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { createWorkqueue, type Workqueue } from '../../shared/kube/workqueue.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { deletedOutcome, isJobOf, outcomeOf, outcomeOfDeleted, submissionOf } from './outcome.ts';
import { isSealedSubmission, type SealedSubmission } from './submission-seal.ts';
import type { Outcome, ParkedSubmission, SubmissionQueue, SubmissionRef } from './submission-queue.ts';
import { formatWork } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type OutcomeReporterDeps = {
  readonly kind: WorkKind<Job>;
  /** By tenant id, those that are served now. */
  readonly queues: () => ReadonlyMap<string, SubmissionQueue>;
  readonly jobs: Informer<Job>;
  readonly client: ReadClient;
  /** Hears how every Job ended, before its submitter does; absent: nobody. */
  readonly onEnded?: (of: EndedAttempt, uid: string, outcome: Outcome) => void;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: SubmissionMetrics;
};

/** Attempt of a submission whose Job has ended. */
export type EndedAttempt = SubmissionRef & { readonly tenant: string; readonly attempt: number };

/** Tells submitters how their Jobs ended. */
export interface OutcomeReporter {
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 32;
const SWEEP_INTERVAL_MS = 300_000;
const SWEEP_RETRY_MS = 5_000;
const KEPT_STANDING_BY_MS = 600_000;

/**
 * Watches Jobs that came through the queue, as their seals say. A Job that ended or was deleted ends its submission, also when that
 * happened while nobody watched: after a restart every ended Job is reported once more, and every parked submission is held against the
 * Jobs there are. Call before the informer runs.
 */
export function createOutcomeReporter(deps: OutcomeReporterDeps): OutcomeReporter {
  return new EndReporter(deps);
}

/** Outcomes that are still to be reported. */
type Untold = { readonly ref: EndedAttempt; readonly uid: string; readonly outcome: Outcome; readonly sinceMs: number };

class EndReporter implements OutcomeReporter {
  readonly #deps: OutcomeReporterDeps;
  readonly #keys: Workqueue;
  /** By UID of the Job: a deleted one is in no cache any more. */
  readonly #untold = new Map<string, Untold>();
  #telling = false;

  constructor(deps: OutcomeReporterDeps) {
    this.#deps = deps;
    const { kind, jobs, clock, metrics } = deps;
    this.#keys = createWorkqueue({
      name: 'outcomes',
      clock,
      rateLimit: { baseDelayMs: 100, maxDelayMs: 10_000 },
      metrics: metrics.workqueues.of('outcomes'),
    });
    jobs.addHandler({
      added: (job) => this.#seen(job, outcomeOf(kind, job)),
      updated: (job, previous) => outcomeOf(kind, previous) === undefined && this.#seen(job, outcomeOf(kind, job)),
      deleted: (job) => this.#seen(job, outcomeOfDeleted(kind, job)),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { jobs, log } = this.#deps;
    const queue = this.#keys;
    onAbort(signal, () => queue.shutDown());
    if (signal.aborted) return;
    this.#telling = true;
    for (const uid of this.#untold.keys()) queue.add(uid);
    const reconcile = (uid: string): Promise<void> => this.#reconcile(uid);
    const tellingAll = runController({ name: 'outcomes', queue, concurrency: CONCURRENCY, reconcile, log });
    const synced = await jobs.waitForSync(signal).then(
      () => true,
      () => false,
    );
    await Promise.all([tellingAll, synced ? this.#runSweeps(signal) : undefined]);
  }

  #seen(job: DeepReadonly<Job>, outcome: Outcome | undefined): void {
    const { keys, log, metrics } = this.#deps;
    const ref = submissionOf(job);
    if (ref === undefined || outcome === undefined) return;
    if (isSealedSubmission(keys, job, ref)) return this.#tell(endedAttempt(ref), outcome, job.metadata.uid);
    metrics.untrusted.inc();
    log.warn('a Job says that it is of a submission of which it was not made', { job: keyOfObject(job) });
  }

  #tell(ref: EndedAttempt, outcome: Outcome, uid: string): void {
    this.#untold.delete(uid); // A later one moves to the end.
    this.#untold.set(uid, { ref, uid, outcome, sinceMs: this.#deps.clock.now() });
    if (this.#telling) this.#keys.add(uid);
    else this.#forgetTold();
  }

  /** While another replica leads, what it has had time to tell is not kept; a sweep would find what it has not. */
  #forgetTold(): void {
    for (const [uid, { sinceMs }] of this.#untold) {
      if (sinceMs > this.#deps.clock.now() - KEPT_STANDING_BY_MS) return;
      this.#untold.delete(uid);
    }
  }

  async #reconcile(uid: string): Promise<void> {
    const { queues, onEnded, metrics } = this.#deps;
    const pending = this.#untold.get(uid);
    if (pending === undefined) return;
    onEnded?.(pending.ref, pending.uid, pending.outcome);
    // Of a queue that is not served nobody waits. One that is served again finds what it has parked.
    const queue = queues().get(pending.ref.tenant);
    await queue?.finish(pending.ref, pending.outcome, pending.uid);
    if (queue !== undefined) metrics.outcomes.inc({ result: labelOf(pending.outcome) });
    if (this.#untold.get(uid) === pending) this.#untold.delete(uid);
  }

  async #runSweeps(signal: AbortSignal): Promise<void> {
    const { queues, clock } = this.#deps;
    while (!signal.aborted) {
      const swept = await Promise.all([...queues()].map(([tenant, queue]) => this.#sweep(tenant, queue)));
      await sleep(clock, swept.every(Boolean) ? SWEEP_INTERVAL_MS : SWEEP_RETRY_MS, signal);
    }
  }

  async #sweep(tenant: string, queue: SubmissionQueue): Promise<boolean> {
    try {
      for await (const page of queue.parked()) {
        for (const parked of page) {
          const outcome = await outcomeOfParked(this.#deps, tenant, parked);
          if (outcome !== undefined) this.#tell({ ...parked.ref, tenant, attempt: parked.attempt }, outcome, parked.uid);
        }
      }
      return true;
    } catch (error) {
      this.#deps.log.warn('parked submissions could not be checked', { tenant, error });
      return false;
    }
  }
}

export const endedAttempt = ({ made, ...ref }: SealedSubmission): EndedAttempt => ({ ...ref, attempt: made.attempt });

/** The outcome of a parked submission whose Job ended, or is gone; undefined while its Job is there. */
async function outcomeOfParked(
  { kind, jobs, client, keys }: OutcomeReporterDeps,
  tenant: string,
  { ref, job: key, uid }: ParkedSubmission,
): Promise<Outcome | undefined> {
  const gone = deletedOutcome(formatWork(kind, key));
  // Another's Job is told as one that is gone: its end, and whether it is there, are not this submitter's.
  const endOf = (job: DeepReadonly<Job>): Outcome | undefined =>
    job.metadata.uid === uid && isJobOf(keys, job, { tenant, key: ref.key }) ? outcomeOf(kind, job) : gone;
  const cached = jobs.get(key);
  if (cached?.metadata.uid === uid) return endOf(cached);
  // It may be too new for the cache.
  try {
    return endOf(await client.get(kind.resource, key));
  } catch (error) {
    if (isNotFound(error)) return gone;
    throw error;
  }
}

function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'Completed') return 'completed';
  return outcome.failure.reason === 'JobDeleted' ? 'deleted' : 'failed';
}
