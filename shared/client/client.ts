import { Queue, type ConnectionOptions } from 'bullmq';
import type { Attachment } from '../api/attachment.ts';
import { CANCEL, controlQueueName, type CancelAnswer } from '../api/control-queue.ts';
import { SUBMISSION_QUEUE, SUBMISSION_QUEUE_PREFIX } from '../api/names.ts';
import { payloadHash } from '../api/payload-hash.ts';
import type { JobResult } from '../api/submission-outcome.ts';
import type { SubmissionProgress } from '../api/submission-progress.ts';
import type { CallerSignature } from '../api/submission-signature.ts';
import { bullmqJobOf, idOf, keyProblem, type SubmissionPayload, type SubmitOptions } from './payload.ts';
import { createSigner, type SigningOptions } from './signing.ts';
import { Cancelled, Conflict, errorOf, Failed, Invalid, TimedOut } from './submission-errors.ts';
import { createWatcher, parsed, type Ending, type Watcher } from './watcher.ts';

// All that users of the package `switchyard/client` import comes from here.
export { Cancelled, Conflict, Failed, Forbidden, Invalid, Rejected, SubmissionError, TimedOut } from './submission-errors.ts';
export type { SubmissionErrorCode } from './submission-errors.ts';
export type { Attachment, CancelAnswer, JobResult, SubmissionPayload, SigningOptions, SubmissionProgress, SubmitOptions };

/** A connection as BullMQ takes it: options for one, or a client of ioredis. */
export type RedisConnection =
  | {
      readonly host?: string;
      readonly port?: number;
      readonly username?: string;
      readonly password?: string;
      readonly db?: number;
      readonly tls?: object;
      readonly [option: string]: unknown;
    }
  | { connect(...args: never[]): unknown; duplicate(...args: never[]): unknown };

export type ConnectOptions = {
  /** URL of the Redis, such as `redis://localhost:6379`, or a connection. */
  readonly redis: string | RedisConnection;
  /**
   * BullMQ's key prefix. Default: that of a manager's shared queue. A SubmissionQueue says its own in `status.prefix`; on a Redis Cluster
   * each has a hash tag.
   */
  readonly prefix?: string;
  /** Name of the queue. Default: that of a manager's shared queue. */
  readonly queue?: string;
  /** Signs what is submitted, for queues that take signed submissions alone. */
  readonly signing?: SigningOptions;
  /** Called when the connection is lost, and when it is there again: it is made anew without anybody's help. */
  readonly onConnection?: (state: 'Lost' | 'Regained') => void;
};

export type WaitOptions = {
  /** Milliseconds; then {@link TimedOut} is thrown, and the submission goes on. Default: for as long as it takes. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
};

/** A submission as the queue has it. */
export type SubmissionView = {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly submittedAt: number;
  readonly payloadHash: string;
  readonly progress?: SubmissionProgress;
} & (
  | { readonly state: 'Delayed' | 'Accepted' }
  | { readonly state: 'Completed'; readonly result: JobResult }
  | { readonly state: 'Failed'; readonly failedReason: string }
);

/** Submits Jobs to Switchyard, and hears what becomes of them. */
export interface Client {
  /**
   * Puts a Job on the queue; resolves with its key as soon as Redis has it. The same key with the same payload is the same submission,
   * however often. Throws {@link Conflict} when another payload lies there under this key, {@link Invalid} when BullMQ does not take the
   * key.
   */
  submit(manifest: object, options?: SubmitOptions): Promise<string>;
  /** As many at once; all or none is refused. */
  submitMany(submissions: readonly { readonly manifest: object; readonly options?: SubmitOptions }[]): Promise<string[]>;
  /** Resolves when the Job has completed. Throws a {@link SubmissionError} when it has not. */
  wait(key: string, options?: WaitOptions): Promise<JobResult>;
  /**
   * Ends a submission and deletes its Job. Resolves with whether it ends as cancelled, when the manager has seen to it; throws
   * {@link TimedOut} when it has not yet.
   */
  cancel(key: string, options?: { readonly timeout?: number; readonly signature?: CallerSignature }): Promise<CancelAnswer>;
  /** How the Job gets on, as it is now and whenever that changes, until it ends. Who reads slowly gets the latest. */
  progress(key: string): AsyncIterable<SubmissionProgress>;
  /** What is known of it now; undefined when the queue does not know it, or not any more. */
  look(key: string): Promise<SubmissionView | undefined>;
  /** A line for each transition of the Job; and of what was submitted with `logs`, one for each pod of which the end of the log is kept. */
  logs(key: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

const CANCEL_TIMEOUT_MS = 30_000;
/** Control jobs need not stay for long. */
const CONTROL_KEPT = { age: 3600 };

/** Connects at once, and again whenever the connection is lost; meanwhile calls wait. */
export function connect(options: ConnectOptions): Client {
  const { redis, prefix = SUBMISSION_QUEUE_PREFIX, queue = SUBMISSION_QUEUE, onConnection = () => undefined, signing } = options;
  const signatureOf = signing && createSigner(signing);
  const connection: ConnectionOptions = typeof redis === 'string' ? { url: redis, maxRetriesPerRequest: null } : redis;
  // Without its metadata: they would set the length of the queue's stream of events to BullMQ's default.
  const open = (name: string): Queue => new Queue(name, { connection, prefix, skipMetasUpdate: true });
  const submissions = open(queue);
  let closing = false;
  followConnection(submissions, (state) => !closing && onConnection(state));
  const watcher = createWatcher(submissions, connection, prefix);
  let control: { readonly queue: Queue; readonly watcher: Watcher } | undefined;

  async function submitMany(many: Parameters<Client['submitMany']>[0]): Promise<string[]> {
    const jobs = many.map(({ manifest, options: each = {} }) => {
      const key = each.key ?? crypto.randomUUID();
      const problem = keyProblem(key);
      if (problem !== undefined) throw new Invalid(key, problem);
      const { data, ...job } = bullmqJobOf(manifest, key, each);
      const signature = each.signature ?? signatureOf?.(data, key, Date.now());
      return { ...job, data: signature === undefined ? data : { ...data, signature }, key, isChosen: each.key !== undefined };
    });
    await submissions.addBulk(jobs.map(({ name, data, opts }) => ({ name, data, opts })));
    await Promise.all(jobs.filter(({ isChosen }) => isChosen).map(({ key, data }) => refuseOtherPayload(key, data)));
    return jobs.map(({ key }) => key);
  }

  /** BullMQ keeps what lies there, and says nothing. */
  async function refuseOtherPayload(key: string, payload: object): Promise<void> {
    const client = await submissions.getBackend().client;
    const there = await client.hget(submissions.toKey(key), 'data');
    if (there === null || payloadHash(parsed(there)) === payloadHash(payload)) return;
    throw new Conflict(key, `another payload lies under the key ${key}; choose another key, or submit the same again`);
  }

  return {
    submit: async (manifest, each = {}) => (await submitMany([{ manifest, options: each }]))[0] ?? '',
    submitMany,
    async wait(key, how = {}) {
      const ending = await end(watcher, key, how, 'the submission has not ended');
      if (ending.kind === 'Completed') return ending.value as JobResult;
      throw errorOfEnding(key, ending);
    },
    async cancel(key, { timeout = CANCEL_TIMEOUT_MS, signature } = {}) {
      if (control === undefined) {
        // What is wrong with the connection the other queue says, too.
        const opened = open(controlQueueName(queue)).on('error', () => undefined);
        control = { queue: opened, watcher: createWatcher(opened, connection, prefix) };
      }
      const opts = { jobId: crypto.randomUUID(), removeOnComplete: CONTROL_KEPT, removeOnFail: CONTROL_KEPT };
      await control.queue.add(CANCEL, { key, ...(signature && { signature }) }, opts);
      const ending = await end(control.watcher, opts.jobId, { timeout }, 'no manager has seen to it');
      if (ending.kind === 'Completed') return ending.value as CancelAnswer;
      throw errorOfEnding(key, ending);
    },
    progress: (key) => progressOf(key, watcher),
    look: (key) => look(key, submissions),
    async logs(key) {
      const { logs } = await submissions.getJobLogs(idOf(key).id);
      return logs;
    },
    async close() {
      closing = true;
      await Promise.all([watcher.close(), control?.watcher.close()]);
      await Promise.all([submissions.close(), control?.queue.close()]);
    },
  };
}

function end(from: Watcher, key: string, { timeout, signal }: WaitOptions, what: string): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const stop = from.watch({ ...idOf(key), ended: (ending) => settle(() => resolve(ending)) });
    const late = (): void => reject(new TimedOut(key, `${what} within ${timeout} ms`, { cause: from.trouble() }));
    const timer = timeout === undefined ? undefined : setTimeout(() => settle(late), timeout);
    const onAbort = (): void => settle(() => reject(signal?.reason as Error));
    function settle(how: () => void): void {
      stop();
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      how();
    }
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

async function* progressOf(key: string, watcher: Watcher): AsyncIterable<SubmissionProgress> {
  let latest: SubmissionProgress | undefined;
  let over = false;
  let change = Promise.withResolvers<void>();
  const seen = (progress: SubmissionProgress): void => {
    latest = progress;
    change.resolve();
  };
  const ended = (): void => {
    over = true;
    change.resolve();
  };
  const stop = watcher.watch({ ...idOf(key), progress: seen, ended });
  try {
    for (let told = ''; ; ) {
      await change.promise;
      change = Promise.withResolvers();
      const text = JSON.stringify(latest);
      if (latest !== undefined && text !== told) yield latest;
      told = text;
      if (over && JSON.stringify(latest) === told) return;
    }
  } finally {
    stop();
  }
}

async function look(key: string, submissions: Queue): Promise<SubmissionView | undefined> {
  const { id, submittedAt } = idOf(key);
  const before = await submissions.getJob(id);
  const state = await before?.getState();
  // A submission that has ended since it was read is read again, for what it ended with.
  const hasEndedSince = (state === 'completed' || state === 'failed') && before?.finishedOn === undefined;
  const job = hasEndedSince ? await submissions.getJob(id) : before;
  if (job === undefined || (submittedAt !== undefined && job.timestamp !== submittedAt)) return undefined;
  const progress = typeof job.progress === 'object' ? { progress: job.progress as SubmissionProgress } : {};
  const seen = { key, submittedAt: job.timestamp, payloadHash: payloadHash(job.data), ...progress };
  if (state === 'completed') return { ...seen, state: 'Completed', result: job.returnvalue as JobResult };
  if (state === 'failed') return { ...seen, state: 'Failed', failedReason: job.failedReason };
  // One whose Job runs is parked as delayed, too; it was looked at.
  return { ...seen, state: state === 'delayed' && job.processedOn === undefined ? 'Delayed' : 'Accepted' };
}

/** Says once when the connection is lost, and once when it is there again. */
function followConnection(queue: Queue, tell: (state: 'Lost' | 'Regained') => void): void {
  let isLost = false;
  const lost = (): void => {
    if (!isLost) tell('Lost');
    isLost = true;
  };
  const regained = (): void => {
    if (isLost) tell('Regained');
    isLost = false;
  };
  queue.on('error', lost).on('ioredis:close', lost);
  queue.getBackend().client.then((client) => {
    regained();
    client.on('ready', regained);
  }, lost);
}

function errorOfEnding(key: string, ending: Exclude<Ending, { readonly kind: 'Completed' }>): Error {
  switch (ending.kind) {
    case 'Failed':
      return errorOf(key, ending.reason);
    case 'Removed':
      return new Cancelled(key, 'the submission was removed from the queue');
    case 'Closed':
      return new Error(`the client was closed while it waited for ${key}`);
    case 'NotFound':
      return new Failed(
        key,
        'NotFound',
        'the queue does not know the submission, or not any more; submit the same under its key again to hear how it ended',
      );
  }
}
