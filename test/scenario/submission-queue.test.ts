/** The parking of submissions, against a real Redis: what a submitter sees when deliveries repeat and things go away. */
import { Queue, QueueEvents, type Job } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import {
  SubmissionRefused,
  type Acceptance,
  type Outcome,
  type ParkedSubmission,
  type Submission,
  type SubmissionQueue,
  type SubmissionRef,
} from '../../manager/submission/submission-queue.ts';
import { submissionKey } from '../../shared/api/submission-key.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const NAME = 'submissions';
const done = (succeeded: number): Outcome => ({
  kind: 'Completed',
  result: { namespace: 'team', name: 'sum', uid: 'u', cluster: 'eu-1', succeeded, failed: 0 },
});
const refOf = ({ id = '', timestamp }: Job): SubmissionRef => ({
  key: submissionKey({ id, submittedAt: timestamp }),
  id,
  submittedAt: timestamp,
});
const finish = (job: Job, outcome: Outcome): Promise<void> => queue.finish(refOf(job), outcome, `uid-${job.id}`);
const running = (submission: Submission): Acceptance => ({
  job: { namespace: 'team', name: `job-${submission.id}` },
  uid: `uid-${submission.id}`,
  outcome: undefined,
});

let redis: TestRedis;
let queue: SubmissionQueue;
let users: Queue;
let events: QueueEvents;
let stop: AbortController;
let consuming: Promise<void>[];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const connect = (): SubmissionQueue =>
  connectBullmqQueue({ redis: singleRedis(redis.url), name: NAME, prefix: 'bull', concurrency: 20, clock: systemClock, log: silentLogger });

beforeEach(() => {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  users = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  // Redis goes away on purpose.
  users.on('error', () => undefined);
  events.on('error', () => undefined);
  queue = connect();
  stop = new AbortController();
  consuming = [];
});
afterEach(async () => {
  stop.abort();
  await Promise.all(consuming);
  await redis.wipe();
  await Promise.all([queue.close(), users.close(), events.close()]);
});

const consume = (accept: (submission: Submission) => Promise<Acceptance>, from = queue): void => {
  consuming.push(from.consume(accept, stop.signal));
};
const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const parked = async (): Promise<readonly ParkedSubmission[]> => {
  const all: ParkedSubmission[] = [];
  for await (const page of queue.parked()) all.push(...page);
  return all;
};

describe('a submission', () => {
  test('is parked while its Job runs, and then resolves with the outcome', async () => {
    await events.waitUntilReady();
    consume(async (submission) => running(submission));
    const job = await users.add('sum', { manifest: {} });
    const result = job.waitUntilFinished(events);
    await until(async () => (await job.getState()) === 'delayed');
    const ref = refOf(job);
    expect(await parked()).toMatchObject([{ ref, job: { namespace: 'team', name: `job-${job.id}` }, uid: `uid-${job.id}` }]);
    await finish(job, done(3));
    await finish(job, { kind: 'Failed', failure: { reason: 'TooLate', message: 'the first outcome stands' } });
    expect(await result).toEqual(
      done(3).kind === 'Completed' ? { namespace: 'team', name: 'sum', uid: 'u', cluster: 'eu-1', succeeded: 3, failed: 0 } : {},
    );
    await expect.poll(parked).toEqual([]);
  });

  test('rejects with reason and message when its Job fails', async () => {
    await events.waitUntilReady();
    consume(async (submission) => running(submission));
    const job = await users.add('sum', {});
    const rejected = expect(job.waitUntilFinished(events)).rejects.toThrow('BackoffLimitExceeded: three strikes');
    await until(async () => (await job.getState()) === 'delayed');
    await finish(job, { kind: 'Failed', failure: { reason: 'BackoffLimitExceeded', message: 'three strikes' } });
    await rejected;
    expect(await job.getState()).toBe('failed');
  });

  test('that can never become a Job rejects at once, whatever attempts it has', async () => {
    await events.waitUntilReady();
    let deliveries = 0;
    consume(async () => {
      deliveries++;
      throw new SubmissionRefused('Invalid', 'spec.template: is missing');
    });
    const job = await users.add('sum', {}, { attempts: 5 });
    await expect(job.waitUntilFinished(events)).rejects.toThrow('spec.template: is missing');
    expect(deliveries).toBe(1);
  });

  test('is not lost when its Job cannot be made for now, though it has one attempt only', async () => {
    await events.waitUntilReady();
    let deliveries = 0;
    consume(async (submission) => {
      if (++deliveries === 1) throw new Error('the API server is away');
      return { ...running(submission), outcome: done(1) };
    });
    const job = await users.add('sum', {});
    expect(await job.waitUntilFinished(events)).toMatchObject({ succeeded: 1 });
    expect(deliveries).toBe(2);
  });

  test('whose Job ends while it is being parked is settled all the same', async () => {
    await events.waitUntilReady();
    consume(async (submission) => {
      await queue.finish(submission, done(2), `uid-${submission.id}`);
      return running(submission);
    });
    const job = await users.add('sum', {});
    expect(await job.waitUntilFinished(events)).toMatchObject({ succeeded: 2 });
    await expect.poll(parked).toEqual([]);
  });

  test('that somebody promotes looks again and is parked again', async () => {
    await events.waitUntilReady();
    let deliveries = 0;
    consume(async (submission) => {
      deliveries++;
      return running(submission);
    });
    const job = await users.add('sum', {});
    await until(async () => (await job.getState()) === 'delayed');
    await job.promote();
    await until(async () => deliveries === 2 && (await job.getState()) === 'delayed');
    await finish(job, done(1));
    expect(await job.waitUntilFinished(events)).toMatchObject({ succeeded: 1 });
  });

  test('is not given the outcome of an earlier one that had its id, when it became another Job', async () => {
    await events.waitUntilReady();
    consume(async (submission) => ({ ...running(submission), uid: `uid-of-${submission.submittedAt}` }));
    const first = await users.add('sum', {}, { jobId: 'nightly' });
    await queue.finish(refOf(first), done(1), `uid-of-${first.timestamp}`);
    expect(await first.waitUntilFinished(events)).toMatchObject({ succeeded: 1 });
    await first.remove();
    const second = await users.add('sum', {}, { jobId: 'nightly', timestamp: first.timestamp + 1 });
    await until(async () => (await second.getState()) === 'delayed');
    await queue.finish(refOf(second), done(2), `uid-of-${second.timestamp}`);
    expect(await second.waitUntilFinished(events)).toMatchObject({ succeeded: 2 });
  });
});

test('a crash of Redis delays submissions and outcomes, and loses none', async () => {
  await events.waitUntilReady();
  consume(async (submission) => running(submission));
  const job = await users.add('sum', {});
  const result = job.waitUntilFinished(events);
  await until(async () => (await job.getState()) === 'delayed');
  await redis.crash();
  const finished = finish(job, done(4));
  await redis.restart();
  await finished;
  expect(await result).toMatchObject({ succeeded: 4 });
});

test('many submissions are taken by several managers, each settled with its own outcome', async () => {
  await events.waitUntilReady();
  events.setMaxListeners(0);
  users.setMaxListeners(0);
  const other = connect();
  const accept = async (submission: Submission): Promise<Acceptance> => {
    // Some Jobs end before they are parked, some after.
    setTimeout(() => void queue.finish(submission, done(Number(submission.data)), `uid-${submission.id}`), Number(submission.data) % 20);
    return running(submission);
  };
  consume(accept);
  consume(accept, other);
  const jobs = await users.addBulk(Array.from({ length: 500 }, (_, index) => ({ name: 'sum', data: index })));
  const results: unknown[] = await Promise.all(jobs.map((job) => job.waitUntilFinished(events)));
  expect(
    results.map((result) => (typeof result === 'object' && result !== null && 'succeeded' in result ? result.succeeded : undefined)),
  ).toEqual(jobs.map((_, index) => index));
  await other.close();
});
