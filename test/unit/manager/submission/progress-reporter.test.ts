import { Registry } from 'prom-client';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProgressReporter, type ProgressReporter } from '../../../../manager/submission/progress-reporter.ts';
import type { SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { MANAGER_CONTROLLER_NAME, SHARED_TENANT, SUBMISSION_SEAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import type { SubmissionProgress } from '../../../../shared/api/submission-progress.ts';
import { createInformer } from '../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { submissionAnnotations, testSeal } from '../../../support/submissions.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let told: { readonly id: string; readonly progress: SubmissionProgress; readonly atMs: number }[];
let reporter: ProgressReporter;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startCluster(clock);
  const { client } = cluster;
  await client.create(NAMESPACES, { metadata: { name: 'team' } });
  told = [];
  stop = new AbortController();
  const queue: SubmissionQueue = {
    consume: async () => undefined,
    finish: async () => undefined,
    report: async ({ id }, progress) => void told.push({ id, progress, atMs: clock.now() }),
    parked: async function* () {},
    close: async () => undefined,
  };
  const jobs = createInformer({ client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
  reporter = createProgressReporter({
    kind: JOB_KIND,
    queues: () => new Map([[SHARED_TENANT, queue]]),
    jobs,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(new Registry()).submission,
  });
  void jobs.run(stop.signal);
  await clock.advance(100);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await cluster.plane.close();
});

async function create(name: string, seal = testSeal({ namespace: 'team', name }, { id: name })): Promise<void> {
  const annotations = { ...submissionAnnotations({ id: name }), [SUBMISSION_SEAL_ANNOTATION]: seal };
  await cluster.client.create(JOBS, {
    metadata: { name, namespace: 'team', annotations },
    spec: {
      managedBy: MANAGER_CONTROLLER_NAME,
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
}
const waitsFor = async (name: string, reason: string): Promise<void> => {
  const time = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'QuotaReserved', status: 'False', reason, lastTransitionTime: time }];
  await cluster.client.patchStatus(JOBS, { namespace: 'team', name }, { type: 'merge', body: { status: { conditions } } });
};

test('progress of a Job is told at once, then at most once a second and only the latest', async () => {
  void reporter.run(stop.signal);
  await create('sum');
  await clock.advance(100);
  for (const reason of ['One', 'Two', 'Three', 'Four', 'Five']) {
    await waitsFor('sum', reason);
    await clock.advance(100);
  }
  await clock.advance(2_000);
  expect(told.map(({ progress }) => progress.reason)).toEqual([undefined, 'Five']);
  const [first, second] = told;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test('whoever comes to lead tells what there is, and a standby tells nothing', async () => {
  await create('sum');
  await waitsFor('sum', 'InsufficientQuota');
  await clock.advance(5_000);
  expect(told).toEqual([]);
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect(told).toMatchObject([{ id: 'sum', progress: { phase: 'Queued', reason: 'InsufficientQuota' } }]);
});

test('a Job that only says that it is of a submission tells nothing', async () => {
  void reporter.run(stop.signal);
  await create('forged', 'c2VhbA');
  await clock.advance(5_000);
  expect(told).toEqual([]);
});
