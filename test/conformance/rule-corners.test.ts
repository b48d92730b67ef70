/** Where several rules of the v1.36 Job controller meet: ends, suspensions and elastic changes at one time. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '../../shared/api/kubernetes.ts';
import { PODS } from '../../shared/api/resources.ts';
import { type TracedCluster, traceCluster } from './support/traced-cluster.ts';

let cluster: TracedCluster;
beforeEach(async () => {
  cluster = await traceCluster();
});
afterEach(() => cluster.stop());

const INDEXED = { completionMode: 'Indexed' as const };
const REACHED = 'CompletionsReached: Reached expected number of succeeded pods';

test('an elastic Job that shrinks to what has succeeded completes, its running pods deleted uncounted', async () => {
  await cluster.create({ ...INDEXED, completions: 3, parallelism: 3 });
  await cluster.runAll();
  await cluster.pod('0', 'succeed');
  await cluster.pass(2);
  await cluster.patch({ completions: 1, parallelism: 1 });
  await cluster.pass(2);
  expect(await cluster.shown()).toEqual({
    ready: 0,
    terminating: 2,
    succeeded: 1,
    completedIndexes: '0',
    conditions: [`SuccessCriteriaMet/${REACHED}`],
  });
  for (const name of ['1', '2']) await cluster.pod(name, 'remove');
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({
    terminating: 0,
    succeeded: 1,
    conditions: [`SuccessCriteriaMet/${REACHED}`, `Complete/${REACHED}`],
  });
});

test('an index that failed for good is run again after the Job has shrunk below it and grown', async () => {
  await cluster.create({ ...INDEXED, completions: 3, parallelism: 3, backoffLimitPerIndex: 0 });
  await cluster.pod('2', 'fail');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ active: 2, failed: 1, failedIndexes: '2' });
  await cluster.patch({ completions: 2, parallelism: 2 });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({ active: 2, failed: 1, failedIndexes: '' });
  await cluster.patch({ completions: 3, parallelism: 3 });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({ active: 3, failed: 1, failedIndexes: '' });
});

test('a FailJob rule on a condition names the pod and the condition', async () => {
  const podFailurePolicy = {
    rules: [
      { action: 'Ignore', onExitCodes: { operator: 'In', values: [9] } },
      { action: 'FailJob', onPodConditions: [{ type: 'ConfigIssue', status: 'True' }] },
    ],
  } as const;
  await cluster.create({ podFailurePolicy: structuredClone(podFailurePolicy) as never });
  const [pod] = await cluster.pods();
  await cluster.pod('p0', 'fail', { conditions: [{ type: 'ConfigIssue', status: 'True' }] });
  await cluster.pass(3);
  const text = `PodFailurePolicy: Pod team/${pod?.metadata.name} has condition ConfigIssue matching FailJob rule at index 1`;
  expect(await cluster.shown()).toMatchObject({ failed: 1, conditions: [`FailureTarget/${text}`, `Failed/${text}`] });
  expect(await cluster.events()).toEqual([text]);
});

test('a success policy outranks nothing that failed earlier: the backoff limit is asked first', async () => {
  await cluster.create({ ...INDEXED, completions: 2, parallelism: 2, backoffLimit: 0, successPolicy: { rules: [{ succeededCount: 1 }] } });
  await cluster.pod('0', 'succeed');
  await cluster.pod('1', 'fail');
  await cluster.pass(3);
  const text = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
  expect(await cluster.shown()).toMatchObject({
    succeeded: 1,
    failed: 1,
    completedIndexes: '0',
    conditions: [`FailureTarget/${text}`, `Failed/${text}`],
  });
});

test('a suspended Job may fail by its limit, and says so at its end when it is resumed', async () => {
  await cluster.create({ completions: 2, parallelism: 2, backoffLimit: 0 });
  await cluster.runAll();
  await cluster.pod('p0', 'fail');
  await cluster.patch({ suspend: true });
  await cluster.pass(3);
  const text = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
  expect(await cluster.shown()).toMatchObject({ failed: 2, terminating: 1, conditions: [`FailureTarget/${text}`] });
  await cluster.pod('p1', 'remove');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ failed: 2, terminating: 0, conditions: [`FailureTarget/${text}`, `Failed/${text}`] });
});

test('a Job that is deleted in the foreground may still complete', async () => {
  await cluster.create();
  await cluster.runAll();
  await cluster.pod('p0', 'succeed');
  await cluster.deleteJob('Foreground');
  await cluster.pass(3);
  expect(cluster.trace().filter((line) => line.includes('Complete/'))).toHaveLength(1);
  expect(await cluster.job()).toBeUndefined();
});

test('more successes than completions are told before the completion', async () => {
  await cluster.create({ completions: 1, parallelism: 1 });
  const [pod] = await cluster.pods();
  const { labels = {}, namespace = '' } = pod?.metadata ?? {};
  const extra = {
    metadata: { namespace, name: 'extra', labels },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] },
  };
  await cluster.client.create(PODS, extra as Pod);
  await cluster.client.patchStatus(PODS, { namespace, name: 'extra' }, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await cluster.pod('p0', 'succeed');
  await cluster.pass(4);
  expect(cluster.trace()).toContain('adopt extra');
  expect(await cluster.shown()).toMatchObject({ succeeded: 2, conditions: [`SuccessCriteriaMet/${REACHED}`, `Complete/${REACHED}`] });
  expect(await cluster.events()).toEqual([
    'TooManySucceededPods: Too many succeeded pods running after completion count reached',
    'Completed: Job completed',
  ]);
});

test('the pod with the least behind it goes first when parallelism falls', async () => {
  await cluster.create({ completions: 9, parallelism: 4 });
  for (const name of ['p0', 'p1', 'p3']) await cluster.pod(name, 'bind');
  await cluster.pod('p0', 'run');
  await cluster.pod('p1', 'ready');
  await cluster.pass(2);
  cluster.trace();
  await cluster.patch({ parallelism: 1 });
  const deleted = cluster.trace().filter((line) => line.startsWith('delete'));
  expect(deleted.toSorted((a, b) => a.localeCompare(b))).toEqual(['delete p0', 'delete p2', 'delete p3']);
  expect(await cluster.shown()).toMatchObject({ active: 1, ready: 1, terminating: 3 });
});

test('a suspended Job that shrinks to what has succeeded shows that it will complete, and does so when it is resumed', async () => {
  await cluster.create({ ...INDEXED, completions: 2, parallelism: 2 });
  await cluster.pod('0', 'succeed');
  await cluster.pass(2);
  await cluster.patch({ suspend: true });
  await cluster.pass(3);
  await cluster.patch({ completions: 1, parallelism: 1 });
  await cluster.pass(3);
  const suspended = 'Suspended/JobSuspended: Job suspended';
  expect(await cluster.shown()).toMatchObject({ succeeded: 1, conditions: [suspended, `SuccessCriteriaMet/${REACHED}`] });
  await cluster.patch({ suspend: false });
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ conditions: [suspended, `SuccessCriteriaMet/${REACHED}`, `Complete/${REACHED}`] });
});

test('the deadline of a resumed Job counts from its resume', async () => {
  await cluster.create({ activeDeadlineSeconds: 10 });
  await cluster.pass(6);
  await cluster.patch({ suspend: true });
  await cluster.pass(30);
  await cluster.patch({ suspend: false });
  await cluster.pass(8);
  expect(await cluster.shown()).toMatchObject({ active: 1, conditions: ['not Suspended/JobResumed: Job resumed'] });
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ failed: 1 });
  await cluster.pass(3);
  expect(await cluster.events()).toEqual([
    'Suspended: Job suspended',
    'Resumed: Job resumed',
    'DeadlineExceeded: Job was active longer than specified deadline',
  ]);
});

test('a ready pod beside a back-off is not reported before the back-off ends', async () => {
  await cluster.create({ completions: 2, parallelism: 2 });
  await cluster.pod('p1', 'ready');
  await cluster.pass(2);
  cluster.trace();
  await cluster.pod('p0', 'fail');
  await cluster.pass(5);
  expect(cluster.trace()).toEqual([]);
  expect(await cluster.shown()).toEqual({ active: 2, ready: 1, terminating: 0, conditions: [] });
  await cluster.pass(8);
  expect(await cluster.shown()).toEqual({ active: 2, ready: 1, terminating: 0, failed: 1, conditions: [] });
});

test('failures that the policy ignores are told to the replacement of their index apart', async () => {
  const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] };
  await cluster.create({ ...INDEXED, completions: 1, backoffLimitPerIndex: 0, podFailurePolicy: podFailurePolicy as never });
  await cluster.pod('0', 'fail', { conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
  await cluster.pass(12);
  expect((await cluster.pods()).at(-1)?.metadata.annotations).toMatchObject({
    'batch.kubernetes.io/job-index-failure-count': '0',
    'batch.kubernetes.io/job-index-ignored-failure-count': '1',
  });
  expect(await cluster.shown()).toEqual({ active: 1, ready: 0, terminating: 0, failedIndexes: '', conditions: [] });
});
