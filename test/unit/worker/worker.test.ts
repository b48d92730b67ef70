import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JOB_TRACKING_FINALIZER } from '../../../shared/api/names.ts';
import { JOBS, PODS } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { createWorld, FAILED, refusal, SUCCEEDED, type World } from './worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const conditions = async (): Promise<string[]> =>
  ((await world.status()).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const tracked = async (): Promise<boolean[]> =>
  (await world.pods()).map(({ metadata }) => metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false);

describe('one Job', () => {
  test('runs to its end in seven calls, Events included', async () => {
    await world.createJob();
    await world.pass();
    const [pod] = await world.pods();
    expect(await world.status()).toMatchObject({ active: 1, ready: 0, terminating: 0 });
    await world.setPod(pod!, SUCCEEDED);
    await world.pass();
    const status = await world.status();
    expect(status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
    expect(status.active).toBeUndefined();
    expect(await conditions()).toEqual(['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached']);
    expect(await tracked()).toEqual([false]);
    expect(await world.events()).toEqual({ 'Normal SuccessfulCreate: Created pod: <pod>': 1, 'Normal Completed: Job completed': 1 });
    expect(world.calls).toHaveLength(7);
  });

  test('is told in the metrics of kube-controller-manager', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass();
    expect(
      await world.metric('job_controller_jobs_finished_total', {
        completion_mode: 'NonIndexed',
        result: 'succeeded',
        reason: 'CompletionsReached',
      }),
    ).toBe(1);
    expect(await world.metric('job_controller_job_pods_finished_total', { completion_mode: 'NonIndexed', result: 'succeeded' })).toBe(2);
    expect(await world.metric('job_controller_job_pods_creation_total', { reason: 'new', status: 'succeeded' })).toBe(2);
    expect(await world.metric('job_controller_terminated_pods_tracking_finalizer_total', { event: 'add' })).toBe(2);
    expect(await world.metric('job_controller_terminated_pods_tracking_finalizer_total', { event: 'delete' })).toBe(2);
    expect(await world.metric('job_controller_job_syncs_total', { result: 'error' })).toBe(0);
  });

  test('that ends with seven hundred pods at once counts each of them once', async () => {
    await world.createJob({ completions: 700, parallelism: 700 });
    await world.pass(4);
    expect(await world.status()).toMatchObject({ active: 700 });
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(4);
    expect(await world.status()).toMatchObject({ succeeded: 700, uncountedTerminatedPods: {} });
    expect(await conditions()).toContain('Complete=True CompletionsReached');
    expect(await tracked()).not.toContain(true);
    expect(world.calls.filter((call) => call.startsWith('PATCH') && call.includes('/pods/'))).toHaveLength(700);
    expect(world.calls.filter((call) => call.endsWith('/status')).length).toBeLessThan(10);
  });

  test('that is idle costs nothing', async () => {
    await world.createJob({ completions: 3, parallelism: 3 });
    await world.pass();
    const before = world.calls.length;
    await world.pass(30);
    expect(world.calls).toHaveLength(before);
  });
});

describe('more pods than one sync takes', () => {
  test('are created without a pause, and in no sync too many', async () => {
    await world.createJob({ completions: 1200, parallelism: 1200 });
    await world.clock.advance(0);
    expect(await world.pods()).toHaveLength(1200);
    expect(await world.metric('job_controller_job_syncs_total', { action: 'pods_created' })).toBe(3);
  });

  test('are not created before the cache shows the first', async () => {
    world.hold('pods');
    await world.createJob({ completions: 1200, parallelism: 1200 });
    await world.pass(5);
    expect(await world.pods()).toHaveLength(500);
    world.hold();
    await world.clock.advance(0);
    expect(await world.pods()).toHaveLength(1200);
  });

  test('are counted without a pause', async () => {
    await world.createJob({ completions: 1200, parallelism: 1200 });
    await world.pass();
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(1);
    expect(await world.status()).toMatchObject({ succeeded: 1200 });
    expect(await conditions()).toContain('Complete=True CompletionsReached');
  });

  test('are not looked at again and again while a back-off keeps them from being counted', async () => {
    await world.createJob({ completions: 700, parallelism: 700, backoffLimit: 2000 });
    await world.pass();
    const [ready, ...others] = await world.pods();
    await world.setPod(ready!, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    for (const pod of others) await world.setPod(pod, FAILED);
    const before = await world.metric('job_controller_job_syncs_total');
    await world.pass(3);
    expect((await world.metric('job_controller_job_syncs_total')) - before).toBeLessThan(4);
  });

  test('are not asked for at once when the server refuses them', async () => {
    world.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('/pods') ? refusal(403, 'Forbidden', 'exceeded quota') : undefined;
    await world.createJob({ completions: 1200, parallelism: 1200 });
    await world.clock.advance(900);
    expect(world.calls.filter((call) => call.startsWith('POST') && call.endsWith('/pods'))).toHaveLength(1);
  });
});

describe('the deadline', () => {
  test('fails a running Job at its time', async () => {
    await world.createJob({ activeDeadlineSeconds: 20 });
    await world.pass(17);
    expect(await conditions()).toEqual([]);
    await world.pass(5);
    expect(await conditions()).toEqual(['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded']);
    expect(await world.status()).toMatchObject({ failed: 1 });
  });

  test('set later counts from the start', async () => {
    await world.createJob();
    await world.pass(10);
    await world.patchJob({ spec: { activeDeadlineSeconds: 15 } });
    await world.pass(3);
    expect(await conditions()).toEqual([]);
    await world.pass(4);
    expect(await conditions()).toContain('Failed=True DeadlineExceeded');
  });
});

describe('back-off', () => {
  test('a failed pod is replaced ten seconds after its end', async () => {
    await world.createJob();
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, FAILED);
    await world.pass(4);
    expect(await world.pods()).toHaveLength(1);
    expect(await world.status()).toMatchObject({ failed: 1 });
    await world.pass(8);
    expect(await world.pods()).toHaveLength(2);
    expect(await world.status()).toMatchObject({ failed: 1, active: 1 });
  });

  test('with a ready pod beside it makes no call that must fail, and counts at its end', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    const [first, second] = await world.pods();
    await world.setPod(first!, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    await world.pass();
    const terminated = { exitCode: 1, finishedAt: toWireTime(world.clock.now()) };
    await world.setPod(second!, {
      ...FAILED,
      containerStatuses: [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
    });
    await world.pass(4);
    const during = world.calls.length;
    await world.pass(3);
    expect(world.calls).toHaveLength(during);
    expect(await world.status()).toMatchObject({ active: 2, ready: 1 });
    await world.pass(8);
    expect(await world.status()).toMatchObject({ active: 2, ready: 1, failed: 1 });
    expect(await world.metric('job_controller_job_syncs_total', { result: 'error' })).toBe(0);
  });
});

describe('suspend', () => {
  test('deletes the pods uncounted, resume starts anew', async () => {
    await world.createJob({ completions: 3, parallelism: 2 });
    await world.pass();
    const [done] = await world.pods();
    await world.setPod(done!, SUCCEEDED);
    await world.pass();
    await world.patchJob({ spec: { suspend: true } });
    await world.pass();
    const suspended = await world.status();
    expect(suspended).toMatchObject({ succeeded: 1 });
    expect([suspended.startTime, suspended.active, suspended.failed]).toEqual([undefined, undefined, undefined]);
    expect(await world.pods()).toHaveLength(1);
    await world.patchJob({ spec: { suspend: false } });
    await world.pass();
    expect(await world.status()).toMatchObject({ succeeded: 1, active: 2 });
    expect((await world.status()).startTime).toBeDefined();
    expect(await conditions()).toEqual(['Suspended=False JobResumed']);
  });

  test('a Job that fails while suspended waits for its resume without trying in vain', async () => {
    await world.createJob({
      completions: 2,
      parallelism: 2,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
    });
    await world.pass();
    const [pod] = await world.pods();
    await world.admin.raw({
      method: 'POST',
      path: `/api/v1/namespaces/ns/pods/${pod!.metadata.name}/binding`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod!.metadata.name }, target: { kind: 'Node', name: 'n' } },
    });
    await world.patchJob({ spec: { suspend: true } });
    await world.pass();
    const terminated = { exitCode: 42, finishedAt: '2026-01-01T00:00:05Z' };
    await world.setPod(pod!, {
      phase: 'Failed',
      containerStatuses: [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
    });
    await world.pass(4);
    expect(await conditions()).toEqual(['Suspended=True JobSuspended', 'FailureTarget=True PodFailurePolicy']);
    const before = world.calls.length;
    await world.pass(30);
    expect(world.calls).toHaveLength(before);
    await world.patchJob({ spec: { suspend: false } });
    await world.pass();
    expect(await conditions()).toContain('Failed=True PodFailurePolicy');
  });
});

describe('whose Job it is', () => {
  test('a Job of another controller is left alone, logged once and counted', async () => {
    await world.createJob({ managedBy: 'example.com/other' });
    await world.pass();
    await world.patchJob({ metadata: { labels: { touched: 'yes' } } });
    await world.pass();
    expect(world.calls).toEqual([]);
    expect(world.warnings.filter(({ message }) => message === 'job is left to its own controller')).toHaveLength(1);
    expect(await world.metric('job_controller_jobs_by_external_controller_total', { controller_name: 'example.com/other' })).toBe(1);
  });

  test('a worker with a name of its own takes Jobs of that name and no others', async () => {
    await world.restart({ controllerName: 'switchyard.dev/worker' });
    await world.createJob({ managedBy: 'switchyard.dev/worker' }, 'mine');
    await world.createJob({}, 'built-in');
    await world.createJob({ managedBy: 'kubernetes.io/job-controller' }, 'built-in-too');
    await world.pass();
    expect((await world.pods()).map(({ metadata }) => metadata.labels?.['job-name'])).toEqual(['mine']);
    expect(
      await world.metric('job_controller_jobs_by_external_controller_total', { controller_name: 'kubernetes.io/job-controller' }),
    ).toBe(2);
  });

  test('a Job of a denied namespace gets no pods, new or adopted, and says so once; those from before are counted, and stop with it', async () => {
    await world.createJob({ completions: 3, parallelism: 2 });
    await world.pass();
    await world.restart({ deniedNamespaces: ['vault', 'n*'] });
    await world.createJob({}, 'late');
    await world.createPod({ name: 'loose', labels: (await world.job('late'))!.spec.template.metadata!.labels! });
    const [ended] = await world.pods();
    await world.setPod(ended!, SUCCEEDED);
    await world.pass();
    await world.patchJob({ metadata: { labels: { touched: 'yes' } } }, 'late');
    await world.pass();
    expect(await world.status()).toMatchObject({ active: 1, succeeded: 1 });
    expect((await world.pods()).map(({ metadata }) => [metadata.labels?.['job-name'], metadata.ownerReferences?.length ?? 0])).toEqual([
      ['job', 1],
      ['job', 1],
      ['late', 0],
    ]);
    const message =
      'No pods are created: namespace ns is denied by --denied-namespaces of the worker (n*); run the Job in another namespace, or ask an administrator of this cluster to change that flag';
    expect((await world.events())[`Warning NamespaceDenied: ${message}`]).toBe(2);
    const logged = world.warnings.filter((line) => line.message === 'no pods are created for the job: its namespace is denied');
    expect(logged.map(({ level, fields }) => [level, fields?.['job'], fields?.['denied']])).toEqual([
      ['warn', 'late', 'n*'],
      ['warn', 'job', 'n*'],
    ]);
    expect(await world.metric('switchyard_worker_denied_jobs_total')).toBe(2);
    await world.patchJob({ spec: { suspend: true } });
    await world.pass();
    expect((await world.pods()).map(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.name)).toContain('loose');
    expect(await world.status()).toMatchObject({ succeeded: 1 });
    expect((await world.status()).active ?? 0).toBe(0);

    await world.restart({ deniedNamespaces: ['vault'] });
    await world.pass();
    expect(await world.status('late')).toMatchObject({ active: 1 });
  });

  test('a Job created anew under its name is judged anew', async () => {
    await world.createJob({ managedBy: 'example.com/other' });
    await world.pass();
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Background' });
    await world.createJob();
    await world.pass();
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('a Job created anew does not inherit what was expected of the old one', async () => {
    await world.createJob();
    await world.pass();
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Background' });
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    expect(await world.status()).toMatchObject({ active: 2 });
  });
});

describe('the pods of a Job that goes', () => {
  test('are freed when it is deleted in the background', async () => {
    await world.createJob({ completions: 3, parallelism: 3 });
    await world.pass();
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Background' });
    await world.pass();
    expect(await tracked()).toEqual([false, false, false]);
    expect(world.calls.filter((call) => call.startsWith('GET'))).toEqual([]);
  });

  test('are let go uncounted when it is deleted in the foreground', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Foreground' });
    await world.pass();
    expect(await tracked()).toEqual([false, false]);
    expect((await world.status()).failed).toBeUndefined();
  });
});

describe('pods that nobody counts', () => {
  const finalizers = [JOB_TRACKING_FINALIZER];
  test('that no longer match it do not hold it when it is deleted in the foreground', async () => {
    await world.createJob();
    await world.pass();
    for (const { metadata } of await world.pods()) {
      world.hold('pods');
      const body = { metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'nobody' } } };
      await world.admin.patch(PODS, { namespace: 'ns', name: metadata.name }, { type: 'merge', body });
    }
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Foreground' });
    await world.clock.advance(0);
    world.hold();
    await world.pass(5);
    expect(await tracked()).toEqual([false]);
    expect((await world.status()).failed).toBeUndefined();
  });

  test('lose their finalizer when they have no controller', async () => {
    await world.createPod({ name: 'stray', finalizers });
    await world.pass();
    expect(await tracked()).toEqual([false]);
  });

  test('lose it when they are deleted and their Job is gone', async () => {
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'gone', uid: 'gone', controller: true }];
    await world.createPod({ name: 'left', finalizers, ownerReferences });
    await world.pass();
    expect(await tracked()).toEqual([true]);
    await world.admin.delete(PODS, { namespace: 'ns', name: 'left' });
    await world.pass();
    expect(await world.pods()).toEqual([]);
  });

  test('keep it when their Job has another controller, even when it is finished', async () => {
    const job = await world.createJob({ managedBy: 'example.com/other' });
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: job.metadata.uid, controller: true }];
    await world.createPod({ name: 'theirs', labels: { a: 'b' }, finalizers, ownerReferences });
    await world.admin.patchStatus(
      JOBS,
      { namespace: 'ns', name: 'job' },
      {
        type: 'merge',
        body: {
          status: {
            startTime: '2026-01-01T00:00:00Z',
            conditions: ['FailureTarget', 'Failed'].map((type) => ({ type, status: 'True', reason: 'r', message: 'm' })),
          },
        },
      },
    );
    await world.admin.delete(PODS, { namespace: 'ns', name: 'theirs' });
    await world.pass();
    expect(await tracked()).toEqual([true]);
  });

  test('keep it when their owner is no Job', async () => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true }];
    await world.createPod({ name: 'theirs', finalizers, ownerReferences });
    await world.admin.delete(PODS, { namespace: 'ns', name: 'theirs' });
    await world.pass();
    expect(await tracked()).toEqual([true]);
  });
});

describe('adopting and releasing', () => {
  const selector = { matchLabels: { app: 'x' } };
  const template = { metadata: { labels: { app: 'x' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } };
  const adopting = { manualSelector: true, selector, template, completions: 1, parallelism: 1 };

  test('a matching pod without controller is adopted, with owner and finalizer in one call', async () => {
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    const job = await world.createJob(adopting);
    await world.pass();
    const [pod, ...others] = await world.pods();
    expect(others).toEqual([]);
    expect(pod?.metadata.ownerReferences).toEqual([
      { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: job.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(await tracked()).toEqual([true]);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('an ended pod is adopted and counted in the same sync', async () => {
    const stray = await world.createPod({ name: 'stray', labels: { app: 'x' } });
    await world.setPod(stray, SUCCEEDED);
    await world.createJob(adopting);
    // No time passes: a second sync would come with the next batch of pod events.
    await world.clock.advance(0);
    expect(await world.status()).toMatchObject({ succeeded: 1 });
    expect(await tracked()).toEqual([false]);
  });

  test('a pod whose labels no longer match is released and replaced', async () => {
    await world.createJob(adopting);
    await world.pass();
    const [pod] = await world.pods();
    await world.admin.patch(
      PODS,
      { namespace: 'ns', name: pod!.metadata.name },
      { type: 'merge', body: { metadata: { labels: { app: 'y' } } } },
    );
    await world.pass();
    const released = (await world.pods()).find(({ metadata }) => metadata.uid === pod!.metadata.uid);
    expect([released?.metadata.ownerReferences ?? [], released?.metadata.finalizers ?? []]).toEqual([[], []]);
    expect(await world.pods()).toHaveLength(2);
    expect((await world.status()).failed).toBeUndefined();
  });

  test('a counted pod is released, too, and stays counted', async () => {
    await world.createJob({ ...adopting, completions: 2 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    await world.pass();
    await world.admin.patch(
      PODS,
      { namespace: 'ns', name: pod!.metadata.name },
      { type: 'merge', body: { metadata: { labels: { app: 'y' } } } },
    );
    await world.pass();
    const released = (await world.pods()).find(({ metadata }) => metadata.uid === pod!.metadata.uid);
    expect(released?.metadata.ownerReferences ?? []).toEqual([]);
    expect(await world.status()).toMatchObject({ succeeded: 1, active: 1 });
  });
});

describe('time to live', () => {
  test('a finished Job goes when it is over, and not before', async () => {
    await world.restart({ controllers: ['job', 'ttl-after-finished'] });
    await world.createJob({ completions: 0, ttlSecondsAfterFinished: 60 });
    await world.pass(50);
    expect(await conditions()).toContain('Complete=True CompletionsReached');
    expect((await world.job())?.metadata.deletionTimestamp).toBeUndefined();
    await world.pass(15);
    expect((await world.job())?.metadata).toMatchObject({ finalizers: ['foregroundDeletion'] });
  });

  test('may be shortened after the end', async () => {
    await world.restart({ controllers: ['job', 'ttl-after-finished'] });
    await world.createJob({ completions: 0, ttlSecondsAfterFinished: 3600 });
    await world.pass();
    await world.patchJob({ spec: { ttlSecondsAfterFinished: 0 } });
    await world.pass();
    expect((await world.job())?.metadata.deletionTimestamp).toBeDefined();
  });
});
