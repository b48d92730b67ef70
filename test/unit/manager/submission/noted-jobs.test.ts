/** Goal: the Job of a submission goes only once it is noted that it was made, and then at once. */
import { Registry } from 'prom-client';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNotedJobs, type NotedJobs } from '../../../../manager/submission/noted-jobs.ts';
import { ended, intendedEntry } from '../../../../manager/submission/ledger.ts';
import type { SubmissionLedger } from '../../../../manager/submission/ledger-store.ts';
import { outcomeOf } from '../../../../manager/submission/outcome.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, SUBMISSION_FINALIZER } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { createInformer, type Informer } from '../../../../shared/kube/informer.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { memoryLedger } from '../../../support/ledger.ts';
import { sealedAnnotations, submissionAnnotations } from '../../../support/submissions.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const KEY = { namespace: 'team', name: 'nightly' };
const INTENT = intendedEntry({ payload: 'p', submittedAt: 1_000, attemptsMade: 0 }, 1, KEY, 0);

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let jobs: Informer<Job>;
let entries: ReturnType<typeof memoryLedger>;
let isWritten: boolean;
let over: AbortController;
beforeEach(async () => {
  [entries, isWritten, over] = [memoryLedger(), true, new AbortController()];
  cluster = await startCluster(clock);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
  jobs = createInformer({ client: cluster.client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
});
afterEach(async () => {
  over.abort(new Error('the test is over'));
  await clock.settle();
  await cluster.plane.close();
});

const { submission: metrics } = createManagerMetrics(new Registry());

/** As a leader with this ledger. */
async function lead(ledger: SubmissionLedger | undefined = slow()): Promise<NotedJobs> {
  const noted = createNotedJobs({
    kind: JOB_KIND,
    jobs,
    client: cluster.client,
    ledger,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  });
  void jobs.run(over.signal);
  void noted.run(over.signal);
  await clock.advance(1_000);
  return noted;
}
/** A ledger that says of itself whether it has written. */
const slow = (): SubmissionLedger => ({ ...entries, of: (tenant) => ({ ...entries.of(tenant), isWritten: () => isWritten }) });

async function create(
  finalizers: readonly string[] = [SUBMISSION_FINALIZER],
  {
    annotations = MADE,
    ttlSecondsAfterFinished,
  }: { annotations?: Readonly<Record<string, string>>; ttlSecondsAfterFinished?: number } = {},
): Promise<void> {
  await cluster.client.create(JOBS, {
    metadata: { ...KEY, finalizers: [...finalizers], annotations: { ...annotations } },
    spec: {
      suspend: true,
      ...omitUndefined({ ttlSecondsAfterFinished }),
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });
}
const FORGED = submissionAnnotations({ id: 'nightly' });
const MADE = sealedAnnotations(KEY, { id: 'nightly' });
const remove = (): Promise<void> => cluster.client.delete(JOBS, KEY, { propagationPolicy: 'Background' });
const finalizers = async (): Promise<readonly string[] | undefined> =>
  (await cluster.client.list(JOBS)).items.map(({ metadata }) => metadata.finalizers ?? [])[0];

test('a Job that is deleted goes once its entry is written', async () => {
  await entries.of('shared').put('nightly', INTENT);
  isWritten = false;
  await create();
  await lead();
  await remove();
  await clock.advance(10_000);
  expect(await finalizers()).toEqual([SUBMISSION_FINALIZER]);
  expect(entries.of('shared').get('nightly')).toMatchObject({ state: 'Created', job: KEY });
  isWritten = true;
  await clock.advance(1_000);
  expect(await finalizers()).toBeUndefined();
});

test('one that was deleted while nobody led goes likewise', async () => {
  await entries.of('shared').put('nightly', INTENT);
  await create();
  await remove();
  await lead();
  expect(await finalizers()).toBeUndefined();
  expect(entries.of('shared').get('nightly')).toMatchObject({ state: 'Created' });
});

test('one of which nothing is remembered goes', async () => {
  await create();
  await lead();
  await remove();
  await clock.advance(1_000);
  expect(await finalizers()).toBeUndefined();
});

test('where no submissions are taken any more it goes, too', async () => {
  await create();
  await remove();
  const noted = createNotedJobs({
    kind: JOB_KIND,
    jobs,
    client: cluster.client,
    ledger: undefined,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  });
  void jobs.run(over.signal);
  void noted.run(over.signal);
  await clock.advance(1_000);
  expect(await finalizers()).toBeUndefined();
});

test('one that waits keeps it, and one whose copies are still there is left to dispatch, with the finalizers of others', async () => {
  await create(['example.com/own', COPIES_FINALIZER, SUBMISSION_FINALIZER]);
  await lead();
  await clock.advance(1_000);
  await remove();
  await clock.advance(1_000);
  expect(await finalizers()).toHaveLength(3);
  await cluster.client.patch(JOBS, KEY, { type: 'merge', body: { metadata: { finalizers: ['example.com/own', SUBMISSION_FINALIZER] } } });
  await clock.advance(1_000);
  expect(await finalizers()).toEqual(['example.com/own']);
});

test('nothing is noted before the ledger is read', async () => {
  const noted = createNotedJobs({
    kind: JOB_KIND,
    jobs,
    client: cluster.client,
    ledger: slow(),
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  });
  await create();
  const job = await cluster.client.get(JOBS, KEY);
  expect(noted.isNoted(job)).toBe(false);
  void jobs.run(over.signal);
  void noted.run(over.signal);
  await clock.settle();
  expect(noted.isNoted(job)).toBe(true);
  expect(noted.isNoted({ ...job, metadata: { ...job.metadata, annotations: {} } })).toBe(true);
});

test('one that was not made of the submission that it names goes, and is not taken for its Job', async () => {
  await entries.of('shared').put('nightly', INTENT);
  await create([SUBMISSION_FINALIZER], { annotations: FORGED });
  await lead();
  await remove();
  await clock.advance(1_000);
  expect(await finalizers()).toBeUndefined();
  expect(entries.of('shared').get('nightly')).toMatchObject({ state: 'Intended' });
});

describe('one that its TTL takes at once', () => {
  const finish = async (): Promise<Job> => {
    const condition = (type: string) => ({ type, status: 'True' as const, reason: 'BackoffLimitExceeded', message: '' });
    const status = { startTime: '2026-01-01T00:00:00Z', failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] };
    return cluster.client.patchStatus(JOBS, KEY, { type: 'merge', body: { status } });
  };
  beforeEach(async () => {
    await entries.of('shared').put('nightly', INTENT);
    await create([SUBMISSION_FINALIZER], { ttlSecondsAfterFinished: 0 });
  });

  test('stays until it is noted how it ended', async () => {
    const noted = await lead();
    const running = await cluster.client.get(JOBS, KEY);
    expect([noted.isNoted(running), noted.isNoted(running)]).toEqual([false, false]);
    const job = await finish();
    await remove();
    await clock.advance(10_000);
    expect(await finalizers()).toEqual([SUBMISSION_FINALIZER]);
    const outcome = outcomeOf(JOB_KIND, job);
    expect(outcome).toMatchObject({ kind: 'Failed', failure: { reason: 'BackoffLimitExceeded' } });
    if (outcome !== undefined) entries.of('shared').mark('nightly', ended({ uid: job.metadata.uid }, outcome, 0));
    await clock.advance(1_000);
    expect(await finalizers()).toBeUndefined();
  });

  test('goes at once when somebody deletes it before its end', async () => {
    await lead();
    await remove();
    await clock.advance(1_000);
    expect(await finalizers()).toBeUndefined();
  });

  test('waits for nothing where its key is of another Job by now', async () => {
    entries.of('shared').mark('nightly', (entry) => ({ ...entry, state: 'Created', uid: 'another' }));
    await lead();
    await finish();
    await clock.advance(1_000);
    expect(await finalizers()).toEqual([]);
  });
});
