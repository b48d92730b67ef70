import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { createOutcomeReporter, type OutcomeReporter } from '../../../../manager/submission/outcome-reporter.ts';
import type { Outcome, ParkedSubmission, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { MANAGER_CONTROLLER_NAME, SHARED_TENANT } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { createInformer } from '../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { sealedAnnotations } from '../../../support/submissions.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let told: Map<string, Outcome>;
let parked: ParkedSubmission[];
let sweeps: number;
let tellings: number;
/** What happens while an outcome is on its way. */
let meanwhile: (() => Promise<void>) | undefined;
let reporter: OutcomeReporter;
let stop: AbortController;

beforeEach(async () => {
  cluster = await startCluster(clock);
  const { client } = cluster;
  await client.create(NAMESPACES, { metadata: { name: 'team' } });
  told = new Map();
  parked = [];
  sweeps = 0;
  tellings = 0;
  meanwhile = undefined;
  stop = new AbortController();
  const queue: SubmissionQueue = {
    consume: async () => undefined,
    finish: async ({ id }, outcome) => {
      const happens = meanwhile;
      meanwhile = undefined;
      await happens?.();
      told.set(id, outcome);
      tellings++;
    },
    parked: async function* () {
      sweeps++;
      yield parked;
    },
    report: async () => undefined,
    close: async () => undefined,
  };
  const jobs = createInformer({ client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
  const metrics = createManagerMetrics(new Registry()).submission;
  reporter = createOutcomeReporter({
    kind: JOB_KIND,
    queues: () => new Map([[SHARED_TENANT, queue]]),
    jobs,
    client,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  });
  void jobs.run(stop.signal);
  await clock.advance(100);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await cluster.plane.close();
});

async function create(name: string, tenant = SHARED_TENANT): Promise<void> {
  const annotations = sealedAnnotations({ namespace: 'team', name }, { id: name, tenant });
  await cluster.client.create(JOBS, {
    metadata: { name, namespace: 'team', annotations },
    spec: {
      managedBy: MANAGER_CONTROLLER_NAME,
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
}

async function createAndDelete(name: string): Promise<void> {
  await create(name);
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

test('what happens to a Job while its outcome is on its way is told after that', async () => {
  void reporter.run(stop.signal);
  await create('sum');
  const key = { namespace: 'team', name: 'sum' };
  const gate = Promise.withResolvers<void>();
  meanwhile = () => gate.promise;
  const time = '2026-01-01T00:00:05Z';
  const failed = ['FailureTarget', 'Failed'].map((type) => ({
    type,
    status: 'True',
    reason: 'DeadlineExceeded',
    lastTransitionTime: time,
  }));
  await cluster.client.patch(JOBS, key, { type: 'merge', body: { spec: { suspend: false } } });
  const status = { startTime: time, failed: 1, conditions: failed };
  await cluster.client.patchStatus(JOBS, key, { type: 'merge', body: { status } });
  await clock.advance(100);
  await cluster.client.delete(JOBS, key, { propagationPolicy: 'Background' });
  await clock.advance(100);
  expect(tellings).toBe(0);
  gate.resolve();
  await clock.advance(1_000);
  expect(tellings).toBe(2);
});

test('a parked submission whose Job went while nobody watched is told so, and one whose Job is there is not', async () => {
  await create('there');
  await clock.advance(100);
  const { uid } = (await cluster.client.get(JOBS, { namespace: 'team', name: 'there' })).metadata;
  const parkedAs = (id: string, jobUid: string): ParkedSubmission => ({
    ref: { key: id, id, submittedAt: 1_000 },
    job: { namespace: 'team', name: id },
    uid: jobUid,
    attempt: 1,
  });
  parked = [parkedAs('gone', 'uid-of-old'), parkedAs('there', uid)];
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect([...told].map(([id, outcome]) => [id, outcome.kind === 'Failed' ? outcome.failure.reason : outcome.kind])).toEqual([
    ['gone', 'JobDeleted'],
  ]);
});

test('parked submissions are held against the Jobs at the start and every five minutes, not more often', async () => {
  void reporter.run(stop.signal);
  await clock.advance(299_000);
  expect(sweeps).toBe(1);
  await clock.advance(2_000);
  expect(sweeps).toBe(2);
});

test('an outcome of a queue that is not served is nobody else’s', async () => {
  void reporter.run(stop.signal);
  await create('theirs', 'uid-of-their-queue');
  await create('ours');
  await clock.advance(100);
  for (const name of ['theirs', 'ours'])
    await cluster.client.delete(JOBS, { namespace: 'team', name }, { propagationPolicy: 'Background' });
  await clock.advance(1_000);
  expect([...told.keys()]).toEqual(['ours']);
});

test('a submission that is parked, as Redis has it, for the Job of another hears nothing of how that ended', async () => {
  await create('theirs');
  const { metadata } = await cluster.client.get(JOBS, { namespace: 'team', name: 'theirs' });
  const ref = { key: 'mine', id: 'mine', submittedAt: 1_000 };
  parked = [{ ref, job: { namespace: 'team', name: 'theirs' }, uid: metadata.uid, attempt: 1 }];
  await clock.advance(100);
  void reporter.run(stop.signal);
  await clock.advance(1_000);
  expect(told.get('mine')).toMatchObject({ kind: 'Failed', failure: { reason: 'JobDeleted' } });
});
