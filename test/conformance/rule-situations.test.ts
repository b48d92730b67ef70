/** Situations that the reference traces leave out, judged by the rules of the v1.36 Job controller: what its users see. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Job, Pod, PodFailurePolicy } from '../../shared/api/kubernetes.ts';
import { JOB_TRACKING_FINALIZER } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { type TracedCluster, traceCluster } from './support/traced-cluster.ts';

let cluster: TracedCluster;
beforeEach(async () => {
  cluster = await traceCluster();
});
afterEach(() => cluster.stop());

const INDEXED = { completionMode: 'Indexed' as const };
const policyOf = (action: string, onExit: boolean): PodFailurePolicy =>
  ({
    rules: [
      onExit
        ? { action, onExitCodes: { operator: 'In', values: [42] } }
        : { action, onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    ],
  }) as PodFailurePolicy;
const DISRUPTED = { conditions: [{ type: 'DisruptionTarget', status: 'True' }] };

const bothOf = (interim: string, terminal: string, text: string): string[] => [`${interim}/${text}`, `${terminal}/${text}`];

test('FailIndex fails the index at its first failure, whatever its limit', async () => {
  await cluster.create({
    ...INDEXED,
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 5,
    podFailurePolicy: policyOf('FailIndex', true),
  });
  await cluster.pod('0', 'fail', { exitCode: 42 });
  await cluster.pass(3);
  expect(await cluster.shown()).toEqual({ active: 1, ready: 0, terminating: 0, failed: 1, failedIndexes: '0', conditions: [] });
  await cluster.pod('1', 'succeed');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({
    succeeded: 1,
    failed: 1,
    completedIndexes: '1',
    failedIndexes: '0',
    conditions: bothOf('FailureTarget', 'Failed', 'FailedIndexes: Job has failed indexes'),
  });
});

test.each([0, 1])('more than %i failed indexes end the Job, and what runs counts as failed', async (maxFailedIndexes) => {
  await cluster.create({ ...INDEXED, completions: 4, parallelism: 4, backoffLimitPerIndex: 0, maxFailedIndexes });
  await cluster.runAll();
  for (let index = 0; index < maxFailedIndexes; index++) await cluster.pod(`${index}`, 'fail');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ conditions: [] });
  await cluster.pod(`${maxFailedIndexes}`, 'fail');
  await cluster.pass(3);
  const text = 'MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes';
  expect(await cluster.shown()).toMatchObject({
    terminating: 3 - maxFailedIndexes,
    failed: 4,
    failedIndexes: maxFailedIndexes === 0 ? '0' : '0,1',
    conditions: [`FailureTarget/${text}`],
  });
  for (const name of await cluster.names()) await cluster.pod(name, 'remove');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ terminating: 0, failed: 4, conditions: bothOf('FailureTarget', 'Failed', text) });
  expect(await cluster.events()).toEqual([text]);
});

test('a disruption that the policy ignores costs no attempt', async () => {
  await cluster.create({ backoffLimit: 0, podFailurePolicy: policyOf('Ignore', false) });
  await cluster.pod('p0', 'fail', DISRUPTED);
  await cluster.pass(12);
  expect(await cluster.shown()).toEqual({ active: 1, ready: 0, terminating: 0, conditions: [] });
});

test('a disruption that the policy counts uses up the limit', async () => {
  await cluster.create({ backoffLimit: 0, podFailurePolicy: policyOf('Count', false) });
  await cluster.pod('p0', 'fail', DISRUPTED);
  await cluster.pass(3);
  const text = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
  expect(await cluster.shown()).toEqual({ ready: 0, terminating: 0, failed: 1, conditions: bothOf('FailureTarget', 'Failed', text) });
});

test('of several success rules that hold the first is told, and a count among indexes is enough', async () => {
  const rules = [{ succeededIndexes: '0' }, { succeededIndexes: '1-3', succeededCount: 2 }, { succeededCount: 3 }];
  await cluster.create({ ...INDEXED, completions: 5, parallelism: 5, successPolicy: { rules } });
  await cluster.pod('4', 'succeed');
  await cluster.pod('1', 'succeed');
  await cluster.pass(3);
  expect(await cluster.shown()).toMatchObject({ active: 3, succeeded: 2, completedIndexes: '1,4', conditions: [] });
  await cluster.pod('3', 'succeed');
  await cluster.pass(4);
  expect(await cluster.shown()).toEqual({
    ready: 0,
    terminating: 0,
    succeeded: 3,
    completedIndexes: '1,3,4',
    conditions: ['SuccessCriteriaMet/SuccessPolicy: Matched rules at index 1', 'Complete/SuccessPolicy: Matched rules at index 1'],
  });
});

test('with a limit per index and replacement of failed pods only, a deleted pod is replaced when it has failed', async () => {
  await cluster.create({ ...INDEXED, completions: 2, parallelism: 2, backoffLimitPerIndex: 2, podReplacementPolicy: 'Failed' });
  await cluster.runAll();
  await cluster.pod('0', 'delete');
  await cluster.pass(30);
  expect(await cluster.shown()).toEqual({ active: 1, ready: 0, terminating: 1, failedIndexes: '', conditions: [] });
  expect(await cluster.names()).toEqual(['0', '1']);
  await cluster.pod('0', 'fail');
  await cluster.pass(14);
  expect(await cluster.names()).toEqual(['0', '1', '0']);
  expect((await cluster.pods()).at(-1)?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
});

test('a Job resumed while its pods still stop replaces them at once, and as they stop where only failed ones are replaced', async () => {
  await cluster.create({ completions: 2, parallelism: 2, podReplacementPolicy: 'Failed' });
  await cluster.runAll();
  await cluster.patch({ suspend: true });
  await cluster.pass(2);
  await cluster.patch({ suspend: false });
  await cluster.pass(2);
  expect(await cluster.shown()).toEqual({ ready: 0, terminating: 2, conditions: ['not Suspended/JobResumed: Job resumed'] });
  await cluster.pod('p0', 'remove');
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({ active: 1, terminating: 1 });
  await cluster.pod('p1', 'remove');
  await cluster.pass(2);
  expect(await cluster.shown()).toEqual({ active: 2, ready: 0, terminating: 0, conditions: ['not Suspended/JobResumed: Job resumed'] });
});

test('a pod deleted by a suspension may fail its Job, whose end waits for the resume', async () => {
  await cluster.create({ completions: 2, parallelism: 2, podFailurePolicy: policyOf('FailJob', true) });
  await cluster.runAll();
  await cluster.patch({ suspend: true });
  await cluster.pass(2);
  await cluster.pod('p0', 'fail', { exitCode: 42 });
  const failed = (await cluster.pods()).find(({ status }) => status?.phase === 'Failed');
  await cluster.pod('p1', 'remove');
  await cluster.pass(3);
  const text = `PodFailurePolicy: Container main for pod team/${failed?.metadata.name} failed with exit code 42 matching FailJob rule at index 0`;
  expect(await cluster.shown()).toEqual({
    ready: 0,
    terminating: 0,
    conditions: ['Suspended/JobSuspended: Job suspended', `FailureTarget/${text}`],
  });
  await cluster.patch({ suspend: false });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({
    conditions: ['Suspended/JobSuspended: Job suspended', `FailureTarget/${text}`, `Failed/${text}`],
  });
});

test('a deadline given while the Job runs counts from its start', async () => {
  await cluster.create();
  await cluster.runAll();
  await cluster.patch({ activeDeadlineSeconds: 100 });
  await cluster.pass(5);
  await cluster.patch({ activeDeadlineSeconds: 20 });
  await cluster.pass(12);
  expect(await cluster.shown()).toMatchObject({ active: 1, conditions: [] });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({
    terminating: 1,
    failed: 1,
    conditions: ['FailureTarget/DeadlineExceeded: Job was active longer than specified deadline'],
  });
});

test.each([
  [0, 0, 1],
  [2, 1, 2],
])('with backoffLimit %i and OnFailure %i restarts are borne, and %i end the Job', async (backoffLimit, borne, deadly) => {
  await cluster.create({ backoffLimit, restartPolicy: 'OnFailure' });
  await cluster.pod('p0', 'bind');
  await cluster.pod('p0', 'run', { restarts: borne });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({ active: 1, conditions: [] });
  await cluster.pod('p0', 'run', { restarts: deadly });
  await cluster.pass(2);
  expect(await cluster.shown()).toMatchObject({
    terminating: 1,
    failed: 1,
    conditions: ['FailureTarget/BackoffLimitExceeded: Job has reached the specified backoff limit'],
  });
});

test('a work queue replaces failed pods until one has succeeded, then only waits for the others', async () => {
  await cluster.create({ parallelism: 3 });
  await cluster.pod('p0', 'fail');
  await cluster.pass(12);
  expect(await cluster.shown()).toMatchObject({ active: 3, failed: 1 });
  await cluster.pod('p1', 'succeed');
  await cluster.pod('p2', 'fail');
  await cluster.pass(30);
  expect(await cluster.shown()).toMatchObject({ active: 1, succeeded: 1, failed: 2, conditions: [] });
  await cluster.pod('p3', 'fail');
  await cluster.pass(3);
  const text = 'CompletionsReached: Reached expected number of succeeded pods';
  expect(await cluster.shown()).toEqual({
    ready: 0,
    terminating: 0,
    succeeded: 1,
    failed: 3,
    conditions: bothOf('SuccessCriteriaMet', 'Complete', text),
  });
});

test('a Job of parallelism 0 starts without pods, and grows', async () => {
  await cluster.create({ parallelism: 0, completions: 3 });
  expect(cluster.trace()).toEqual(['S{start}']);
  await cluster.patch({ parallelism: 2 });
  expect(cluster.trace()).toEqual(['create p0', 'create p1', 'S{start, active 2}']);
});

test('an orphaned pod runs on, free of owner and finalizer', async () => {
  await cluster.create();
  await cluster.runAll();
  await cluster.deleteJob('Orphan');
  await cluster.pass(3);
  expect(await cluster.job()).toBeUndefined();
  const [pod] = await cluster.pods();
  expect(pod?.metadata.deletionTimestamp).toBeUndefined();
  expect(pod?.metadata.ownerReferences ?? []).toEqual([]);
  expect(pod?.metadata.finalizers ?? []).toEqual([]);
});

test('a Job in a namespace that goes does not keep it', async () => {
  await cluster.create({ completions: 2, parallelism: 2 });
  await cluster.client.delete(NAMESPACES, { namespace: '', name: 'team' });
  await cluster.pass(60);
  expect(await cluster.job()).toBeUndefined();
  expect(await cluster.pods()).toEqual([]);
  expect((await cluster.client.list(NAMESPACES)).items.map(({ metadata }) => metadata.name)).not.toContain('team');
});

test('with a selector of its own a Job gives its pods no labels but those of the template', async () => {
  await cluster.create({ manualSelector: true, selector: { matchLabels: { app: 'own' } }, labels: { app: 'own' } });
  expect((await cluster.pods()).map(({ metadata }) => metadata.labels)).toEqual([{ app: 'own' }]);
});

async function change(pod: Pod | undefined, metadata: object): Promise<void> {
  const { namespace, name } = pod?.metadata ?? { namespace: '', name: '' };
  await cluster.client.patch(PODS, { namespace, name }, { type: 'merge', body: { metadata } });
  await cluster.pass(3);
}

test('a pod whose labels no longer match is released, replaced and never counted', async () => {
  await cluster.create();
  await cluster.runAll();
  cluster.trace();
  await change((await cluster.pods())[0], { labels: { 'batch.kubernetes.io/controller-uid': 'another' } });
  expect(cluster.trace().slice(0, 2)).toEqual(['release p0', 'create p1']);
  await cluster.pod('p0', 'fail');
  await cluster.pass(3);
  expect(await cluster.shown()).toEqual({ active: 1, ready: 0, terminating: 0, conditions: [] });
  expect((await cluster.pods())[0]?.metadata.finalizers ?? []).not.toContain(JOB_TRACKING_FINALIZER);
});

test.each([null, '7'])('a running pod whose index becomes %s is freed, deleted and replaced', async (index) => {
  await cluster.create({ ...INDEXED, completions: 2, parallelism: 2 });
  await cluster.pass(2);
  cluster.trace();
  await change((await cluster.pods())[0], { annotations: { 'batch.kubernetes.io/job-completion-index': index } });
  expect(cluster.trace().filter((line) => !line.startsWith('S{'))).toEqual(['P- 0', 'delete 0', 'create 0']);
  expect(await cluster.shown()).toEqual({ active: 2, ready: 0, terminating: 0, conditions: [] });
});

test('a Job that names the reserved controller is run, and goes at once with a time to live of 0', async () => {
  await cluster.create({ managedBy: 'kubernetes.io/job-controller', ttlSecondsAfterFinished: 0 });
  await cluster.pod('p0', 'succeed');
  await cluster.pass(5);
  expect(await cluster.job()).toBeUndefined();
  expect(await cluster.pods()).toEqual([]);
});

test('a Job created anew under its name for another controller is left alone, and so are its pods', async () => {
  await cluster.create();
  await cluster.deleteJob('Background');
  const made = await cluster.create({ managedBy: 'example.com/other' });
  await cluster.pass(5);
  expect(await cluster.status()).toEqual({});
  expect(await cluster.pods()).toEqual([]);
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: made.metadata.uid, controller: true };
  const metadata = {
    namespace: 'team',
    name: 'theirs',
    labels: { ...made.spec.template.metadata?.labels },
    finalizers: [JOB_TRACKING_FINALIZER],
    ownerReferences: [owner],
  };
  await cluster.client.create(PODS, { metadata, spec: { containers: [{ name: 'main', image: 'i' }] } } as Pod);
  await cluster.pass(5);
  expect((await cluster.pods())[0]?.metadata.finalizers).toEqual([JOB_TRACKING_FINALIZER]);
  const job = await cluster.client.get<Job>(JOBS, { namespace: 'team', name: 'work' });
  expect(job.status ?? {}).toEqual({});
});
