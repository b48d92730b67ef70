/** The reference traces of the v1.36 Job controller: the writes of the worker, one by one and in order. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TracedCluster, traceCluster } from './support/traced-cluster.ts';

let cluster: TracedCluster;
beforeEach(async () => {
  cluster = await traceCluster();
});
afterEach(() => cluster.stop());

test('a Job of one pod that succeeds is counted, then freed of its finalizer, then complete', async () => {
  await cluster.create();
  expect(cluster.trace()).toEqual(['create p0', 'S{start, active 1}']);
  await cluster.pass(1.8);
  await cluster.pod('p0', 'succeed');
  await cluster.pass(0.9);
  expect(cluster.trace()).toEqual([]);
  await cluster.pass(0.2);
  expect(cluster.trace()).toEqual([
    'S{start, u.succeeded p0, SuccessCriteriaMet/CompletionsReached}',
    'P- p0',
    'S{start, succeeded 1, completionTime, SuccessCriteriaMet/CompletionsReached, Complete/CompletionsReached}',
  ]);
  await cluster.pass(5);
  expect(await cluster.events()).toEqual(['Completed: Job completed']);
});

test('a pod that succeeds while more is to do is replaced before it is counted', async () => {
  await cluster.create({ completions: 3, parallelism: 2 });
  expect(cluster.trace()).toEqual(['create p0', 'create p1', 'S{start, active 2}']);
  await cluster.pod('p0', 'succeed');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual(['create p2', 'S{start, active 2, u.succeeded p0}', 'P- p0', 'S{start, active 2, succeeded 1}']);
});

test('a failed pod is counted at once, while no active pod is reported until its back-off ends', async () => {
  await cluster.create({ completions: 2, parallelism: 2 });
  cluster.trace();
  await cluster.pod('p0', 'fail');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual(['S{start, u.failed p0}', 'P- p0', 'S{start, failed 1}']);
  await cluster.pass(8.8);
  expect(cluster.trace()).toEqual([]);
  await cluster.pass(0.3);
  expect(cluster.trace()).toEqual(['create p2', 'S{start, active 2, failed 1}']);
});

const DEADLINE = 'FailureTarget/DeadlineExceeded';

test('at the deadline running pods count as failed at once, and the Job fails when the last has stopped', async () => {
  await cluster.create({ completions: 2, parallelism: 2, activeDeadlineSeconds: 10 });
  for (const name of ['p0', 'p1']) {
    await cluster.pod(name, 'bind');
    await cluster.pod(name, 'run');
  }
  await cluster.pass(9);
  cluster.trace();
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([
    'delete p0',
    'delete p1',
    `S{start, terminating 2, u.failed p0,p1, ${DEADLINE}}`,
    'P- p0',
    'P- p1',
    `S{start, terminating 2, failed 2, ${DEADLINE}}`,
  ]);
  await cluster.pass(3);
  expect(cluster.trace()).toEqual([]);
  await cluster.pod('p0', 'fail');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([`S{start, terminating 1, failed 2, ${DEADLINE}}`]);
  await cluster.pod('p1', 'succeed');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([`S{start, failed 2, ${DEADLINE}}`, `S{start, failed 2, ${DEADLINE}, Failed/DeadlineExceeded}`]);
  await cluster.pass(3);
  expect(await cluster.events()).toEqual(['DeadlineExceeded: Job was active longer than specified deadline']);
});

test('a failing Job shows unscheduled pods as terminating for one write, though they go with their finalizer', async () => {
  await cluster.create({ completions: 2, parallelism: 2, activeDeadlineSeconds: 5 });
  await cluster.pass(4);
  cluster.trace();
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([
    'delete p0',
    'delete p1',
    `S{start, terminating 2, u.failed p0,p1, ${DEADLINE}}`,
    'P- p0',
    'P- p1',
    `S{start, terminating 2, failed 2, ${DEADLINE}}`,
  ]);
  expect(await cluster.pods()).toEqual([]);
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([`S{start, failed 2, ${DEADLINE}}`, `S{start, failed 2, ${DEADLINE}, Failed/DeadlineExceeded}`]);
});

test('a success policy deletes what runs and lets it go uncounted', async () => {
  await cluster.create({
    completionMode: 'Indexed',
    completions: 4,
    parallelism: 4,
    successPolicy: { rules: [{ succeededIndexes: '0,1' }] },
  });
  for (const name of ['2', '3']) await cluster.pod(name, 'bind');
  await cluster.pass(2);
  cluster.trace();
  await cluster.pod('0', 'succeed');
  await cluster.pod('1', 'succeed');
  await cluster.pass(1.1);
  const met = 'SuccessCriteriaMet/SuccessPolicy';
  expect(cluster.trace()).toEqual([
    'delete 2',
    'delete 3',
    `S{start, terminating 2, succeeded 2, completed 0,1, ${met}}`,
    'P- 0',
    'P- 1',
    'P- 2',
    'P- 3',
  ]);
  await cluster.pod('2', 'remove');
  await cluster.pod('3', 'remove');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([
    `S{start, succeeded 2, completed 0,1, ${met}}`,
    `S{start, succeeded 2, completed 0,1, completionTime, ${met}, Complete/SuccessPolicy}`,
  ]);
});

test('an elastic Job that shrinks frees and deletes what is out of range, and runs it all again when it grows', async () => {
  await cluster.create({ completionMode: 'Indexed', completions: 4, parallelism: 4 });
  await cluster.pod('0', 'succeed');
  await cluster.pod('3', 'succeed');
  await cluster.pass(3);
  cluster.trace();
  await cluster.patch({ completions: 2, parallelism: 2 });
  expect(cluster.trace()).toEqual(['P- 2', 'delete 2', 'S{start, active 1, terminating 1, succeeded 1, completed 0}']);
  await cluster.pass(3);
  cluster.trace();
  await cluster.patch({ completions: 4, parallelism: 4 });
  expect(cluster.trace()).toEqual(['create 2', 'create 3', 'S{start, active 3, succeeded 1, completed 0}']);
});

test('with a limit per index a failure is counted when its replacement exists, and the Job fails with its last index', async () => {
  await cluster.create({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 });
  await cluster.pass(2);
  cluster.trace();
  await cluster.pod('0', 'fail');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual(['S{start}']);
  await cluster.pass(9);
  expect(cluster.trace()).toEqual(['create 0', 'S{start, active 2}']);
  const replacement = (await cluster.pods()).at(-1);
  expect(replacement?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual(['S{start, active 2, u.failed 0}', 'P- 0', 'S{start, active 2, failed 1}']);
  await cluster.pod('0', 'fail');
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual([
    'S{start, active 1, failed 1, failedIndexes 0, u.failed 0}',
    'P- 0',
    'S{start, active 1, failed 2, failedIndexes 0}',
  ]);
  await cluster.pod('1', 'succeed');
  await cluster.pass(1.1);
  const failing = 'S{start, succeeded 1, failed 2, completed 1, failedIndexes 0, FailureTarget/FailedIndexes';
  expect(cluster.trace()).toEqual([`${failing}}`, 'P- 1', `${failing}, Failed/FailedIndexes}`]);
});

test('a quota for 2 of 10 pods ends the creations with the batch that is refused, and each retry makes one attempt', async () => {
  await cluster.client.raw({
    method: 'POST',
    path: '/api/v1/namespaces/team/resourcequotas',
    body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '2' } } },
  });
  await cluster.pass(1);
  await cluster.create({ completions: 10, parallelism: 10 });
  expect(cluster.trace()).toEqual(['create p0', 'create p1', 'create !403', 'S{start, active 2}']);
  const times: number[] = [];
  const begin = cluster.clock.now();
  for (let step = 0; step < 160; step++) {
    await cluster.pass(0.1);
    for (const line of cluster.trace()) {
      expect(line).toBe('create !403');
      times.push(Math.floor((cluster.clock.now() - begin) / 1000));
    }
  }
  expect(times).toEqual([1, 3, 7, 15]);
  expect((await cluster.events())[0]).toMatch(
    /^FailedCreate: Error creating: pods "work-\w{5}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2$/,
  );
});

test('a Job deleted in the foreground frees its running pod at once and stays until the pod is gone', async () => {
  await cluster.create();
  await cluster.pod('p0', 'bind');
  await cluster.pod('p0', 'run');
  await cluster.pass(2);
  cluster.trace();
  await cluster.deleteJob('Foreground');
  expect(cluster.trace()).toEqual(['P- p0']);
  await cluster.pass(1.1);
  expect(cluster.trace()).toEqual(['S{start, terminating 1}']);
  await cluster.pod('p0', 'remove');
  await cluster.pass(2);
  expect(await cluster.job()).toBeUndefined();
});

test('a suspension frees and deletes the pods and clears the start in one write, and a resume sets it in one', async () => {
  await cluster.create({ completions: 2, parallelism: 2 });
  for (const name of ['p0', 'p1']) await cluster.pod(name, 'bind');
  await cluster.pass(2);
  cluster.trace();
  await cluster.patch({ suspend: true });
  expect(cluster.trace()).toEqual(['P- p0', 'P- p1', 'delete p0', 'delete p1', 'S{terminating 2, Suspended/JobSuspended}']);
  await cluster.patch({ suspend: false });
  expect(cluster.trace()).toEqual(['create p2', 'create p3', 'S{start, active 2, terminating 2, not Suspended/JobResumed}']);
});

test('a Job that is created suspended shows so and nothing else', async () => {
  await cluster.create({ suspend: true });
  expect(cluster.trace()).toEqual(['S{Suspended/JobSuspended}']);
  expect(await cluster.status()).toMatchObject({ ready: 0, terminating: 0 });
});

test('a suspended Job without completions completes without a start', async () => {
  await cluster.create({ suspend: true, completions: 0, parallelism: 2 });
  expect(cluster.trace()).toEqual([
    'S{SuccessCriteriaMet/CompletionsReached}',
    'S{completionTime, SuccessCriteriaMet/CompletionsReached, Complete/CompletionsReached}',
  ]);
});

test('a deadline of no time fails the Job in its first sync, before a pod is created', async () => {
  await cluster.create({ activeDeadlineSeconds: 0 });
  expect(cluster.trace()).toEqual([`S{start, ${DEADLINE}}`, `S{start, ${DEADLINE}, Failed/DeadlineExceeded}`]);
});
