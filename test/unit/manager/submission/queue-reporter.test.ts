import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { createQueueReporter, type QueueReporter } from '../../../../manager/submission/queue-reporter.ts';
import { createSharedQueueRecord, sharedQueueReader } from '../../../../manager/submission/shared-queue-record.ts';
import type { Backlog, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import type { RedisTrouble } from '../../../../manager/submission/redis-health.ts';
import { sharedTenant, tenantOf, type TenantProblem } from '../../../../manager/submission/tenant.ts';
import { SHARED_TENANT } from '../../../../shared/api/names.ts';
import { createInformer } from '../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createCrds } from '../../../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KEY = { namespace: 'default', name: 'batch' };
const SHARED = sharedTenant({ prefix: 'bull', queue: 'jobs' }, { namespaces: ['default'], bytesMax: 1_000 });
let clock: FakeClock;
let cluster: EmbeddedCluster;
let object: SubmissionQueueObject;
let reporter: QueueReporter;
let registry: Registry;
let backlog: () => Promise<Backlog>;
let problems: Map<string, TenantProblem>;
/** What the API server says of the impersonation of a ServiceAccount, by its name. */
let refusals: Map<string, string>;
let asked: string[];
let withdrawalProblem: string | undefined;
let troubles: readonly RedisTrouble[] | undefined;
let stop: AbortController;

beforeEach(async () => {
  clock = new FakeClock();
  cluster = await startCluster(clock);
  const { client } = cluster;
  await createCrds(client);
  await clock.advance(100);
  object = await client.create(SUBMISSION_QUEUES, { metadata: KEY, spec: { serviceAccountName: 'a' } } as never);
  const objects = createInformer({ client, resource: SUBMISSION_QUEUES, clock, random: () => 0.5, log: silentLogger });
  registry = new Registry();
  backlog = async () => ({ waiting: 7, oldestMs: clock.now() - 90_000, failed: 3 });
  problems = new Map();
  refusals = new Map();
  asked = [];
  troubles = undefined;
  withdrawalProblem = undefined;
  stop = new AbortController();
  reporter = createQueueReporter({
    objects,
    client,
    queues: () => new Map([object.metadata.uid, SHARED_TENANT].map((id) => [id, { backlog: () => backlog() } as SubmissionQueue])),
    problems: () => problems,
    tenants: () =>
      new Map([
        [object.metadata.uid, tenantOf(object, { bytesMax: 1_000 })],
        [SHARED_TENANT, SHARED],
      ]),
    askImpersonation: async ({ as }) => {
      asked.push(as?.name ?? '');
      return refusals.get(as?.name ?? '');
    },
    withdrawalProblem: () => withdrawalProblem,
    redisTroubles: () => troubles,
    sharedQueue: createSharedQueueRecord({ client, namespace: KEY.namespace, clock }),
    unended: () => 2,
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(registry).submission,
  });
  void objects.run(stop.signal);
  await clock.advance(100);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await clock.advance(20_000);
  await cluster.plane.close();
});
const status = async () => (await cluster.client.get(SUBMISSION_QUEUES, KEY)).status;

test('a Job that cannot be deleted is told in the status', async () => {
  withdrawalProblem = 'it may not';
  void reporter.run(stop.signal);
  await clock.advance(100);
  expect((await status())?.conditions).toContainEqual(
    expect.objectContaining({ type: 'JobsWithdrawn', reason: 'DeleteForbidden', message: 'it may not' }),
  );
});

test('status and metrics say what is in the queue, what became of it, and what is wrong, and no more than once in ten seconds', async () => {
  const tenant = tenantOf(object, { bytesMax: 1_000 });
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect(await status()).toMatchObject({ backlog: 7, parked: 2, accepted: 0, conditions: [{ status: 'True', reason: 'Serving' }] });
  for (let n = 0; n < 100; n++) reporter.counted(tenant, 'accepted');
  reporter.counted(tenant, 'refused');
  reporter.counted(tenant, 'failed');
  reporter.impersonation(tenant, 'the manager may not');
  refusals.set('a', 'the manager may not');
  await clock.advance(5_000);
  expect(await status()).toMatchObject({ accepted: 0 });
  await clock.advance(10_000);
  expect(await status()).toMatchObject({
    accepted: 100,
    refused: 1,
    conditions: [{ status: 'False', reason: 'ImpersonationForbidden', message: 'the manager may not' }],
  });
  const told = await registry.metrics();
  expect(told).toContain('switchyard_submission_queue_backlog{queue="default/batch"} 7');
  expect(told).toMatch(/switchyard_submission_queue_oldest_seconds\{namespace="default",submission_queue="batch"\} (9\d|1\d\d)/);
  expect(told).toContain('switchyard_submission_queue_failed{namespace="default",submission_queue="batch"} 3');
  expect(await registry.metrics()).toContain('switchyard_submission_queue_submissions_total{queue="default/batch",result="failed"} 1');
  reporter.impersonation(tenant, undefined);
  backlog = () => new Promise(() => undefined);
  await clock.advance(20_000);
  expect(await status()).toMatchObject({ backlog: 7, conditions: [{ status: 'Unknown', reason: 'Unreachable' }] });
});

test('that the manager may not act as the ServiceAccount is said before anything is submitted, and taken back when it may', async () => {
  refusals.set('a', 'the manager may not');
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  const refused = { status: 'False', reason: 'ImpersonationForbidden', message: 'the manager may not' };
  expect(await status()).toMatchObject({ accepted: 0, conditions: [refused] });
  refusals.clear();
  await clock.advance(10_000);
  expect(await status()).toMatchObject({ conditions: [{ status: 'True', reason: 'Serving' }] });
  await clock.advance(60_000);
  expect(asked).toEqual(['a', 'a']);
});

test('a queue that is not served says why, and Redis is not asked', async () => {
  problems.set(object.metadata.uid, { reason: 'PrefixTaken', message: 'somebody else has it' });
  backlog = () => Promise.reject(new Error('asked'));
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect(await status()).toMatchObject({ conditions: [{ status: 'False', reason: 'PrefixTaken', message: 'somebody else has it' }] });
});

test('nothing is written while nothing changes', async () => {
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  const { metadata } = await cluster.client.get(SUBMISSION_QUEUES, KEY);
  await clock.advance(60_000);
  expect((await cluster.client.get(SUBMISSION_QUEUES, KEY)).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

test('a Redis in trouble is told on every queue, and one that flaps does not have the status written for it each time', async () => {
  const redisHealthy = async () => (await status())?.conditions?.find(({ type }) => type === 'RedisHealthy');
  const versionOf = async (): Promise<string> => (await cluster.client.get(SUBMISSION_QUEUES, KEY)).metadata.resourceVersion;
  const full: RedisTrouble = { reason: 'Full', message: 'the memory of Redis is full', works: false };
  const evicting: RedisTrouble = { reason: 'Evicting', message: 'it would forget', works: true };
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect(await redisHealthy()).toBeUndefined();
  expect((await status())?.prefix).toBe('switchyard:tenant:default');
  troubles = [];
  await clock.advance(10_000);
  expect(await redisHealthy()).toMatchObject({ status: 'True', reason: 'Healthy' });
  troubles = [evicting, full];
  await clock.advance(10_000);
  expect(await redisHealthy()).toMatchObject({ status: 'False', reason: 'Full', message: 'the memory of Redis is full; it would forget' });
  const told = await versionOf();
  for (let round = 0; round < 30; round++) {
    troubles = round % 2 === 0 ? [evicting] : [{ ...full, message: `full at ${round}` }, evicting];
    await clock.advance(10_000);
  }
  expect(await versionOf()).toBe(told);
  troubles = [];
  await clock.advance(50_000);
  expect(await redisHealthy()).toMatchObject({ status: 'False', reason: 'Full' });
  await clock.advance(20_000);
  expect(await redisHealthy()).toMatchObject({ status: 'True', reason: 'Healthy' });
});

test('the shared queue is described as well, counted since the manager leads, while Redis answers and while it does not', async () => {
  const told = () => sharedQueueReader(cluster.client, KEY.namespace, clock)();
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  for (const result of ['accepted', 'accepted', 'refused', 'failed'] as const) reporter.counted(SHARED, result);
  await clock.advance(20_000);
  expect(await told()).toMatchObject({ prefix: 'bull', queue: 'jobs', backlog: 7, parked: 2, accepted: 2, refused: 1 });
  backlog = () => Promise.reject(new Error('nobody answers'));
  troubles = [{ reason: 'Unreachable', message: 'Redis does not answer', works: false }];
  await clock.advance(20_000);
  expect(await told()).toMatchObject({ accepted: 2, redis: { reason: 'Unreachable' } });
  expect(await told()).not.toHaveProperty('backlog');
});
