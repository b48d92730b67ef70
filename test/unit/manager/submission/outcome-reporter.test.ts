import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics.ts';
import { createOutcomeReporter, type OutcomeReporter } from '../../../../manager/submission/outcome-reporter.ts';
import type { Outcome, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { MANAGER_CONTROLLER_NAME, SUBMISSION_ANNOTATION, SUBMITTED_AT_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { createInformer } from '../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let told: Map<string, Outcome>;
let reporter: OutcomeReporter;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startCluster(clock);
  const { client } = cluster;
  await client.create(NAMESPACES, { metadata: { name: 'team' } });
  told = new Map();
  stop = new AbortController();
  const queue: SubmissionQueue = {
    consume: async () => undefined,
    finish: async ({ id }, outcome) => void told.set(id, outcome),
    parked: async function* () {},
    close: async () => undefined,
  };
  const jobs = createInformer({ client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
  const metrics = createManagerMetrics(new Registry()).submission;
  reporter = createOutcomeReporter({ queue, jobs, client, clock, log: silentLogger, metrics });
  void jobs.run(stop.signal);
  await clock.advance(100);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await cluster.plane.close();
});

async function createAndDelete(name: string): Promise<void> {
  const annotations = { [SUBMISSION_ANNOTATION]: name, [SUBMITTED_AT_ANNOTATION]: '1000' };
  await cluster.client.create(JOBS, {
    metadata: { name, namespace: 'team', annotations },
    spec: {
      managedBy: MANAGER_CONTROLLER_NAME,
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
  await clock.advance(100);
  await cluster.client.delete(JOBS, { namespace: 'team', name }, { propagationPolicy: 'Background' });
  await clock.advance(100);
}

test('what happened while another replica led is told by the one that takes over, except what is so old that it has been told', async () => {
  await createAndDelete('old');
  await clock.advance(700_000);
  await createAndDelete('new');
  expect([...told.keys()]).toEqual([]);
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect([...told.keys()]).toEqual(['new']);
});

test('the leader tells at once', async () => {
  void reporter.run(stop.signal);
  await createAndDelete('sum');
  expect(told.get('sum')).toMatchObject({ kind: 'Failed', failure: { reason: 'JobDeleted' } });
});
