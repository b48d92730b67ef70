/** A Job that goes while it is being synced. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { NAMESPACES, PODS } from '../../../../shared/api/resources.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createJobReconciler } from '../../../../worker/job/controller.ts';
import { createJobMemory } from '../../../../worker/job/job-memory.ts';
import { createJobMetrics } from '../../../../worker/job/metrics.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aJob } from './situation.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await startCluster(clock, []);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'ns' } });
});
afterEach(() => cluster.plane.close());

test('leaves nothing in memory, though the sync goes on noting what it does', async () => {
  const job = aJob({ completions: 3, parallelism: 3 });
  const { uid } = job.metadata;
  const cached = new Map<string, Job>([['job', job]]);
  const memory = createJobMemory(clock, () => '1');
  const transport = cluster.plane.transport();
  const deletesTheJob: Transport = {
    ...transport,
    send: (request) => {
      // What the event of its deletion does, in the middle of the sync.
      if (request.method === 'POST' && cached.delete('job')) memory.forget(uid);
      return transport.send(request);
    },
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
  };
  const deps = {
    client: createKubeClient(deletesTheJob, { userAgent: 'test', clock }),
    jobs: { get: ({ name }: { readonly name: string }) => cached.get(name), list: () => [...cached.values()], byIndex: () => [] },
    pods: { get: () => undefined, list: () => [], byIndex: () => [] },
    queue: { addAfter: () => undefined },
    memory,
    recorder: { event: () => undefined, flush: async () => undefined },
    metrics: createJobMetrics(new Registry()),
    clock,
    log: silentLogger,
    controllerName: 'kubernetes.io/job-controller',
    batchPeriodMs: 1_000,
    orphanQueue: { add: () => undefined },
  };
  const reconcile = createJobReconciler(deps);
  // Its status cannot be written any more.
  await reconcile('ns/job').catch((error: unknown) => expect(String(error)).toContain('tracking status'));
  expect((await cluster.client.list(PODS)).items).toHaveLength(3);
  expect([memory.surveyed.has(uid), memory.written.behind(uid), memory.expectations.satisfied(uid)]).toEqual([false, [], true]);
});
