/** Submissions that are handed out more than once, and ids that start over, on an embedded control plane. */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics.ts';
import { runConsumer } from '../../../../manager/submission/consumer.ts';
import type { Acceptance, Submission, SubmissionQueue } from '../../../../manager/submission/submission-queue.ts';
import { NAMESPACES } from '../../../../shared/api/resources.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { aSubmission } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';

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
beforeEach(async () => {
  cluster = await startCluster(clock);
  await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
});
afterEach(() => cluster.plane.close());

/** Hands these out one after the other. */
async function handOut(...submissions: Submission[]): Promise<PromiseSettledResult<Acceptance>[]> {
  const answers: PromiseSettledResult<Acceptance>[] = [];
  const queue: SubmissionQueue = {
    consume: async (accept) => {
      for (const submission of submissions) answers.push(...(await Promise.allSettled([accept(submission)])));
    },
    finish: async () => undefined,
    parked: async function* () {},
    report: async () => undefined,
    close: async () => undefined,
  };
  const metrics = createManagerMetrics(new Registry()).submission;
  const { client } = cluster;
  await runConsumer(
    { client, keys: TEST_RECORD_KEYS, clock, log: silentLogger, metrics },
    testTenant(),
    queue,
    new AbortController().signal,
  );
  return answers;
}

test('a submission that is handed out twice is one Job', async () => {
  const [first, second] = await handOut(NIGHTLY, NIGHTLY);
  expect(second).toEqual(first);
  expect(first).toMatchObject({ status: 'fulfilled', value: { job: { namespace: 'team', name: 'nightly' } } });
});

test('a later submission under the same id does not get the Job of the earlier one for its own', async () => {
  const [first, second] = await handOut(NIGHTLY, { ...NIGHTLY, submittedAt: 2_000 });
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(second).toMatchObject({
    status: 'rejected',
    reason: { name: 'SubmissionRefused', message: expect.stringContaining('exists already and is not of this submission') as string },
  });
});
