import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics.ts';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import { manifestOf, runConsumer } from '../../../../manager/submission/consumer.ts';
import { SubmissionRefused, type Submission, type SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { given } from '../../../../shared/runtime/given.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { aSubmission } from '../../../support/submissions.ts';

const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};
const submission = (data: unknown, parts: Partial<Submission> = {}): Submission =>
  aSubmission({ id: '7', submittedAt: 1_000, name: 'sum', data, ...parts });
const named = (metadata: object, parts: Partial<Submission> = {}): string | undefined =>
  manifestOf(submission({ manifest: { ...MANIFEST, metadata: { ...MANIFEST.metadata, ...metadata } } }, parts), 'q').metadata.name;

describe('the Job of a submission', () => {
  test('is suspended, the manager’s, and says which submission it is', () => {
    const job = manifestOf(submission({ manifest: MANIFEST }), 'q');
    expect(job.spec).toMatchObject({ suspend: true, managedBy: 'switchyard.dev/manager' });
    expect(job.metadata).toMatchObject({
      namespace: 'default',
      annotations: { 'switchyard.dev/submission': '7', 'switchyard.dev/submitted-at': '1000' },
    });
  });

  test('comes from the bare manifest as well', () => {
    expect(manifestOf(submission(MANIFEST), 'q')).toEqual(manifestOf(submission({ manifest: MANIFEST }), 'q'));
  });

  test('may name its queue by Kueue’s label where the administrator has it so', () => {
    const kueues = { ...MANIFEST, metadata: { ...MANIFEST.metadata, labels: { 'kueue.x-k8s.io/queue-name': 'main' } } };
    expect(() => manifestOf(submission(kueues), 'q')).toThrow(/switchyard\.dev\/queue-name\]: is missing/);
    const { metadata } = manifestOf(submission(kueues), 'q', { ...DEFAULT_JOB_RULES, kueueQueueLabel: true });
    expect(metadata.labels).toEqual({ 'kueue.x-k8s.io/queue-name': 'main', 'switchyard.dev/queue-name': 'main' });
  });

  test('keeps the name it has', () => {
    expect(named({ name: 'mine' })).toBe('mine');
  });

  test('without a name gets the same one for every delivery, and no other submission gets it', () => {
    expect(named({})).toBe(named({}));
    expect(named({})).toMatch(/^sum-[0-9a-f]{10}$/);
    expect(named({ generateName: 'etl-' })).toMatch(/^etl-[0-9a-f]{10}$/);
    const others = [named({}, { id: '8' }), named({}, { submittedAt: 1_001 }), manifestOf(submission(MANIFEST), 'other').metadata.name];
    expect(new Set([named({}), ...others]).size).toBe(4);
  });

  test('gets a valid name whatever the submission is called', () => {
    expect(named({}, { name: '__Nightly ETL (v2)!' })).toMatch(/^nightly-etl-v2-[0-9a-f]{10}$/);
    expect(named({}, { name: '***' })).toMatch(/^job-[0-9a-f]{10}$/);
    expect(named({}, { name: 'x'.repeat(100) })).toHaveLength(52);
  });
});

describe('a bad manifest', () => {
  test('is refused with the fields that are wrong', () => {
    const refuse = (data: unknown): string => {
      try {
        manifestOf(submission(data), 'q');
      } catch (error) {
        if (error instanceof SubmissionRefused) return error.message;
        throw error;
      }
      return 'accepted';
    };
    expect(refuse(undefined)).toMatch(/manifest: must be/);
    expect(refuse({ manifest: { ...MANIFEST, kind: 'Pod' } })).toMatch(/kind: must be Job/);
    expect(refuse({ ...MANIFEST, metadata: {} })).toMatch(/queue-name\]: is missing; set it/);
    expect(refuse({ ...MANIFEST, spec: { ...MANIFEST.spec, managedBy: 'acme.io/x' } })).toMatch(/spec\.managedBy: /);
  });
});

describe('a submission whose Job the API server does not take', () => {
  const outcomeOf = async (code: number, reason: string, message: string, details?: object): Promise<'refused' | 'tried again'> => {
    const status = { kind: 'Status' as const, status: 'Failure', code, reason, message, ...given({ details }) };
    let outcome: 'refused' | 'tried again' | undefined;
    const queue: SubmissionQueue = {
      consume: async (accept) => {
        const error: unknown = await accept(submission({ manifest: MANIFEST })).catch((thrown: unknown) => thrown);
        outcome = error instanceof SubmissionRefused ? 'refused' : 'tried again';
      },
      finish: async () => undefined,
      parked: async function* () {},
      close: async () => undefined,
    };
    const client = createKubeClient(
      {
        send: async () => ({ status: code, headers: {}, body: JSON.stringify(status) }),
        stream: () => Promise.reject(new Error('unused')),
        close: async () => undefined,
      },
      { userAgent: 'test', clock: new FakeClock() },
    );
    const metrics = createManagerMetrics(new Registry()).submission;
    await runConsumer(
      { queue, queueName: 'q', client, keys: TEST_RECORD_KEYS, clock: new FakeClock(), log: silentLogger, metrics },
      new AbortController().signal,
    );
    return outcome ?? 'refused';
  };

  test.each([
    [
      403,
      'Forbidden',
      'jobs.batch "sum" is forbidden: exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1',
    ],
    [403, 'Forbidden', 'jobs.batch "sum" is forbidden: status unknown for quota: few, resources: count/jobs.batch'],
    [429, 'TooManyRequests', 'too many requests'],
    [500, 'InternalError', 'failed calling webhook'],
  ])('for now is handed out again: %i %s: %s', async (code, reason, message) => {
    expect(await outcomeOf(code, reason, message)).toBe('tried again');
  });

  test('because its namespace is going is handed out again', async () => {
    const details = { causes: [{ reason: 'NamespaceTerminating', message: 'going', field: 'metadata.namespace' }] };
    expect(await outcomeOf(403, 'Forbidden', 'jobs.batch "sum" is forbidden: the namespace is being terminated', details)).toBe(
      'tried again',
    );
  });

  test.each([
    [403, 'Forbidden', 'admission webhook "policy.acme.io" denied the request: no'],
    [403, 'Forbidden', 'jobs.batch "sum" is forbidden: failed quota: few: must specify limits.cpu'],
    [404, 'NotFound', 'namespaces "nowhere" not found'],
    [422, 'Invalid', 'Job.batch "sum" is invalid: spec.template.spec.containers: Required value'],
  ])('ever is refused: %i %s: %s', async (code, reason, message) => {
    expect(await outcomeOf(code, reason, message)).toBe('refused');
  });
});
