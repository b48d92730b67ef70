import { DelayedError, Job, Queue, UnrecoverableError } from 'bullmq';
import { FinalCode } from '../../shared/api/submission-codes.ts';
import type { CancelAnswer } from '../../shared/api/control-queue.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';
import { submittedTraceparent } from '../../shared/api/submission-trace.ts';
import { endsWithin, sleep, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { hasOption, deliveryProblem, NOT_DELAYED, JobFailed, parkedMs, priorityOf, endedAttempt } from './bullmq-job.ts';
import { serveControlQueue } from './control-queue.ts';
import { GuardedWorker } from './guarded-worker.ts';
import { withdrawRemoved } from './removed-submissions.ts';
import { isCancelled } from './outcome.ts';
import { createSubmissionMarks, type ParkedRecord, type SubmissionMarks } from './submission-marks.ts';
import {
  SubmissionRefused,
  type Acceptance,
  type Backlog,
  type DeliveredMark,
  type Outcome,
  type ParkedSubmission,
  type Submission,
  type SubmissionQueue,
  type SubmissionRef,
  type SubmissionNotParked,
} from './submission-queue.ts';
import { openRedis, type RedisConnection } from './redis-connection.ts';
import type { RedisSettings } from './redis-settings.ts';
import { textProblem, type TextLimits } from './submission-text.ts';
import { reportProgress, tellTails, type SubmissionLogs } from './submission-log.ts';
import { formatWork } from '../work-kind/qualified-name.ts';

export type BullmqQueueOptions = {
  readonly redis: RedisSettings;
  /** A connection that is there already, which the caller closes; else one is made. It is a patient one. */
  readonly connection?: RedisConnection;
  /** Whose queue it is: the manager's own keys about it lie under `switchyard:{TENANT}:`. Default: `shared`. */
  readonly tenant?: string;
  /** Name of the BullMQ queue that users put submissions on. */
  readonly name: string;
  /** BullMQ's key prefix; on a Redis cluster with a hash tag, such as `{bull}`. */
  readonly prefix: string;
  readonly concurrency: number;
  /** A submission of more is refused unread; default: 512 KiB. */
  readonly textBytesMax?: number;
  /** Likewise of one that nests deeper; default: 64 levels. */
  readonly textDepthMax?: number;
  readonly clock: Clock;
  readonly log: Logger;
};

const ENDED_KEPT = { age: 24 * 3600, count: 50_000 };
/** `waitUntilFinished` hangs when the event it waits for was trimmed from the stream; the default is 10 000 for the whole queue. */
const EVENTS_KEPT = 1_000_000;
/** Whoever connects with BullMQ's default sets the length back. */
const EVENTS_KEPT_INTERVAL_MS = 2_000;
/** Any number of managers may die with a submission in hand: that is not its fault. */
const STALLS_ALLOWED = 1_000_000;
/** How soon another manager takes up what a dead one had in hand: at most both together. Being wrong about its death does no harm. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
const RETRY_MAX_MS = 60_000;
const CLOSE_TIMEOUT_MS = 10_000;
const TEXT_BYTES_MAX = 512 * 1024;

/**
 * Submissions on BullMQ. A submission whose Job runs is parked by delaying it for hours. Whoever learns how the Job ended writes that down
 * and promotes the submission, which then finds its outcome. Everything is level-triggered: the outcome is looked up before and after the
 * submission is delayed, and one that wakes early or late only looks again.
 *
 * Connects at once, and again whenever the connection is lost.
 */
export function connectBullmqQueue(options: BullmqQueueOptions): SubmissionQueue {
  return new BullmqQueue(options);
}

/** What the consumer does with a submission, and with the Job of one that is not wanted any more. */
type Handlers = {
  readonly accept: (submission: Submission) => Promise<Acceptance>;
  readonly withdraw: (of: ParkedSubmission | SubmissionNotParked, signature?: unknown) => Promise<void>;
  readonly refusedUnread: (id: string, refusal: SubmissionRefused) => void;
};

/** What is noted once BullMQ has taken the end of a submission. */
type Delivery = {
  /** Undefined where there was no attempt. */
  readonly mark: DeliveredMark | undefined;
  /** What it was parked for. */
  readonly parked: ParkedRecord | undefined;
};

class BullmqQueue implements SubmissionQueue {
  readonly #options: BullmqQueueOptions;
  readonly #redis: RedisConnection;
  readonly #submissions: Queue;
  readonly #marks: SubmissionMarks;
  readonly #limits: TextLimits;
  readonly #logs: SubmissionLogs;
  /** Submissions whose end BullMQ is being given. */
  readonly #delivering = new WeakMap<Job, Delivery>();
  /** UIDs of Jobs that were withdrawn, until BullMQ has taken the end of their submissions. */
  readonly #withdrawn = new Set<string>();
  /** Marks that are being written. */
  readonly #marking = new Set<Promise<void>>();

  constructor(options: BullmqQueueOptions) {
    this.#options = options;
    const { redis, connection, name, prefix, log, clock, tenant = 'shared', textBytesMax = TEXT_BYTES_MAX, textDepthMax } = options;
    this.#redis = connection ?? openRedis(redis, log);
    this.#marks = createSubmissionMarks(this.#redis, tenant, `${prefix}:${name}`);
    this.#submissions = new Queue(name, { connection: this.#redis, prefix, streams: { events: { maxLen: EVENTS_KEPT } } });
    this.#submissions.on('error', (error) => this.#logTrouble(error));
    this.#limits = { bytesMax: textBytesMax, ...omitUndefined({ depthMax: textDepthMax }) };
    this.#logs = { redis: this.#redis, submissions: this.#submissions, marks: this.#marks, limits: this.#limits, clock };
  }

  async consume(
    accept: Handlers['accept'],
    signal: AbortSignal,
    withdraw: Handlers['withdraw'] = async () => undefined,
    refusedUnread: Handlers['refusedUnread'] = () => undefined,
  ): Promise<void> {
    if (signal.aborted) return;
    const handlers = { accept, withdraw, refusedUnread };
    const { name, prefix, concurrency, clock } = this.#options;
    const process = async (job: Job, token = ''): Promise<unknown> => {
      const problem = worker.problemOf(job) ?? deliveryProblem(job, prefix);
      if (problem === undefined) return this.#process(job, token, handlers);
      // BullMQ counts the attempt that ends, and could not end it where that is no number.
      if (!Number.isSafeInteger(job.attemptsMade)) await this.#redis.hset(this.#submissions.toKey(job.id ?? ''), 'atm', 0);
      const refusal = new SubmissionRefused('Invalid', problem);
      refusedUnread(job.id ?? '', refusal);
      throw new UnrecoverableError(refusal.message);
    };
    const worker = new GuardedWorker((text) => textProblem(text, this.#limits), name, process, {
      connection: this.#redis,
      prefix,
      concurrency,
      autorun: false,
      maxStalledCount: STALLS_ALLOWED,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      removeOnComplete: ENDED_KEPT,
      removeOnFail: ENDED_KEPT,
    });
    worker.on('error', (error) => this.#logTrouble(error));
    worker.on('completed', (job) => this.#taken(job));
    worker.on('failed', (job) => job !== undefined && this.#taken(job));
    const running = worker.run();
    const beside = this.#serveBeside(handlers, signal);
    await Promise.race([running, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
    // What is in hand is finished first; without Redis there is no finishing it, and another manager takes it up.
    const ended = worker.close().then(() => Promise.all([beside, ...this.#marking]));
    await endsWithin(clock, CLOSE_TIMEOUT_MS, ended);
  }

  /** What a queue needs besides: until `signal` aborts. */
  async #serveBeside(handlers: Handlers, signal: AbortSignal): Promise<void> {
    const { name, prefix, clock, log } = this.#options;
    const [redis, marks, submissions] = [this.#redis, this.#marks, this.#submissions];
    const onError = (error: Error): void => this.#logTrouble(error);
    const control = serveControlQueue({ redis, prefix, name, cancel: (...asked) => this.#cancel(handlers, ...asked), onError });
    await Promise.all([
      this.#keepEventsAlways(signal),
      withdrawRemoved({ redis, prefix, submissions, marks, withdraw: handlers.withdraw, clock, log }, signal),
      aborted(signal).then(() => control.close()),
    ]);
  }

  async finish(ref: SubmissionRef, outcome: Outcome, uid: string): Promise<void> {
    void this.#keepEvents();
    const parked = await this.#marks.settle(ref.key, uid, outcome);
    // Parked for another attempt, or not yet: then it looks again after it is.
    if (parked?.uid === uid) await this.#wake(parked.ref, parked);
  }

  report(ref: SubmissionRef, progress: SubmissionProgress): Promise<void> {
    return reportProgress(this.#logs, ref, progress);
  }

  tellTails(ref: SubmissionRef, of: string, read: () => Promise<readonly string[]>): Promise<void> {
    return tellTails(this.#logs, ref, of, read);
  }

  async backlog(): Promise<Backlog> {
    const [{ waiting = 0, prioritized = 0, failed = 0 }, first] = await Promise.all([
      this.#submissions.getJobCounts('waiting', 'prioritized', 'failed'),
      this.#submissions.getJobs(['waiting', 'prioritized'], 0, 0, true),
    ]);
    const oldestMs = Math.min(...first.map(({ timestamp }) => timestamp));
    return { waiting: waiting + prioritized, failed, ...(Number.isFinite(oldestMs) ? { oldestMs } : {}) };
  }

  parked(): AsyncIterable<readonly ParkedSubmission[]> {
    return this.#marks.parked();
  }

  async close(): Promise<void> {
    await endsWithin(this.#options.clock, CLOSE_TIMEOUT_MS, this.#submissions.close());
    if (this.#options.connection === undefined) this.#redis.disconnect();
  }

  /** May run any number of times for one submission. */
  async #process(job: Job, token: string, handlers: Handlers): Promise<unknown> {
    try {
      return await this.#untilOutcome(job, token, handlers);
    } catch (error) {
      if (error instanceof DelayedError || error instanceof UnrecoverableError || error instanceof JobFailed) throw error;
      // Not by failing: a submission has as many attempts as its submitter thought of, which is one by default.
      const delayMs = Math.min(RETRY_MAX_MS, 500 * 2 ** Math.min(10, job.attemptsStarted));
      await job.moveToDelayed(this.#options.clock.now() + delayMs, token);
      throw new DelayedError();
    }
  }

  /** Returns the answer of the submission or throws it; parks the submission and throws DelayedError when there is none yet. */
  async #untilOutcome(job: Job, token: string, { accept, withdraw }: Handlers): Promise<unknown> {
    const { id = '', timestamp: submittedAt, attemptsMade } = job;
    const ref: SubmissionRef = { key: submissionKey({ id, submittedAt }), id, submittedAt };
    const { parked, outcome, delivered, cancelledOf, cancelSignature } = await this.#marks.look(ref.key);
    // 1. Of the attempt for which it was parked. One that BullMQ has taken, or that belongs to an earlier submission under this key, is for
    // `accept` to judge.
    const isOfThis = parked?.ref.submittedAt === submittedAt && parked.attemptsMade === attemptsMade;
    if (parked !== undefined && outcome !== undefined && isOfThis) {
      // It was woken at the head of the queue; a retry waits as its submitter said.
      // The manager that wrote it may have died before the Job was withdrawn.
      if (isCancelled(outcome)) await this.#withdraw(parked, withdraw, cancelSignature);
      const priority = priorityOf(job);
      if (priority > 0) await job.changePriority({ priority });
      return this.#answer(job, outcome, parked.attempt, parked);
    }
    // 2. Cancelled before it was parked for a Job; or, of one that was, the cancelling was cut short.
    if (cancelledOf === submittedAt) {
      if (parked === undefined || !isOfThis) {
        await withdraw({ ref }, cancelSignature);
        throw this.#refusal(job, 'Cancelled: the submission was cancelled before it was accepted');
      }
      return this.#answer(job, await this.#endCancelled(parked, withdraw, cancelSignature), parked.attempt, parked);
    }
    // 3. The Job is there, or is made now.
    const earlier = omitUndefined({ parked, delivered: endedAttempt(parked, { submittedAt, attemptsMade }) ?? delivered });
    const traceparent = submittedTraceparent(job.data, job.opts.telemetry?.metadata);
    const told = { ...earlier, ...omitUndefined({ traceparent }) };
    const submission = { ...ref, name: job.name, data: job.data as unknown, attemptsMade, priority: priorityOf(job), ...told };
    const waited = isOfThis ? parked : undefined;
    const accepted = await accept(submission).catch((error: unknown) => {
      throw error instanceof SubmissionRefused ? this.#refusal(job, error.message, waited) : error;
    });
    const { uid, attempt = 1 } = accepted;
    if (accepted.outcome !== undefined) {
      // Written down before BullMQ hears of it: what is parked for no outcome, and gone from BullMQ, would pass for removed.
      if (waited !== undefined) await this.#marks.settle(ref.key, waited.uid, accepted.outcome);
      return this.#answer(job, accepted.outcome, attempt, waited);
    }
    // 4. Parked: whoever writes the outcome from now on finds it, and what was written before is found here.
    await this.#marks.park({ ref, job: accepted.job, uid, attempt, attemptsMade });
    await job.moveToDelayed(this.#options.clock.now() + parkedMs(ref.key), token);
    const since = await this.#marks.look(ref.key);
    if (since.outcome !== undefined || since.cancelledOf === submittedAt) await this.#wake(ref);
    throw new DelayedError();
  }

  /** What the submitter's `waitUntilFinished` resolves with, or rejects with. */
  #answer(job: Job, outcome: Outcome, attempt: number, parked: ParkedRecord | undefined): unknown {
    this.#delivering.set(job, { parked, mark: { attempt, submittedAt: job.timestamp, attemptsMade: job.attemptsMade } });
    if (outcome.kind === 'Completed') return outcome.result;
    const message = `${outcome.failure.reason}: ${outcome.failure.message}`;
    const retried = hasOption(job.data, 'retry') && !Object.hasOwn(FinalCode, outcome.failure.reason);
    throw retried ? new JobFailed(message) : new UnrecoverableError(message);
  }

  #refusal(job: Job, message: string, parked?: ParkedRecord): UnrecoverableError {
    this.#delivering.set(job, { parked, mark: undefined });
    return new UnrecoverableError(message);
  }

  /**
   * Ends what its submitter wants to end. Whatever it meets half-way, the submission then ends itself: it looks for the mark before and
   * after it is parked.
   */
  async #cancel({ withdraw }: Handlers, key: string, signature: unknown): Promise<CancelAnswer> {
    const found = await this.#find(key);
    if (found === undefined) return { cancelled: false, state: 'unknown' };
    const { ref, state } = found;
    if (state === 'completed' || state === 'failed') return { cancelled: false, state };
    await this.#marks.cancel(ref.key, ref.submittedAt, signature);
    const parked = await this.#marks.parkedFor(ref.key);
    const isOfThis = parked?.ref.submittedAt === ref.submittedAt;
    try {
      const outcome = isOfThis ? await this.#endCancelled(parked, withdraw, signature) : undefined;
      return { cancelled: outcome === undefined || isCancelled(outcome), state };
    } finally {
      // Also where its Job could not be withdrawn: the submission then tries it again itself.
      await this.#wake(ref);
    }
  }

  /** The first outcome stands: a Job that has just ended is kept, and its outcome told. */
  async #endCancelled(parked: ParkedRecord, withdraw: Handlers['withdraw'], signature: unknown): Promise<Outcome> {
    const failure = {
      reason: FinalCode.Cancelled,
      message: `the submission was cancelled, and its ${formatWork(undefined, parked.job)} is deleted`,
    };
    await this.#marks.settle(parked.ref.key, parked.uid, { kind: 'Failed', failure });
    const outcome = (await this.#marks.outcomeOf(parked.uid)) ?? ({ kind: 'Failed', failure } as const);
    if (isCancelled(outcome)) await this.#withdraw(parked, withdraw, signature);
    return outcome;
  }

  async #withdraw(parked: ParkedRecord, withdraw: Handlers['withdraw'], signature: unknown): Promise<void> {
    if (this.#withdrawn.has(parked.uid)) return;
    await withdraw(parked, signature);
    this.#withdrawn.add(parked.uid);
  }

  /** By its key, which is its id, or the id that BullMQ counted and the time. */
  async #find(key: string): Promise<{ readonly ref: SubmissionRef; readonly state: string } | undefined> {
    const [, counted] = /^(\d+)@\d+$/.exec(key) ?? [];
    for (const id of [key, counted]) {
      if (id === undefined) continue;
      const time = await this.#redis.hget(this.#submissions.toKey(id), 'timestamp');
      const ref = { key, id, submittedAt: Number(time) };
      if (time !== null && Number.isSafeInteger(ref.submittedAt) && submissionKey(ref) === key)
        return { ref, state: await this.#submissions.getJobState(id) };
    }
    return undefined;
  }

  #taken(job: Job): void {
    const delivery = this.#delivering.get(job);
    if (delivery === undefined) return;
    if (delivery.parked !== undefined) this.#withdrawn.delete(delivery.parked.uid);
    const key = submissionKey({ id: job.id ?? '', submittedAt: job.timestamp });
    // Left out, the next sweep finds the submission ended and forgets it.
    const marked = this.#marks.deliver(key, delivery.mark, delivery.parked).catch((error: Error) => this.#logTrouble(error));
    this.#marking.add(marked);
    void marked.then(() => this.#marking.delete(marked));
  }

  /**
   * To the head of the queue, or an outcome would wait behind all that is not looked at yet: promoted as something prioritized, from where
   * it is taken out at once. Nothing happens to a submission that is active; it looks again itself.
   */
  async #wake({ id }: SubmissionRef, parked?: ParkedRecord): Promise<void> {
    const job = new Job(this.#submissions, '', undefined, {}, id);
    const steps = [job.changePriority({ priority: 1 }), job.promote(), job.changePriority({ priority: 0, lifo: true })];
    const [, promoted] = await Promise.allSettled(steps);
    if (promoted?.status !== 'rejected') return;
    const { code } = promoted.reason as { readonly code?: number };
    if (code !== NOT_DELAYED) throw promoted.reason;
    if (parked === undefined) return;
    const state = await this.#submissions.getJobState(id);
    if (state === 'completed' || state === 'failed' || state === 'unknown') await this.#marks.forget(parked);
  }

  async #keepEventsAlways(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#keepEvents();
      await sleep(this.#options.clock, EVENTS_KEPT_INTERVAL_MS, signal);
    }
  }

  async #keepEvents(): Promise<void> {
    try {
      await this.#redis.hset(this.#submissions.toKey('meta'), 'opts.maxLenEvents', EVENTS_KEPT);
    } catch (error) {
      this.#logTrouble(error as Error);
    }
  }

  #logTrouble(error: Error): void {
    this.#options.log.debug('trouble with a BullMQ queue', { queue: this.#options.name, error });
  }
}
