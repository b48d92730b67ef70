/** Goal: the Job of a submission that was cancelled goes, whatever comes in between, with the rights of its tenant and no others. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { ended, intendedEntry } from '../../../../manager/submission/ledger.ts';
import { ImpersonationRefused } from '../../../../manager/submission/tenant-client.ts';
import type { Tenant } from '../../../../manager/submission/tenant.ts';
import { createWithdrawnJobs, type WithdrawnJobs } from '../../../../manager/submission/withdrawn-jobs.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { SUBMISSION_SEAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import { createInformer, type Informer } from '../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { memoryLedger } from '../../../support/ledger.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { submissionAnnotations, testSeal } from '../../../support/submissions.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const KEY = { namespace: 'team', name: 'nightly' };
const TENANT = testTenant({ id: 't1', label: 'team/batch', namespace: 'team', as: { namespace: 'team', name: 'submitter' } });

const { submission: metrics } = createManagerMetrics(new Registry());

const clock = new FakeClock();
let cluster: EmbeddedCluster;
let jobs: Informer<Job>;
let ledger: ReturnType<typeof memoryLedger>;
let tenants: ReadonlyMap<string, Tenant>;
/** As whom Jobs were deleted, and what the API server says of it. */
let askedAs: string[];
let refusal: Error | undefined;
let over: AbortController;

beforeEach(async () => {
  [ledger, tenants, askedAs, refusal, over] = [memoryLedger(), new Map([['t1', TENANT]]), [], undefined, new AbortController()];
  cluster = await startCluster(clock);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
  jobs = createInformer({ client: cluster.client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
});
afterEach(async () => {
  over.abort(new Error('the test is over'));
  await clock.settle();
  await cluster.plane.close();
});

async function lead(isWatching = true): Promise<WithdrawnJobs> {
  const clientFor = ({ as }: Tenant) => ({
    delete: async (...given: Parameters<typeof cluster.client.delete>) => {
      askedAs.push(as?.name ?? 'manager');
      if (refusal !== undefined) throw refusal;
      await cluster.client.delete(...given);
    },
  });
  const withdrawn = createWithdrawnJobs({
    kind: JOB_KIND,
    jobs,
    ledger,
    tenants: () => tenants,
    clientFor,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
    metrics,
  });
  if (isWatching) void jobs.run(over.signal);
  void withdrawn.run(over.signal);
  await clock.advance(1_000);
  return withdrawn;
}

const SUBMISSION = submissionAnnotations({ id: 'nightly', tenant: 't1' });
const SEAL = testSeal(KEY, { id: 'nightly', tenant: 't1' });

async function create(
  annotations: Readonly<Record<string, string>> = { ...SUBMISSION, [SUBMISSION_SEAL_ANNOTATION]: SEAL },
): Promise<string> {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
  const job = await cluster.client.create(JOBS, {
    metadata: { ...KEY, annotations: { ...annotations } },
    spec: { suspend: true, template },
  } as never);
  return job.metadata.uid;
}
/** As a manager writes it before it deletes the Job. */
async function ends(uid: string, reason = 'Cancelled'): Promise<void> {
  const intent = intendedEntry({ payload: 'p', submittedAt: 1_000, attemptsMade: 0 }, 1, KEY, 0);
  await ledger.of('t1').put('nightly', intent);
  ledger.of('t1').mark('nightly', ended({ uid, attempt: 1 }, { kind: 'Failed', failure: { reason, message: 'it is over' } }, 0));
}
const isThere = async (): Promise<boolean> => (await cluster.client.list(JOBS)).items.length > 0;
const forbidden = (): ApiError =>
  new ApiError(403, {
    code: 403,
    reason: 'Forbidden',
    message: 'jobs.batch "nightly" is forbidden: User "system:serviceaccount:team:submitter" cannot delete resource "jobs"',
  });

test.each(['Cancelled', 'Rejected'])(
  'a Job whose leader died between writing %s and deleting it is deleted by the next one, as the ServiceAccount',
  async (reason) => {
    await ends(await create(), reason);
    await lead();
    expect(await isThere()).toBe(false);
    expect(askedAs).toEqual(['submitter']);
  },
);

test('one that comes into the cache after its submission was cancelled is deleted then', async () => {
  await lead(false);
  await ends(await create());
  void jobs.run(over.signal);
  await clock.advance(1_000);
  expect(await isThere()).toBe(false);
});

test('what ended in another way, is of another UID or has no seal stays', async () => {
  const uid = await create();
  await ends(uid, 'BackoffLimitExceeded');
  await lead();
  expect(await isThere()).toBe(true);
  over.abort(new Error('this leader is over'));
  over = new AbortController();
  jobs = createInformer({ client: cluster.client, resource: JOBS, clock, random: () => 0.5, log: silentLogger });
  await ends('of-another');
  await lead();
  await cluster.client.delete(JOBS, KEY, { propagationPolicy: 'Background' });
  await ends(await create(SUBMISSION));
  await clock.advance(1_000);
  expect(await isThere()).toBe(true);
  expect(askedAs).toEqual([]);
});

test('a ServiceAccount that may not delete Jobs is told in the status, asked less and less often, and nothing is lost when it may', async () => {
  refusal = forbidden();
  await ends(await create());
  const withdrawn = await lead();
  expect(withdrawn.problem('t1')).toBe(
    '1 of the Jobs whose submissions have ended cannot be deleted: jobs.batch "nightly" is forbidden: User "system:serviceaccount:team:submitter" cannot delete resource "jobs"; ' +
      'let the ServiceAccount team/submitter delete Jobs in the namespace team',
  );
  expect(withdrawn.problem('t2')).toBeUndefined();
  await clock.advance(3_600_000);
  // Doubling from one second to five minutes, and then every five minutes for the rest of an hour.
  expect(askedAs.length).toBeGreaterThan(12);
  expect(askedAs.length).toBeLessThan(24);
  refusal = undefined;
  await clock.advance(300_000);
  expect(await isThere()).toBe(false);
  expect(withdrawn.problem('t1')).toBeUndefined();
});

test('where the manager may not act as the ServiceAccount the Job stays until it may, and is never deleted as the manager', async () => {
  refusal = new ImpersonationRefused('cannot impersonate resource "serviceaccounts"; let the manager impersonate the ServiceAccount');
  await ends(await create());
  const withdrawn = await lead();
  await clock.advance(600_000);
  expect(new Set(askedAs)).toEqual(new Set(['submitter']));
  expect(withdrawn.problem('t1')).toContain('cannot impersonate');
  expect(await isThere()).toBe(true);
});

test('that the API server does not answer is no trouble of rights', async () => {
  refusal = new Error('socket hang up');
  await ends(await create());
  const withdrawn = await lead();
  expect(withdrawn.problem('t1')).toBeUndefined();
  refusal = undefined;
  await clock.advance(5_000);
  expect(await isThere()).toBe(false);
});

test('the Job of a SubmissionQueue that is not served waits until it is', async () => {
  tenants = new Map();
  await ends(await create());
  await lead();
  expect(askedAs).toEqual([]);
  tenants = new Map([['t1', TENANT]]);
  await clock.advance(300_000);
  expect(await isThere()).toBe(false);
});

test('one that somebody else deletes is a trouble no more', async () => {
  refusal = forbidden();
  await ends(await create());
  const withdrawn = await lead();
  await cluster.client.delete(JOBS, KEY, { propagationPolicy: 'Background' });
  await clock.advance(100);
  expect(withdrawn.problem('t1')).toBeUndefined();
});

test.each([undefined, null, 7, ''])('nothing is deleted without a UID, such as %j', async (uid) => {
  const withdrawn = await lead();
  expect(() => withdrawn.withdraw({ tenant: 't1', job: KEY, uid: uid as string })).toThrow('without a UID');
});
