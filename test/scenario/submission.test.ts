/** Goal: a manifest put on the queue by an ordinary `Queue.add` becomes one Job, and its submitter hears how it ended. */
import { Queue, QueueEvents, type Job as Submission } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseSharedSubmissions, SHARED_SUBMISSIONS } from '../../manager/api/shared-submissions.ts';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import type { SubmissionProgress } from '../../shared/api/submission-progress.ts';
import { connect, type Client } from '../../shared/client/client.ts';
import { CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { sourceOf } from '../support/submission-source.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';

const NAME = 'switchyard-submissions';
const manifest = (metadata: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' }, ...metadata },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
});

let redis: TestRedis;
let queue: SubmissionQueue;
let users: Queue;
let events: QueueEvents;
let world: DispatchWorld;
let eu: WorkerSide;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

beforeEach(async () => {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  users = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  users.on('error', () => undefined); // Redis goes away on purpose.
  events.on('error', () => undefined);
  await events.waitUntilReady();
  queue = connectBullmqQueue({
    redis: singleRedis(redis.url),
    name: NAME,
    prefix: 'bull',
    concurrency: 10,
    clock: systemClock,
    log: silentLogger,
  });
  world = await createDispatchWorld({ workers: ['eu-1'], realTime: true, submissions: sourceOf(queue) });
  eu = world.worker('eu-1');
});
afterEach(async () => {
  await world.close();
  await redis.wipe();
  await Promise.all([queue.close(), users.close(), events.close()]);
});

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const jobs = async (): Promise<Job[]> => (await world.home.list(JOBS)).items;
const copyName = (): Promise<string> => eventually(async () => (await eu.client.list(JOBS)).items[0]?.metadata.name);
const parked = (submission: Submission): Promise<true> =>
  eventually(async () => ((await submission.getState()) === 'delayed' ? true : undefined));

/** The shared queue as its leader describes it, once something was refused. */
const toldOfRefusals = () =>
  eventually(async () => {
    const { items } = await world.home.list(CONFIG_MAPS, { namespace: 'switchyard' });
    const told = parseSharedSubmissions(items.find(({ metadata }) => metadata.name === SHARED_SUBMISSIONS)?.data);
    return told !== undefined && told.refused > 0 ? told : undefined;
  });

describe('a submission', () => {
  test('resolves with the outcome of its Job when that ends on its worker cluster', async () => {
    const submission = await users.add('sum', { manifest: manifest() });
    const result: Promise<unknown> = submission.waitUntilFinished(events);
    const name = await copyName();
    await eu.start(name);
    await eu.complete(name);
    expect(await result).toMatchObject({ namespace: NAMESPACE, name, cluster: 'eu-1', succeeded: 1, failed: 0 });
    const [job] = await jobs();
    expect(job?.metadata.annotations).toMatchObject({ 'switchyard.dev/submission': submission.id });
    expect(await eventually(async () => ((await eu.copy(name)) === undefined ? true : undefined))).toBe(true);
  });

  test('rejects with reason and message when its Job fails', async () => {
    const submission = await users.add('sum', manifest());
    const rejected = expect(submission.waitUntilFinished(events)).rejects.toThrow(/^BackoffLimitExceeded: too often .*on cluster "eu-1"/);
    const name = await copyName();
    await eu.start(name);
    await fail(name);
    await rejected;
  });

  test('rejects when its Job is deleted', async () => {
    const submission = await users.add('sum', manifest({ name: 'doomed' }));
    const rejected = expect(submission.waitUntilFinished(events)).rejects.toThrow(/^JobDeleted: .*team\/doomed/);
    await parked(submission);
    await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'doomed' }, { propagationPolicy: 'Background' });
    await rejected;
  });

  test('with a bad manifest rejects at once, naming field and remedy', async () => {
    const rejection = async (data: unknown): Promise<string> => {
      const submission = await users.add('sum', data, { attempts: 3 });
      return submission.waitUntilFinished(events).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    };
    expect(await rejection({ manifest: { ...manifest(), metadata: {} } })).toMatch(/queue-name\]: is missing; set it to/);
    expect(await rejection({ ...manifest(), spec: { template: { spec: { containers: [] } } } })).toMatch(
      /spec\.template\.spec\.containers: Required value/,
    );
    expect(await rejection(manifest({ namespace: 'nowhere' }))).toMatch(/namespaces "nowhere" not found/);
    expect(await jobs()).toEqual([]);
  });

  test('that is refused is told of to whoever runs the manager, without its manifest', async () => {
    const submission = await users.add('sum', manifest({ name: 'bad', labels: {}, annotations: { secret: 'hidden' } }));
    await expect(submission.waitUntilFinished(events)).rejects.toThrow(/^Invalid: /);
    const [refusal] = (await toldOfRefusals()).refusals;
    expect(refusal).toMatchObject({ id: submission.id, namespace: NAMESPACE, name: 'bad', reason: 'Invalid' });
    expect(refusal?.message).toMatch(/queue-name\]: is missing/);
    expect(refusal?.namespaceUid).toBe((await world.home.get(NAMESPACES, { namespace: '', name: NAMESPACE })).metadata.uid);
    expect(JSON.stringify(refusal)).not.toContain('hidden');
  });

  test('that is refused unread counts as refused, and is told of without a namespace', async () => {
    const submission = await users.add('sum', { manifest: { ...manifest(), spec: 'x'.repeat(600 * 1024) } }, { jobId: 'huge' });
    await expect(submission.waitUntilFinished(events)).rejects.toThrow(/^Invalid: .*bytes/);
    const told = await toldOfRefusals();
    expect(told).toMatchObject({
      refused: 1,
      refusals: [{ id: 'huge', reason: 'Invalid', message: expect.stringMatching(/bytes/) as string }],
    });
    expect(told.refusals[0]).not.toHaveProperty('namespace');
  });

  test('does not take over a Job of somebody else', async () => {
    await world.submit('taken');
    const submission = await users.add('sum', manifest({ name: 'taken' }));
    await expect(submission.waitUntilFinished(events)).rejects.toThrow(/metadata\.name: a Job team\/taken exists already/);
  });

  test('delivered again becomes no second Job', async () => {
    const submission = await users.add('sum', manifest({ generateName: 'etl-' }));
    await parked(submission);
    for (let delivery = 0; delivery < 3; delivery++) {
      await submission.promote();
      await world.settle(50);
      await parked(submission);
    }
    expect(await jobs()).toHaveLength(1);
  });
});

describe('while the manager is away', () => {
  test('a Job that ends and a Job that is deleted are told of by the next one', async () => {
    const submissions = await Promise.all(['ends', 'deleted'].map((name) => users.add('sum', manifest({ name }))));
    const results = submissions.map((submission) =>
      submission.waitUntilFinished(events).then(
        (value: unknown) => value,
        (error: Error) => error.message,
      ),
    );
    await Promise.all(submissions.map(parked));
    await eventually(() => eu.copy('ends'));
    await world.stop();
    await eu.start('ends');
    await eu.complete('ends');
    await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'deleted' }, { propagationPolicy: 'Background' });
    await world.start();
    expect(await results[0]).toMatchObject({ name: 'ends', succeeded: 1 });
    expect(await results[1]).toMatch(/^JobDeleted: /);
  });
});

/** Its copy fails. */
async function fail(name: string): Promise<void> {
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'BackoffLimitExceeded',
    message: 'too often',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  await eu.report(name, { active: 0, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] });
}

describe.each([
  { how: 'somebody retries it', opts: {}, options: {} },
  { how: 'BullMQ does, as its submitter wished', opts: { attempts: 2, backoff: 50 }, options: { retry: true } },
])('when its Job has failed and $how', ({ opts, options }) => {
  test('a submission runs again, as another Job', async () => {
    const submission = await users.add('sum', { manifest: manifest(), options }, { jobId: 'again', ...opts });
    const first = await copyName();
    await parked(submission);
    await eu.start(first);
    await fail(first);
    if (opts.attempts === undefined) {
      await eventually(async () => ((await submission.getState()) === 'failed' ? true : undefined));
      await submission.retry();
    }
    const second = await eventually(
      async () => (await eu.client.list(JOBS)).items.find(({ metadata }) => metadata.name !== first)?.metadata.name,
    );
    const result: Promise<unknown> = submission.waitUntilFinished(events);
    await eu.start(second);
    await eu.complete(second);
    expect(await result).toMatchObject({ name: second, succeeded: 1 });
    expect((await jobs()).map(({ metadata }) => metadata.name).toSorted()).toEqual([first, second].toSorted());
  });
});

describe('with the client', () => {
  let client: Client;
  beforeEach(() => {
    client = connect({ redis: redis.url });
  });
  afterEach(() => client.close());

  test('a submitter sees its Job go from the queue to its end', async () => {
    const key = await client.submit(manifest());
    const seen: SubmissionProgress[] = [];
    const following = (async () => {
      for await (const progress of client.progress(key)) seen.push(progress);
    })();
    const name = await copyName();
    await eu.start(name);
    await eventually(async () => (seen.some(({ phase }) => phase === 'Running') ? true : undefined));
    expect(seen.at(-1)).toEqual({ phase: 'Running', cluster: 'eu-1', active: 1, succeeded: 0, failed: 0 });
    await eu.complete(name);
    expect(await client.wait(key)).toMatchObject({ name, cluster: 'eu-1', succeeded: 1 });
    await following;
    expect((await client.logs(key)).join('\n')).toMatch(/Z Running on eu-1/);
  });

  test('a submitter cancels: its Job is deleted, and it hears that it was cancelled', async () => {
    const key = await client.submit(manifest({ name: 'unwanted' }));
    const end = expect(client.wait(key)).rejects.toMatchObject({ code: 'Cancelled' });
    await eventually(() => eu.copy('unwanted'));
    await parked((await users.getJob(key)) as Submission);
    expect(await client.cancel(key)).toMatchObject({ cancelled: true });
    await end;
    await eventually(async () => ((await jobs()).every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? true : undefined));
  });

  test('a submission that is removed from the queue takes its Job with it', async () => {
    const key = await client.submit(manifest({ name: 'removed' }));
    const submission = (await users.getJob(key)) as Submission;
    await parked(submission);
    await submission.remove();
    await eventually(async () => ((await jobs()).every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? true : undefined));
  });
});

test('a crash of Redis does not touch running Jobs, and their outcomes arrive after it', async () => {
  const submission = await users.add('sum', manifest());
  const result: Promise<unknown> = submission.waitUntilFinished(events);
  const name = await copyName();
  await parked(submission);
  await eu.start(name);
  await world.settle(1_100); // Redis writes its log to disk every second.
  await redis.crash();
  await eu.complete(name);
  await eventually(async () => ((await jobs())[0]?.status?.succeeded === 1 ? true : undefined));
  await redis.restart();
  expect(await result).toMatchObject({ name, succeeded: 1 });
});
