/** What submitters want beside their submissions: to cancel, to remove, to see how it goes. On a real Redis, with BullMQ's own clients. */
import { Queue, QueueEvents, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CANCEL, controlQueueName, type CancelAnswer } from '../../shared/api/control-queue.ts';
import { MARKS, QUEUE_NAME, done, refOf, running, startQueue, uidOf, type QueueUnderTest } from '../support/queue-under-test.ts';

let world: QueueUnderTest;
beforeAll(async () => {
  world = await startQueue();
});
afterAll(() => world.close());
afterEach(() => world.renew());

async function cancel(key: unknown, more: object = {}): Promise<CancelAnswer> {
  const control = new Queue(controlQueueName(QUEUE_NAME), { connection: world.connection });
  const answers = new QueueEvents(controlQueueName(QUEUE_NAME), { connection: world.connection });
  try {
    await answers.waitUntilReady();
    return (await (await control.add(CANCEL, { key, ...more })).waitUntilFinished(answers, 40_000)) as CancelAnswer;
  } finally {
    await Promise.all([control.close(), answers.close()]);
  }
}
const rejection = (job: Job): Promise<string> =>
  job.waitUntilFinished(world.events, 40_000).then(
    (value) => `resolved with ${JSON.stringify(value)}`,
    (error: Error) => error.message,
  );

describe('a submission that is cancelled', () => {
  test('ends as Cancelled, and its Job is deleted', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'a:b:c' });
    const end = rejection(job);
    await world.isParked(job);
    expect(await cancel('a:b:c')).toEqual({ cancelled: true, state: 'delayed' });
    expect(await end).toMatch(/^Cancelled: .*team\/job-1/);
    expect(world.withdrawn).toMatchObject([{ ref: { id: 'a:b:c' }, job: { namespace: 'team', name: 'job-1' } }]);
    await expect.poll(world.parkedKeys).toEqual([]);
  });

  test('by an id that BullMQ counted is found by its time', async () => {
    world.consume();
    const job = await world.users.add('sum', {});
    const end = rejection(job);
    await world.isParked(job);
    expect(await cancel(`${job.id}@${job.timestamp + 1}`)).toEqual({ cancelled: false, state: 'unknown' });
    expect(await cancel(`${job.id}@${job.timestamp}`)).toMatchObject({ cancelled: true });
    expect(await end).toMatch(/^Cancelled: /);
  });

  test('before anybody looked at it becomes no Job', async () => {
    world.consume();
    const delayed = await world.users.add('sum', {}, { jobId: 'later', delay: 600_000 });
    const end = rejection(delayed);
    expect(await cancel('later')).toEqual({ cancelled: true, state: 'delayed' });
    expect(await end).toMatch(/^Cancelled: .*before/);
    expect([world.seen, world.withdrawn]).toEqual([[], []]);
  });

  test('while something keeps it from being accepted takes along the Job that it may have got', async () => {
    let answers = 0;
    world.consume(
      () => Promise.reject(new Error('the ResourceQuota has no room for its ConfigMaps')),
      () => {
        if (answers++ < 1) throw new Error('the API server does not answer');
      },
    );
    const job = await world.users.add('sum', {}, { jobId: 'half' });
    const end = rejection(job);
    await expect.poll(() => world.seen.length).toBeGreaterThan(0);
    expect(await cancel('half')).toMatchObject({ cancelled: true });
    expect(await end).toMatch(/^Cancelled: .*before/);
    expect([world.unparked, world.withdrawn, answers]).toEqual([['half'], [], 2]);
  });

  test('and retried afterwards runs', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'again', delay: 600_000 });
    const end = rejection(job);
    await cancel('again');
    await end;
    const redis = new Redis(world.redis.url);
    await expect.poll(() => redis.exists(`${MARKS}cancelled:again`)).toBe(0);
    redis.disconnect();
    await job.retry();
    await world.isParked(job);
    expect(world.seen).toHaveLength(1);
  });

  test('while its Job is being made ends as soon as that is there', async () => {
    const gate = Promise.withResolvers<void>();
    world.consume(async (submission) => {
      await gate.promise;
      return running(submission);
    });
    const job = await world.users.add('sum', {}, { jobId: 'slow' });
    const end = rejection(job);
    await expect.poll(() => world.seen.length).toBe(1);
    expect(await cancel('slow')).toEqual({ cancelled: true, state: 'active' });
    gate.resolve();
    expect(await end).toMatch(/^Cancelled: /);
    expect(world.withdrawn).toHaveLength(1);
  });

  test('after it has ended keeps its outcome, and its Job', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'over' });
    await world.isParked(job);
    await world.finish(job, done(1));
    await job.waitUntilFinished(world.events, 40_000);
    expect(await cancel('over')).toEqual({ cancelled: false, state: 'completed' });
    expect(await cancel('nobody')).toEqual({ cancelled: false, state: 'unknown' });
    await expect(cancel(7)).rejects.toThrow(/^Invalid: data\.key/);
    await expect(cancel('x'.repeat(1_000_000))).rejects.toThrow(/^Invalid: .* bytes/);
    expect(world.withdrawn).toEqual([]);
  });
});

describe('a cancelling that is cut short once its outcome is written', () => {
  const OUTCOME = JSON.stringify({ kind: 'Failed', failure: { reason: 'Cancelled', message: 'it was cancelled' } });
  const outcomeKey = (uid: string): string => `${MARKS.slice(0, MARKS.indexOf('}') + 2)}outcome:${uid}`;

  test('by an API server that does not answer is gone on with at once, and the submission ends when its Job may go', async () => {
    let answers = 0;
    world.consume(running, () => {
      if (answers++ < 2) throw new Error('the API server does not answer');
    });
    const job = await world.users.add('sum', {}, { jobId: 'outage' });
    const end = rejection(job);
    await world.isParked(job);
    await expect(cancel('outage')).rejects.toThrow('does not answer');
    expect(await end).toMatch(/^Cancelled: /);
    expect(world.withdrawn).toHaveLength(1);
    expect(world.seen).toHaveLength(1);
  });

  test('says whoever comes to it who cancelled, as that stood beside the request', async () => {
    let answers = 0;
    world.consume(running, () => {
      if (answers++ < 1) throw new Error('the API server does not answer');
    });
    const signature = { user: 'ann', seal: 'x' };
    const job = await world.users.add('sum', {}, { jobId: 'named' });
    const end = rejection(job);
    await world.isParked(job);
    await expect(cancel('named', { signature })).rejects.toThrow('does not answer');
    expect(await end).toMatch(/^Cancelled: /);
    expect(world.withdrawn).toMatchObject([{ ref: { key: 'named' }, signature }]);
    const redis = new Redis(world.redis.url);
    await expect.poll(() => redis.keys('*cancel-signature*')).toEqual([]);
    redis.disconnect();
  });

  test('by the death of its manager is gone on with before the submission ends', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'crash' });
    const end = rejection(job);
    await world.isParked(job);
    const redis = new Redis(world.redis.url);
    await redis.set(outcomeKey(uidOf('crash')), OUTCOME);
    redis.disconnect();
    await job.promote();
    expect(await end).toBe('Cancelled: it was cancelled');
    expect(world.withdrawn).toMatchObject([{ ref: { key: 'crash' }, uid: uidOf('crash') }]);
  });

  test('and whose submission is then removed takes the Job along', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'both' });
    await world.isParked(job);
    const redis = new Redis(world.redis.url);
    await redis.set(outcomeKey(uidOf('both')), OUTCOME);
    redis.disconnect();
    await job.remove();
    await expect.poll(world.parkedKeys).toEqual([]);
    // A sweep may find it beside the event.
    expect(new Set(world.withdrawn.map(({ uid }) => uid))).toEqual(new Set([uidOf('both')]));
  });
});

describe('a submission that is removed from the queue', () => {
  test('while its Job runs takes the Job with it, whoever chose its id', async () => {
    world.consume();
    const jobs = await world.users.addBulk([
      { name: 'sum', data: {}, opts: { jobId: 'x:y:z' } },
      { name: 'sum', data: {} },
    ]);
    await Promise.all(jobs.map(world.isParked));
    for (const job of jobs) await job.remove();
    // A sweep may find one beside its event.
    const withdrawn = (): ReadonlySet<string> => new Set(world.withdrawn.map(({ ref }) => ref.key));
    await expect.poll(withdrawn).toEqual(new Set(jobs.map((job) => refOf(job).key)));
    await expect.poll(world.parkedKeys).toEqual([]);
  });

  test('while no manager was there is noticed by the next', async () => {
    const redis = new Redis(world.redis.url);
    const ref = { key: 'gone', id: 'gone', submittedAt: 1_000 };
    const first = { attempt: 1, attemptsMade: 0 };
    await redis.hset(`${MARKS}parked`, 'gone', JSON.stringify({ ref, job: { namespace: 'team', name: 'left' }, uid: 'u-1', ...first }));
    // Its Job has ended: there is nothing left to stop.
    await redis.hset(
      `${MARKS}parked`,
      'ended',
      JSON.stringify({ ref: { ...ref, key: 'ended', id: 'ended' }, job: { namespace: 'team', name: 'ended' }, uid: 'u-2', ...first }),
    );
    await redis.set(`${MARKS.slice(0, MARKS.indexOf('}') + 2)}outcome:u-2`, JSON.stringify(done(1)));
    world.consume();
    await expect.poll(world.parkedKeys).toEqual([]);
    expect(world.withdrawn.map(({ uid }) => uid)).toEqual(['u-1']);
    redis.disconnect();
  });

  test('when it had ended is none of the manager’s business', async () => {
    world.consume();
    const job = await world.users.add('sum', {}, { jobId: 'over', removeOnComplete: true });
    const other = await world.users.add('sum', {}, { jobId: 'beside' });
    await Promise.all([job, other].map(world.isParked));
    const result = job.waitUntilFinished(world.events, 40_000);
    await world.finish(job, done(1));
    await result;
    await other.remove();
    await expect.poll(() => new Set(world.withdrawn.map(({ ref }) => ref.key))).toEqual(new Set(['beside']));
  });
});

test('progress comes as BullMQ’s progress, once for each change, and transitions as lines of the log', async () => {
  world.consume();
  const job = await world.users.add('sum', {}, { jobId: 'seen' });
  await world.isParked(job);
  const told: unknown[] = [];
  world.events.on('progress', ({ data }) => told.push(data));
  const ref = refOf(job);
  const running1 = { phase: 'Running', cluster: 'west', active: 1, succeeded: 0, failed: 0 } as const;
  await world.queue.report(ref, { phase: 'Queued', reason: 'InsufficientQuota', active: 0, succeeded: 0, failed: 0 });
  await world.queue.report(ref, running1);
  await world.queue.report(ref, running1);
  await world.queue.report(ref, { ...running1, active: 0, succeeded: 1 });
  await world.queue.report({ ...ref, key: 'nobody', id: 'nobody' }, running1);
  await expect.poll(() => told.length).toBe(3);
  expect(told[2]).toEqual({ phase: 'Running', cluster: 'west', active: 0, succeeded: 1, failed: 0 });
  const { logs } = await world.users.getJobLogs('seen');
  expect(logs.map((line) => line.replace(/^\S+ /, ''))).toEqual(['Queued: InsufficientQuota', 'Running on west']);
});

describe('the ends of logs', () => {
  const row = 'pod sum-x ended with exit code 3; the end of its log:\nboom';
  const logsOf = async (id: string): Promise<string[]> => (await world.users.getJobLogs(id)).logs;

  test('become lines of the log of who asked for them, once, also when the submission has ended', async () => {
    world.consume();
    const job = await world.users.add('sum', { manifest: {}, options: { logs: true } }, { jobId: 'curious' });
    await world.isParked(job);
    const result = job.waitUntilFinished(world.events, 40_000);
    await world.finish(job, done(1));
    await result;
    for (const copy of ['c1', 'c1', 'c2']) await world.queue.tellTails?.(refOf(job), copy, async () => [row]);
    expect(await logsOf('curious')).toEqual([row, row]);
  });

  test('are not read for who did not ask, who is gone, or whose payload was made unreadable since', async () => {
    let reads = 0;
    const read = async (): Promise<string[]> => [`read ${++reads}`];
    const payloads: readonly [string, unknown][] = [
      ['silent', { manifest: {} }],
      ['wrong', { manifest: {}, options: { logs: 'yes' } }],
      ['huge', { manifest: {}, options: { logs: true }, more: 'x'.repeat(600 * 1024) }],
    ];
    for (const [jobId, data] of payloads) {
      const job = await world.users.add('sum', data, { jobId });
      await world.queue.tellTails?.(refOf(job), `copy-of-${jobId}`, read);
    }
    await world.queue.tellTails?.({ key: 'nobody', id: 'nobody', submittedAt: 1 }, 'c', read);
    const counted = await world.users.add('sum', { manifest: {}, options: { logs: true } });
    await world.queue.tellTails?.({ ...refOf(counted), submittedAt: 1 }, 'c', read);
    expect(reads).toBe(0);
    // Removed while they are read.
    await world.queue.tellTails?.(refOf(counted), 'c', async () => {
      await counted.remove();
      return [row];
    });
  });
});
