/** One reconcile of Jobs that no API server of today would keep, or that go while it lasts. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { NAMESPACES, PODS } from '../../../../shared/api/resources.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { createJobReconciler } from '../../../../worker/job/controller.ts';
import { createJobMemory, type JobMemory } from '../../../../worker/job/job-memory.ts';
import { createJobMetrics } from '../../../../worker/job/metrics.ts';
import { nextSyncDelayMs } from '../../../../worker/job/pace.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aJob, condition } from './situation.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await startCluster(clock, []);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'ns' } });
});
afterEach(() => cluster.plane.close());

type Reconciling = { readonly memory: JobMemory; reconcile(): Promise<unknown> };

/** One reconcile of one Job of the cache; `onCreate` happens before the server gets to know of a pod. */
function reconciling(
  job: Job,
  onCreate: (cached: Map<string, Job>, memory: JobMemory) => void = () => undefined,
  cachedVersion = '1',
): Reconciling {
  const cached = new Map<string, Job>([['job', job]]);
  const memory = createJobMemory(clock, () => cachedVersion);
  const transport = cluster.plane.transport();
  const watched: Transport = {
    send: (request) => {
      if (request.method === 'POST') onCreate(cached, memory);
      return transport.send(request);
    },
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
  };
  const client = createKubeClient(watched, { userAgent: 'test', clock });
  const deps = {
    clientOf: () => client,
    jobs: {
      get: ({ name }: { readonly name: string }) => cached.get(name),
      list: () => [...cached.values()],
      byIndex: () => [],
    },
    pods: { get: () => undefined, list: () => [], byIndex: () => [] },
    queue: { addAfter: () => undefined },
    orphanQueue: { add: () => undefined },
    memory,
    recorder: { event: () => undefined, flush: async () => undefined },
    metrics: createJobMetrics(new Registry()),
    fence: { stateOf: () => 'Open' as const, isUnsure: () => false, isInReach: () => true, confirmed: () => undefined },
    clock,
    random: seededRandom(1),
    log: silentLogger,
    controllerName: 'kubernetes.io/job-controller',
    batchPeriodMs: 1_000,
    deniedNamespaces: [],
    deniedJobs: { inc: () => undefined },
  };
  const reconcile = createJobReconciler(deps);
  // The server has no such Job: a status cannot be written.
  const refused = (error: unknown): void => expect(String(error)).toContain('tracking status');
  return { memory, reconcile: () => reconcile('ns/job').catch(refused) };
}

test('a Job that goes while it is synced leaves nothing in memory, though the sync goes on noting what it does', async () => {
  const job = aJob({ completions: 3, parallelism: 3 });
  const { uid } = job.metadata;
  // What the event of its deletion does, in the middle of the sync.
  const { memory, reconcile } = reconciling(job, (cached, remembered) => {
    if (cached.delete('job')) remembered.forget(uid);
  });
  await reconcile();
  expect((await cluster.client.list(PODS)).items).toHaveLength(3);
  expect([memory.surveyed.has(uid), memory.written.behind(job.metadata), memory.expectations.satisfied(uid)]).toEqual([false, [], true]);
});

test.each([undefined, null])('a Job stored before there were completion modes (%s) is run as one without indexes', async (mode) => {
  const job = aJob({ completions: 2, parallelism: 2 });
  job.spec.completionMode = mode as never;
  await reconciling(job).reconcile();
  expect((await cluster.client.list(PODS)).items).toHaveLength(2);
});

test('a Job of a completion mode that we do not know is left alone', async () => {
  await reconciling(aJob({ completionMode: 'Spread' as never })).reconcile();
  expect((await cluster.client.list(PODS)).items).toEqual([]);
});

test('a Job whose end has reached the cache needs no remembering', async () => {
  const job = aJob({}, { succeeded: 1, conditions: [condition('Complete', 'CompletionsReached', 'done')] });
  const { memory, reconcile } = reconciling(job);
  memory.finished.add(job.metadata.uid);
  await reconcile();
  expect(memory.finished.has(job.metadata.uid)).toBe(false);
  expect((await cluster.client.list(PODS)).items).toEqual([]);
});

test('a sync that fails after one that was capped is followed in its own time: events do not have the rest done at once', async () => {
  const job = aJob({ completions: 1 });
  const { uid } = job.metadata;
  // The cache has seen all that was written.
  const { memory, reconcile } = reconciling(job, undefined, '9999999');
  memory.capped.add(uid);
  await reconcile();
  memory.expectations.creationObserved(uid);
  expect([memory.expectations.satisfied(uid), memory.written.behind(job.metadata)]).toEqual([true, []]);
  expect(nextSyncDelayMs(memory, job.metadata, 1_000)).toBe(1_000);
});
