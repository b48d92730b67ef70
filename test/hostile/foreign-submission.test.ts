/**
 * The adversary has edit rights in one namespace, and there is no webhook in their way. They know, or guess, the ids of other people's
 * submissions, and want to decide how these end: by Jobs of their own that say they are of those submissions.
 */
import { Queue, QueueEvents, type Job as Submission } from 'bullmq';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import {
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
} from '../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { sourceOf } from '../support/submission-source.ts';
import { submissionAnnotations } from '../support/submissions.ts';

const LIMIT_MS = 60_000;
const NAME = 'switchyard-submissions';
const THEIRS = 'theirs';
const TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
const manifest = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: NAMESPACE, name: 'sum', labels: { [QUEUE_NAME_LABEL]: 'main' } },
  spec: { template: TEMPLATE },
};

let redis: TestRedis;
let queue: SubmissionQueue;
let users: Queue;
let events: QueueEvents;
let world: DispatchWorld;
let registry: Registry;

beforeAll(async () => {
  redis = await startRedis();
}, LIMIT_MS);
afterAll(() => redis.stop());
beforeEach(async () => {
  const connection = { url: redis.url, maxRetriesPerRequest: null };
  users = new Queue(NAME, { connection });
  events = new QueueEvents(NAME, { connection });
  await events.waitUntilReady();
  queue = connectBullmqQueue({
    redis: singleRedis(redis.url),
    name: NAME,
    prefix: 'bull',
    concurrency: 10,
    clock: systemClock,
    log: silentLogger,
  });
  registry = new Registry();
  world = await createDispatchWorld({ workers: ['eu-1'], realTime: true, registry, submissions: sourceOf(queue) });
  await world.home.create(NAMESPACES, { metadata: { name: THEIRS } });
}, LIMIT_MS);
afterEach(async () => {
  await world.close();
  await redis.wipe();
  await Promise.all([queue.close(), users.close(), events.close()]);
});

const untrusted = async (): Promise<number> =>
  (await registry.getSingleMetric('switchyard_untrusted_submissions_total')?.get())?.values[0]?.value ?? 0;
const annotationsOf = async (): Promise<Record<string, string>> => (await world.job('sum')).metadata.annotations ?? {};

/** A Job of the adversary that says what it likes, and has failed. */
async function aFailedJob(name: string, annotations: Record<string, string>): Promise<void> {
  const key = { namespace: THEIRS, name };
  const spec = { managedBy: 'switchyard.dev/manager', template: TEMPLATE };
  await world.home.create(JOBS, { metadata: { ...key, annotations }, spec });
  const time = new Date(Date.now()).toISOString();
  const condition = (type: string) => ({ type, status: 'True', reason: 'Forged', message: 'forged', lastTransitionTime: time });
  const status = { startTime: time, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] };
  await world.home.patchStatus(JOBS, key, { type: 'merge', body: { status } });
}

async function submit(): Promise<{ readonly submission: Submission; readonly outcome: Promise<unknown> }> {
  const submission = await users.add('sum', { manifest });
  await expect.poll(() => submission.getState(), { timeout: LIMIT_MS }).toBe('delayed');
  return { submission, outcome: submission.waitUntilFinished(events) };
}

test('a Job of somebody else that says it is of a submission ends it neither by failing nor by being deleted, and is counted', {
  timeout: 3 * LIMIT_MS,
}, async () => {
  const { submission, outcome } = await submit();
  const annotations = await annotationsOf();
  const [id, seal = ''] = [annotations[SUBMISSION_ANNOTATION], annotations[SUBMISSION_SEAL_ANNOTATION]];
  expect([seal.length, id]).toEqual([43, submission.id]);
  const names = [SUBMISSION_ANNOTATION, SUBMITTED_AT_ANNOTATION, SUBMISSION_PAYLOAD_ANNOTATION, SUBMISSION_ATTEMPT_ANNOTATION];
  const said = Object.fromEntries(names.map((name) => [name, annotations[name] ?? '']));
  await aFailedJob('unsealed', said);
  await aFailedJob('copied', { ...said, [SUBMISSION_SEAL_ANNOTATION]: seal });
  await aFailedJob('garbled', { ...said, [SUBMISSION_SEAL_ANNOTATION]: 'x'.repeat(43) });
  await expect.poll(untrusted, { timeout: LIMIT_MS }).toBe(3);
  await world.home.delete(JOBS, { namespace: THEIRS, name: 'unsealed' }, { propagationPolicy: 'Background' });
  await expect.poll(untrusted, { timeout: LIMIT_MS }).toBe(4);
  expect(await submission.getState()).toBe('delayed');

  const eu = world.worker('eu-1');
  await expect.poll(async () => (await eu.copy('sum')) !== undefined, { timeout: LIMIT_MS }).toBe(true);
  expect((await eu.copy('sum'))?.metadata.annotations).not.toHaveProperty(SUBMISSION_SEAL_ANNOTATION);
  await eu.start('sum');
  await eu.complete('sum');
  expect(await outcome).toMatchObject({ namespace: NAMESPACE, name: 'sum', succeeded: 1 });
});

test('a Job that was there first, under the name that a submission will have and with its id, is not taken for its Job', {
  timeout: 3 * LIMIT_MS,
}, async () => {
  const at = Date.now();
  const annotations = submissionAnnotations({ id: 'nightly', submittedAt: at });
  const spec = { managedBy: 'switchyard.dev/manager', suspend: true, template: TEMPLATE };
  await world.home.create(JOBS, { metadata: { namespace: NAMESPACE, name: 'sum', annotations }, spec });
  const submission = await users.add('sum', { manifest }, { jobId: 'nightly', timestamp: at });
  await expect(submission.waitUntilFinished(events)).rejects.toThrow(/a Job team\/sum exists already and is not of this submission/);
});
