/**
 * Somebody fills the queue of one tenant. How long others wait is counted in turns, of which the manager gives 300 a second by default:
 * nobody's machine is measured. Here it gives 100, so that what Redis takes to wake a worker is less of a turn. With SWITCHYARD_SLOW=1 the
 * backlog is one of 100,000.
 */
import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { connectBullmqQueue } from '../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../manager/submission/redis-settings.ts';
import { NAMESPACES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createDispatchWorld, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { isSlow } from '../support/slow.ts';

const BACKLOG = isSlow ? 100_000 : 3_000;
const BULK = 1_000;
const SECOND_OF_TURNS = 300;
const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {},
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};

let redis: TestRedis;
let world: DispatchWorld;
const producers: Queue[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
afterEach(async () => {
  await Promise.all(producers.map((each) => each.close()));
  await world.close();
});

/** Puts so many submissions on the queue of a tenant. */
async function submit(namespace: string, count: number): Promise<void> {
  const queue = new Queue('batch', {
    connection: { url: redis.url, maxRetriesPerRequest: null },
    prefix: `switchyard:tenant:${namespace}`,
  });
  producers.push(queue);
  for (let left = count; left > 0; left -= BULK)
    await queue.addBulk(Array.from({ length: Math.min(BULK, left) }, () => ({ name: 'sum', data: { manifest: MANIFEST } })));
}

test(`a backlog of ${BACKLOG} of one tenant delays the first submission of another by less than a second of turns`, {
  timeout: 300_000,
}, async () => {
  /** Whose Jobs were created, in order. */
  const turns: string[] = [];
  const waiting = new Map<string, () => void>();
  const reaches = (namespace: string): Promise<void> => new Promise((resolve) => waiting.set(namespace, resolve));
  const noting = (client: KubeClient): KubeClient => ({
    ...client,
    create: (resource, object, options) => {
      const { namespace = '' } = object.metadata;
      turns.push(namespace);
      waiting.get(namespace)?.();
      return client.create(resource, object, options);
    },
  });
  world = await createDispatchWorld({
    workers: ['eu-1'],
    realTime: true,
    submissions: {
      shared: undefined,
      client: (actAs) => noting(world.homeAs({ name: 'kubernetes-admin', groups: ['system:masters'] }, actAs)),
      rate: { qps: 100, burst: 1 },
      turnsMax: 50,
      managerIdentity: true,
      connect: (tenant) =>
        connectBullmqQueue({
          redis: singleRedis(redis.url),
          tenant: tenant.id,
          name: tenant.redis.queue,
          prefix: tenant.redis.prefix,
          concurrency: 20,
          clock: systemClock,
          log: silentLogger,
        }),
    },
  });
  for (const namespace of ['noisy', 'quiet']) {
    await world.home.create(NAMESPACES, { metadata: { name: namespace } });
    await world.home.create(LOCAL_QUEUES, { metadata: { namespace, name: 'main' }, spec: { clusterQueue: 'main' } });
  }
  // Both queues are served before anything is measured.
  const quietIsServed = reaches('quiet');
  await submit('quiet', 1);
  for (const namespace of ['noisy', 'quiet']) {
    await world.home.create(SUBMISSION_QUEUES, {
      metadata: { namespace, name: 'batch' },
      spec: { identity: 'Manager', localQueues: ['main'] },
    });
  }
  await quietIsServed;
  const noisyIsServed = reaches('noisy');
  await submit('noisy', BACKLOG);
  await noisyIsServed;
  const before = turns.length;
  const served = reaches('quiet');
  await submit('quiet', 1);
  await served;
  const delay = turns.lastIndexOf('quiet') - before;
  expect(turns.filter((namespace) => namespace === 'noisy').length).toBeLessThan(BACKLOG);
  expect(delay).toBeLessThan(SECOND_OF_TURNS);
  if (BACKLOG > 3_000) console.log(`a backlog of ${BACKLOG} delayed another tenant by ${delay} turns`);
});
