import {
  DelayedError,
  Queue,
  QueueEvents,
  UnrecoverableError,
  WaitingChildrenError,
  Worker,
  type Job,
  type JobJson,
  type Processor,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import { SUBMISSION_QUEUE, SUBMISSION_QUEUE_PREFIX } from '../../shared/api/names.ts';
import { endsWithin, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import {
  SubmissionRefused,
  type Acceptance,
  type JobResult,
  type Outcome,
  type ParkedSubmission,
  type Submission,
  type SubmissionQueue,
  type SubmissionRef,
} from './submission-queue.ts';
import { textProblem } from './submission-text.ts';

export type BullmqQueueOptions = {
  readonly redisUrl: string;
  /** Name of the BullMQ queue that users put submissions on. */
  readonly name: string;
  /** BullMQ's key prefix; on a Redis cluster with a hash tag, such as `{bull}`. */
  readonly prefix: string;
  readonly concurrency: number;
  /** A submission of more is refused unread; default: 512 KiB. */
  readonly textBytesMax?: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Outcomes are kept at least as long as a submitter may still come to ask. */
const OUTCOME_KEPT_SECONDS = 7 * 24 * 3600;
/** A gate never opens by itself. */
const GATE_DELAY_MS = 365 * 24 * 3600 * 1000;
const ENDED_KEPT = { age: 24 * 3600, count: 50_000 };
/** `waitUntilFinished` hangs when the event it waits for was trimmed from the stream; the default is 10 000 for the whole queue. */
const EVENTS_KEPT = 1_000_000;
/** Any number of managers may die with a submission in hand: that is not its fault. */
const STALLS_ALLOWED = 1_000_000;
/** How soon another manager takes up what a dead one had in hand: at most both together. Being wrong about its death does no harm. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
const RETRY_MAX_MS = 60_000;
const CLOSE_TIMEOUT_MS = 10_000;
const PAGE = 1000;
const TEXT_BYTES_MAX = 512 * 1024;

/**
 * Submissions on BullMQ. A submission whose Job runs is parked as `waiting-children` behind a gate: a delayed job in a queue that nobody
 * consumes. Removing the gate wakes it, and it finds its outcome under a key of its own. Everything is level-triggered: the outcome is
 * looked up before and after the gate is made, and a gate that vanished only makes the submission look again.
 *
 * Connects at once, and again whenever the connection is lost.
 */
export function connectBullmqQueue(options: BullmqQueueOptions): SubmissionQueue {
  return new BullmqQueue(options);
}

type Accept = (submission: Submission) => Promise<Acceptance>;

class BullmqQueue implements SubmissionQueue {
  readonly #options: BullmqQueueOptions;
  readonly #redis: Redis;
  readonly #submissions: Queue;
  readonly #gates: Queue;

  constructor(options: BullmqQueueOptions) {
    this.#options = options;
    const { redisUrl, name, prefix } = options;
    // BullMQ's workers require that a command waits for the connection, however long that takes.
    this.#redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
    this.#logConnection();
    const connection = this.#redis;
    this.#submissions = new Queue(name, { connection, prefix, streams: { events: { maxLen: EVENTS_KEPT } } });
    this.#gates = new Queue(`${name}-gates`, { connection, prefix });
    for (const queue of [this.#submissions, this.#gates]) queue.on('error', (error) => this.#logTrouble(error));
  }

  async consume(accept: Accept, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { name, prefix, concurrency, textBytesMax = TEXT_BYTES_MAX, clock } = this.#options;
    const process = (job: Job, token = ''): Promise<unknown> => {
      const problem = worker.problemOf(job);
      return problem === undefined ? this.#process(job, token, accept) : Promise.reject(new UnrecoverableError(`Invalid: ${problem}`));
    };
    const worker = new GuardedWorker((text) => textProblem(text, { bytesMax: textBytesMax }), name, process, {
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
    const running = worker.run();
    await Promise.race([running, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
    // What is in hand is finished first; without Redis there is no finishing it, and another manager takes it up.
    await endsWithin(clock, CLOSE_TIMEOUT_MS, worker.close());
  }

  async finish(ref: SubmissionRef, outcome: Outcome): Promise<void> {
    await this.#redis.set(this.#outcomeKey(ref), JSON.stringify(outcome), 'EX', OUTCOME_KEPT_SECONDS, 'NX');
    await this.#gates.remove(gateId(ref));
  }

  async *parked(): AsyncIterable<readonly ParkedSubmission[]> {
    // Gates that go while we read shift the pages; what is missed is met by the next sweep.
    for (let start = 0; ; start += PAGE) {
      const gates = await this.#gates.getDelayed(start, start + PAGE - 1);
      yield gates.flatMap((gate) => parkedIn(gate?.data) ?? []);
      if (gates.length < PAGE) return;
    }
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    await endsWithin(clock, CLOSE_TIMEOUT_MS, Promise.all([this.#submissions.close(), this.#gates.close()]));
    this.#redis.disconnect();
  }

  /** May run any number of times for one submission. */
  async #process(job: Job, token: string, accept: Accept): Promise<unknown> {
    try {
      return answerOf(await this.#untilOutcome(job, token, accept));
    } catch (error) {
      if (error instanceof WaitingChildrenError || error instanceof UnrecoverableError) throw error;
      if (error instanceof SubmissionRefused) throw new UnrecoverableError(error.message);
      // Not by failing: a submission has as many attempts as its submitter thought of, which is one by default.
      const delayMs = Math.min(RETRY_MAX_MS, 500 * 2 ** Math.min(10, job.attemptsStarted));
      await job.moveToDelayed(this.#options.clock.now() + delayMs, token);
      throw new DelayedError();
    }
  }

  /** Returns the outcome, or parks the submission and throws WaitingChildrenError. */
  async #untilOutcome(job: Job, token: string, accept: Accept): Promise<Outcome> {
    const ref = { id: job.id ?? '', submittedAt: job.timestamp };
    for (;;) {
      const outcome = (await this.#outcome(ref)) ?? (await this.#createAndLatch(job, ref, accept));
      if (outcome !== undefined) {
        // BullMQ does not let a job end that still has a child.
        await this.#gates.remove(gateId(ref));
        return outcome;
      }
      if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
    }
  }

  /** Makes the Job, then the gate, then looks once more: the outcome may have come before there was a gate to remove. */
  async #createAndLatch(job: Job, ref: SubmissionRef, accept: Accept): Promise<Outcome | undefined> {
    const accepted = await accept({ ...ref, name: job.name, data: job.data, priority: job.opts.priority ?? 0 });
    if (accepted.outcome !== undefined) return accepted.outcome;
    const parked: ParkedSubmission = { ref, job: accepted.job, uid: accepted.uid };
    const parent = { id: ref.id, queue: job.queueQualifiedName };
    await this.#gates.add('gate', parked, { jobId: gateId(ref), delay: GATE_DELAY_MS, parent });
    return this.#outcome(ref);
  }

  async #outcome(ref: SubmissionRef): Promise<Outcome | undefined> {
    const text = await this.#redis.get(this.#outcomeKey(ref));
    return text === null ? undefined : parseOutcome(text);
  }

  #outcomeKey({ id, submittedAt }: SubmissionRef): string {
    return `switchyard:outcome:${this.#options.name}:${submittedAt}:${id}`;
  }

  #logConnection(): void {
    const { log } = this.#options;
    let lost = false;
    this.#redis.on('error', (error) => {
      if (!lost) log.warn('the connection to Redis is lost; submissions wait, running Jobs go on', { error });
      lost = true;
    });
    this.#redis.on('close', () => {
      if (!lost) log.warn('the connection to Redis is closed');
      lost = true;
    });
    this.#redis.on('ready', () => {
      log.info('connected to Redis', { again: lost });
      lost = false;
    });
  }

  #logTrouble(error: Error): void {
    this.#options.log.debug('trouble with a BullMQ queue', { queue: this.#options.name, error });
  }
}

/**
 * A BullMQ worker that looks at the text of a submission before it is parsed. What is wrong with it is told with the job, whose data are then
 * empty: BullMQ itself would parse whatever there is, and hand a job that it cannot parse out again for ever.
 */
class GuardedWorker extends Worker {
  readonly #problems = new WeakMap<Job, string>();
  readonly #problemOf: (text: string) => string | undefined;

  constructor(problemOf: (text: string) => string | undefined, name: string, process: Processor, options: WorkerOptions) {
    super(name, process, options);
    this.#problemOf = problemOf;
  }

  /** Why the data of the job were not parsed. */
  problemOf(job: Job): string | undefined {
    return this.#problems.get(job);
  }

  protected override createJob(json: JobJson, jobId: string): Job {
    const problem = this.#problemOf(json.data ?? '{}');
    const job = super.createJob(problem === undefined ? json : { ...json, data: '{}' }, jobId);
    if (problem !== undefined) this.#problems.set(job, problem);
    return job;
  }
}

/** What the submitter's `waitUntilFinished` resolves with, or rejects with. */
function answerOf(outcome: Outcome): unknown {
  if (outcome.kind === 'Completed') return outcome.result;
  throw new UnrecoverableError(`${outcome.failure.reason}: ${outcome.failure.message}`);
}

/** Not by the id alone: a gate may outlive the submission it was made for, when somebody wipes the queue. */
const gateId = ({ id, submittedAt }: SubmissionRef): string => `g-${submittedAt}-${id}`;

/** Written by this class only. */
const parseOutcome = (text: string): Outcome => JSON.parse(text) as Outcome;

function parkedIn(data: unknown): ParkedSubmission | undefined {
  const parked = data as Partial<ParkedSubmission> | undefined;
  return parked?.ref === undefined || parked.job === undefined || parked.uid === undefined
    ? undefined
    : { ref: parked.ref, job: parked.job, uid: parked.uid };
}

/** The other side of the queue: an ordinary BullMQ producer, as any program of a user may be one. */
export interface Submitter {
  /** Puts a Job's manifest on the queue. The same `id` again is the same submission. */
  submit(name: string, manifest: unknown, id?: string): Promise<SubmissionHandle>;
  close(): Promise<void>;
}

export type SubmissionHandle = {
  readonly id: string;
  /** Resolves with the outcome of the Job, rejects when the Job failed, was refused, or has not ended within `timeoutMs`. */
  finished(timeoutMs: number): Promise<JobResult>;
};

export type SubmitterOptions = {
  readonly redisUrl: string;
  readonly name?: string;
  readonly prefix?: string;
  /** Called once when the connection is lost; it is made again without anybody's help. */
  readonly onLost?: () => void;
  readonly onRegained?: () => void;
};

/** Connects a producer to the submissions of a manager. */
export function connectSubmitter(options: SubmitterOptions): Submitter {
  const { redisUrl, name = SUBMISSION_QUEUE, prefix = SUBMISSION_QUEUE_PREFIX, onLost, onRegained } = options;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  let lost = false;
  let closing = false;
  const trouble = (): void => {
    if (!lost && !closing) onLost?.();
    lost = true;
  };
  redis.on('error', trouble).on('close', trouble);
  redis.on('ready', () => {
    if (lost) onRegained?.();
    lost = false;
  });
  const queue = new Queue(name, { connection: redis, prefix });
  const events = new QueueEvents(name, { connection: redis, prefix });
  // They share the connection, or copy it, and say the same as it does; without a listener they would throw.
  queue.on('error', () => undefined);
  events.on('error', () => undefined);
  return {
    async submit(submissionName, manifest, id) {
      await events.waitUntilReady();
      const job = await queue.add(submissionName, { manifest }, id === undefined ? {} : { jobId: id });
      return { id: job.id ?? '', finished: (timeoutMs) => job.waitUntilFinished(events, timeoutMs) as Promise<JobResult> };
    },
    async close() {
      closing = true;
      await events.close();
      await queue.close();
      redis.disconnect();
    },
  };
}
