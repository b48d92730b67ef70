/** Submissions that are handed out more than once, and ids that start over, on an embedded control plane. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { actsOn } from '../../../../manager/api/job-acts.ts';
import { signCanceller } from '../../../../manager/submission/caller-signature.ts';
import { runConsumer } from '../../../../manager/submission/consumer.ts';
import type { Acceptance, Submission, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { memoryLedger } from '../../../support/ledger.ts';
import { noting } from '../../../support/noting-client.ts';
import { aSubmission } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const NIGHTLY = aSubmission({
  id: 'nightly',
  submittedAt: 1_000,
  name: 'nightly',
  data: {
    manifest: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'nightly', namespace: 'team', labels: { 'switchyard.dev/queue-name': 'main' } },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
    },
  },
});

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let ledger: ReturnType<typeof memoryLedger>;
beforeEach(async () => {
  ledger = memoryLedger();
  cluster = await startCluster(clock);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
});
afterEach(() => cluster.plane.close());

type Consume = SubmissionQueue['consume'];

/** Hands these out one after the other. */
async function handOut(...submissions: Submission[]): Promise<PromiseSettledResult<Acceptance>[]> {
  const answers: PromiseSettledResult<Acceptance>[] = [];
  await consume(async (accept) => {
    for (const submission of submissions) answers.push(...(await Promise.allSettled([accept(submission)])));
  });
  return answers;
}

async function consume(consumed: Consume): Promise<void> {
  const queue: SubmissionQueue = {
    consume: consumed,
    finish: async () => undefined,
    parked: async function* () {},
    report: async () => undefined,
    close: async () => undefined,
  };
  const metrics = createManagerMetrics(new Registry()).submission;
  const { client } = cluster;
  const withdrawnJobs = { withdraw: () => undefined };
  const deps = {
    kind: JOB_KIND,
    client,
    home: client,
    jobs: { get: () => undefined },
    ledger,
    withdrawnJobs,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  };
  await runConsumer(deps, testTenant(), queue, new AbortController().signal);
}

const KEY = { namespace: 'team', name: 'nightly' };
const names = async (): Promise<string[]> => (await cluster.client.list(JOBS)).items.map(({ metadata }) => metadata.name);
const accepted = (answer: PromiseSettledResult<Acceptance> | undefined): Acceptance => {
  if (answer?.status !== 'fulfilled') throw new Error('it was not accepted', { cause: answer?.reason });
  return answer.value;
};
const end = (type: 'Complete' | 'Failed', name = 'nightly'): Promise<unknown> =>
  cluster.client.patchStatus(
    JOBS,
    { ...KEY, name },
    {
      type: 'merge',
      body: {
        status: {
          startTime: '2026-01-01T00:00:00Z',
          ...(type === 'Complete' ? { succeeded: 1, completionTime: '2026-01-01T00:00:00Z' } : { failed: 1 }),
          conditions: [
            type === 'Complete' ? { type: 'SuccessCriteriaMet', status: 'True' } : { type: 'FailureTarget', status: 'True' },
            { type, status: 'True', reason: 'BackoffLimitExceeded', message: 'too often' },
          ],
        },
      },
    },
  );
/** Its finalizer goes once it is noted that it was made, which it is. */
async function remove(name = 'nightly'): Promise<void> {
  await cluster.client.delete(JOBS, { ...KEY, name }, { propagationPolicy: 'Background' });
  await cluster.client.patch(JOBS, { ...KEY, name }, { type: 'merge', body: { metadata: { finalizers: [] } } });
}

test('a submission that is handed out twice is one Job', async () => {
  const [first, second] = await handOut(NIGHTLY, NIGHTLY);
  expect(second).toEqual(first);
  expect(first).toMatchObject({ status: 'fulfilled', value: { job: KEY } });
});

test('put on the queue anew under its key it is the same submission, however its fields are ordered', async () => {
  const { manifest } = NIGHTLY.data as { readonly manifest: object };
  const reordered = { manifest: Object.fromEntries(Object.entries(manifest).toReversed()), signature: 'another' };
  const [first, second] = await handOut(NIGHTLY, { ...NIGHTLY, submittedAt: 2_000, data: reordered });
  expect(second).toEqual(first);
  expect(await names()).toEqual(['nightly']);
});

test('another payload under its key is a Conflict, and the first result stands', async () => {
  await handOut(NIGHTLY);
  await end('Complete');
  const [conflict, again] = await handOut({ ...NIGHTLY, submittedAt: 2_000, data: { manifest: {} } }, { ...NIGHTLY, submittedAt: 3_000 });
  expect(conflict).toMatchObject({
    status: 'rejected',
    reason: { code: 'Conflict', message: expect.stringContaining('team/nightly') as string },
  });
  expect(accepted(again).outcome).toMatchObject({ kind: 'Completed', result: { succeeded: 1 } });
});

test('another payload is a Conflict, too, where only the Job remembers the first', async () => {
  await handOut(NIGHTLY);
  ledger.entries.clear();
  const { manifest } = NIGHTLY.data as { readonly manifest: object };
  const [conflict] = await handOut({
    ...NIGHTLY,
    submittedAt: 2_000,
    data: { manifest: { ...manifest, kind: 'Job', apiVersion: 'batch/v1' }, options: {} },
  });
  expect(conflict).toMatchObject({ status: 'rejected', reason: { code: 'Conflict' } });
});

test('the first result is told again when its Job is gone', async () => {
  const [first] = await handOut(NIGHTLY);
  await end('Complete');
  const [seen] = await handOut(NIGHTLY);
  await remove();
  const [again] = await handOut({ ...NIGHTLY, submittedAt: 2_000 });
  expect(accepted(again)).toEqual(accepted(seen));
  expect(accepted(again)).toMatchObject({ uid: accepted(first).uid, outcome: { kind: 'Completed' } });
  expect(await names()).toEqual([]);
});

test('a Job that somebody deleted is never made anew', async () => {
  await handOut(NIGHTLY);
  await remove();
  const [again, later] = await handOut(NIGHTLY, { ...NIGHTLY, submittedAt: 2_000 });
  for (const answer of [again, later])
    expect(accepted(answer).outcome).toMatchObject({ kind: 'Failed', failure: { reason: 'JobDeleted' } });
  expect(await names()).toEqual([]);
});

test('a retry is another attempt with a Job of its own, and an outcome that BullMQ has never taken is none', async () => {
  await handOut(NIGHTLY);
  await end('Failed');
  const delivered = { attempt: 1, submittedAt: NIGHTLY.submittedAt, attemptsMade: 0 };
  const [redelivered, retried, retriedAgain] = await handOut(NIGHTLY, { ...NIGHTLY, delivered }, { ...NIGHTLY, delivered });
  expect(accepted(redelivered)).toMatchObject({ attempt: 1, outcome: { kind: 'Failed' } });
  expect(accepted(retried)).toMatchObject({ attempt: 2, outcome: undefined });
  expect(retriedAgain).toEqual(retried);
  const { name } = accepted(retried).job;
  expect(name).toMatch(/^nightly-[0-9a-f]{10}$/);
  await end('Failed', name);
  const [third] = await handOut({ ...NIGHTLY, attemptsMade: 2 });
  expect(accepted(third)).toMatchObject({ attempt: 3, outcome: undefined });
  expect(await names()).toHaveLength(3);
});

test('a submission that is parked keeps its Job when the ledger is lost', async () => {
  const [first] = await handOut(NIGHTLY);
  const { job, uid } = accepted(first);
  ledger.entries.clear();
  const [again] = await handOut({ ...NIGHTLY, parked: { ref: NIGHTLY, job, uid, attempt: 1 } });
  expect(accepted(again)).toMatchObject({ job, uid });
  expect(await names()).toHaveLength(1);
});

test('a submission that is parked, as Redis has it, for the Job of another gets neither that Job nor its end', async () => {
  const [first] = await handOut({ ...NIGHTLY, id: 'before', key: 'before' });
  const { job, uid } = accepted(first);
  await end('Complete');
  ledger.entries.clear();
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
  const manifest = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'own', namespace: 'team', labels: { 'switchyard.dev/queue-name': 'main' } },
    spec: { template },
  };
  const [again] = await handOut({ ...NIGHTLY, data: { manifest }, parked: { ref: NIGHTLY, job, uid, attempt: 1 } });
  expect(accepted(again)).toMatchObject({ job: { namespace: 'team', name: 'own' }, outcome: undefined });
});

test('a Job says who cancelled its submission over HTTP, once, and nobody whom the manager has not named', async () => {
  const [first] = await handOut(NIGHTLY);
  const { job, uid } = accepted(first);
  const acts = async (): Promise<string[]> => actsOn(await cluster.client.get(JOBS, KEY)).map(({ what, user }) => `${what} ${user}`);
  const cancelled = { tenant: testTenant().id, key: NIGHTLY.key, submittedAt: NIGHTLY.submittedAt };
  const signature = signCanceller(TEST_RECORD_KEYS, cancelled, 'ann');
  const found = new Map(ledger.entries);
  const withdraw = async (said: unknown): Promise<void> => {
    // As one that was cut short before the end of it was written.
    for (const [key, entry] of found) ledger.entries.set(key, entry);
    await consume(async (_accept, _signal, end) => end?.({ ref: NIGHTLY, job, uid, attempt: 1 }, said));
  };
  for (const forged of [undefined, { ...signature, user: 'bob' }, signCanceller(TEST_RECORD_KEYS, { ...cancelled, key: 'other' }, 'bob')])
    await withdraw(forged);
  expect(await acts()).toEqual([]);
  for (const said of [signature, signature]) await withdraw(said);
  expect(await acts()).toEqual(['Cancel ann']);
});

test('an intent whose Job was made without anybody hearing of it finds that Job', async () => {
  const { client } = cluster;
  const create: typeof client.create = async (...given) => {
    await client.create(...given);
    throw new Error('the connection is gone');
  };
  cluster = { ...cluster, client: { ...noting(client, []), create } };
  const [lost] = await handOut(NIGHTLY);
  expect(lost).toMatchObject({ status: 'rejected', reason: { message: 'the connection is gone' } });
  cluster = { ...cluster, client };
  const [again] = await handOut(NIGHTLY);
  expect(accepted(again).job).toEqual(KEY);
  expect(await names()).toEqual(['nightly']);
});

test('what the API server refuses leaves its key free for another payload', async () => {
  const { manifest } = NIGHTLY.data as { readonly manifest: { readonly metadata: object } };
  const nowhere = { manifest: { ...manifest, metadata: { ...manifest.metadata, namespace: 'nowhere' } } };
  const [refused, mended] = await handOut({ ...NIGHTLY, data: nowhere }, NIGHTLY);
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'Invalid' } });
  expect(accepted(mended)).toMatchObject({ job: KEY, attempt: 1 });
});
