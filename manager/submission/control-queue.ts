import { UnrecoverableError, type Job, type Worker } from 'bullmq';
import { CANCEL, controlQueueName, type CancelAnswer, type CancelRequest } from '../../shared/api/control-queue.ts';
import { GuardedWorker } from './guarded-worker.ts';
import type { RedisConnection } from './redis-connection.ts';
import { textFault } from './submission-text.ts';

export type ControlQueue = {
  readonly redis: RedisConnection;
  readonly prefix: string;
  /** Of the queue of submissions. */
  readonly name: string;
  /** `signature`: who says that they cancel, as anybody who may write to the queue may have written it. */
  readonly cancel: (key: string, signature: unknown) => Promise<CancelAnswer>;
  readonly onError: (error: Error) => void;
};

/** A key has at most 1024 characters, of at most 6 bytes each as JSON. */
const TEXT_BYTES_MAX = 8 * 1024;
const CONCURRENCY = 10;
const KEPT = { age: 3600, count: 1_000 };
/** Any number of managers may die with a request in hand. */
const STALLS_ALLOWED = 1_000_000;

/** Does what submitters ask for beside their submissions: a worker that runs until it is closed. */
export function serveControlQueue({ redis, prefix, name, cancel, onError }: ControlQueue): Worker {
  const process = async (job: Job): Promise<CancelAnswer> => {
    const problem = worker.problemOf(job);
    if (problem !== undefined) throw new UnrecoverableError(`Invalid: ${problem}`);
    const { key, signature } = (job.data ?? {}) as Partial<CancelRequest>;
    if (job.name !== CANCEL)
      throw new UnrecoverableError(`Invalid: ${String(job.name).slice(0, 64)} is not understood; there is only ${CANCEL}`);
    if (typeof key !== 'string') throw new UnrecoverableError('Invalid: data.key must be the key of a submission');
    return cancel(key, signature);
  };
  const worker = new GuardedWorker(requestProblem, controlQueueName(name), process, {
    connection: redis,
    prefix,
    concurrency: CONCURRENCY,
    maxStalledCount: STALLS_ALLOWED,
    removeOnComplete: KEPT,
    removeOnFail: KEPT,
  });
  worker.on('error', onError);
  return worker;
}

/** Why a request is not parsed, and what to send instead; undefined when nothing is wrong with its text. */
export function requestProblem(text: string): string | undefined {
  const fault = textFault(text, { bytesMax: TEXT_BYTES_MAX });
  return fault && `the request ${fault.message}; send {"key": KEY}, where KEY is the key of a submission`;
}
