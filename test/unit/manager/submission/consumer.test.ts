import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { runConsumer } from '../../../../manager/submission/consumer.ts';
import {
  SubmissionRefused,
  type RefusalCode,
  type Submission,
  type SubmissionQueue,
} from '../../../../manager/submission/submission-queue.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { memoryLedger } from '../../../support/ledger.ts';
import { aSubmission } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};
const submission = (data: unknown, parts: Partial<Submission> = {}): Submission =>
  aSubmission({ id: '7', submittedAt: 1_000, name: 'sum', data, ...parts });
describe('a submission whose Job the API server does not take', () => {
  const outcomeOf = async (code: number, reason: string, message: string, details?: object): Promise<RefusalCode | 'tried again'> => {
    const status = { kind: 'Status' as const, status: 'Failure', code, reason, message, ...omitUndefined({ details }) };
    let outcome: RefusalCode | 'tried again' | undefined;
    const queue: SubmissionQueue = {
      consume: async (accept) => {
        const error: unknown = await accept(submission({ manifest: MANIFEST })).catch((thrown: unknown) => thrown);
        outcome = error instanceof SubmissionRefused ? error.code : 'tried again';
      },
      finish: async () => undefined,
      parked: async function* () {},
      report: async () => undefined,
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
      {
        kind: JOB_KIND,
        client,
        home: client,
        keys: TEST_RECORD_KEYS,
        clock: new FakeClock(),
        log: silentLogger,
        metrics,
        jobs: { get: () => undefined },
        ledger: memoryLedger(),
        withdrawnJobs: { withdraw: () => undefined },
      },
      testTenant(),
      queue,
      new AbortController().signal,
    );
    return outcome ?? 'Rejected';
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
    expect(await outcomeOf(code, reason, message)).toBe(code === 403 ? 'Forbidden' : 'Invalid');
  });
});
