/** A queue of submissions as the manager serves it, on a real Redis, with BullMQ's own clients beside it. */
import { Queue, QueueEvents, type Job } from 'bullmq';
import { expect } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import type {
  Acceptance,
  Outcome,
  ParkedSubmission,
  SubmissionNotParked,
  Submission,
  SubmissionQueue,
  SubmissionRef,
} from '../../manager/submission/submission-queue.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from './redis.ts';

export const QUEUE_NAME = 'submissions';
/** Where the manager keeps what it knows of them. */
export const MARKS = `switchyard:{shared}:bull:${QUEUE_NAME}:`;

export const done = (succeeded: number): Outcome => ({
  kind: 'Completed',
  result: { namespace: 'team', name: 'sum', uid: 'u', succeeded, failed: 0 },
});
export const failed = (reason: string): Outcome => ({ kind: 'Failed', failure: { reason, message: 'it did not work' } });
export const uidOf = (key: string, attempt = 1): string => `uid-of-${key}-${attempt}`;
export const running = (submission: Submission, attempt = 1): Acceptance => ({
  job: { namespace: 'team', name: `job-${attempt}` },
  uid: uidOf(submission.key, attempt),
  attempt,
  outcome: undefined,
});
export const refOf = ({ id = '', timestamp: submittedAt }: Job): SubmissionRef => ({
  key: submissionKey({ id, submittedAt }),
  id,
  submittedAt,
});

type Accept = (submission: Submission) => Acceptance | Promise<Acceptance>;

/** `signature`: what stood beside the request to cancel it. */
type Withdrawn = ParkedSubmission & { readonly signature: unknown };

export type QueueUnderTest = {
  readonly redis: TestRedis;
  readonly connection: { readonly url: string; readonly maxRetriesPerRequest: null };
  readonly queue: SubmissionQueue;
  readonly users: Queue;
  readonly events: QueueEvents;
  /** What was handed out, and which Jobs were withdrawn. */
  readonly seen: readonly Submission[];
  readonly withdrawn: readonly Withdrawn[];
  /** Keys of those that were withdrawn while they were not parked. */
  readonly unparked: readonly string[];
  /** `onWithdraw` is asked first, and what it throws is what came of it. */
  consume(accept?: Accept, onWithdraw?: () => void): void;
  finish(job: Job, outcome: Outcome, attempt?: number): Promise<void>;
  isParked(job: Job): Promise<void>;
  parkedKeys(): Promise<string[]>;
  /** Ends what consumes, and begins with an empty Redis. */
  renew(): Promise<void>;
  close(): Promise<void>;
};

export async function startQueue(concurrency = 5, name = QUEUE_NAME): Promise<QueueUnderTest> {
  const redis = await startRedis();
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  const open = () => ({
    users: new Queue(name, { connection }),
    events: new QueueEvents(name, { connection }),
    queue: connectBullmqQueue({
      redis: { servers: { kind: 'Single', url: redis.url } },
      name,
      prefix: 'bull',
      concurrency,
      clock: systemClock,
      log: silentLogger,
    }),
    stop: new AbortController(),
    consuming: [] as Promise<void>[],
    seen: [] as Submission[],
    withdrawn: [] as Withdrawn[],
    unparked: [] as string[],
  });
  let now = open();
  await now.events.waitUntilReady();
  const end = async (): Promise<void> => {
    now.stop.abort();
    await Promise.all(now.consuming);
    await Promise.all([now.queue.close(), now.users.close(), now.events.close()]);
  };
  return {
    redis,
    connection,
    get queue() {
      return now.queue;
    },
    get users() {
      return now.users;
    },
    get events() {
      return now.events;
    },
    get seen() {
      return now.seen;
    },
    get withdrawn() {
      return now.withdrawn;
    },
    get unparked() {
      return now.unparked;
    },
    consume(accept = running, onWithdraw = () => undefined) {
      const { queue, seen, withdrawn, unparked, stop, consuming } = now;
      const noting = async (submission: Submission): Promise<Acceptance> => {
        seen.push(submission);
        return accept(submission);
      };
      const withdraw = async (of: ParkedSubmission | SubmissionNotParked, signature: unknown): Promise<void> => {
        onWithdraw();
        if (of.uid === undefined) unparked.push(of.ref.key);
        else withdrawn.push({ ...of, signature });
      };
      consuming.push(queue.consume(noting, stop.signal, withdraw));
    },
    finish: (job, outcome, attempt = 1) => now.queue.finish(refOf(job), outcome, uidOf(refOf(job).key, attempt)),
    async isParked(job) {
      await expect.poll(() => job.getState()).toBe('delayed');
    },
    async parkedKeys() {
      const keys: string[] = [];
      for await (const page of now.queue.parked()) keys.push(...page.map(({ ref }) => ref.key));
      return keys.toSorted();
    },
    async renew() {
      await end();
      await redis.wipe();
      now = open();
      await now.events.waitUntilReady();
    },
    async close() {
      await end();
      await redis.stop();
    },
  };
}
