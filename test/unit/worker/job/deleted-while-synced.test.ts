/** A Job that is deleted while it is synced: an ordinary end, not an error, and nothing is asked of the server in vain. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JOB_TRACKING_FINALIZER } from '../../../../shared/api/names.ts';
import type { JobSpec } from '../../../../shared/api/kubernetes.ts';
import { JOBS, PODS } from '../../../../shared/api/resources.ts';
import type { TransportRequest } from '../../../../shared/kube/transport.ts';
import { createWorld, FAILED, refusal, SUCCEEDED, type World } from '../worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const JOB = { namespace: 'ns', name: 'job' };
const errors = (): string[] => world.warnings.filter(({ level }) => level === 'error').map(({ message }) => message);
const calls = (part: string): number => world.calls.filter((call) => call.includes(part)).length;
const isStatus = ({ method, path }: TransportRequest): boolean => method === 'PUT' && path.endsWith('/status');
const isPodPatch = ({ method, path }: TransportRequest): boolean => method === 'PATCH' && path.includes('/pods/');
const broken = refusal(500, 'InternalError', 'the server is not well');
const finalizers = async () => (await world.pods()).map(({ metadata }) => metadata.finalizers);

/** The Job goes at once; its pods stay until somebody else deletes them. */
const deleteJob = () => world.admin.delete(JOBS, JOB, { propagationPolicy: 'Background' });

describe('a Job that is gone, which the cache does not show yet', () => {
  test.each([
    ['a success is to be counted', SUCCEEDED],
    ['a failure is to be counted', FAILED],
  ])('when %s: no error, and one try', async (_, end) => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    const before = calls('/status');
    world.hold('jobs');
    await deleteJob();
    for (const pod of await world.pods()) await world.setPod(pod, end);
    await world.pass(30);
    expect(errors()).toEqual([]);
    expect(calls('/status') - before).toBe(1);
    expect(await world.metric('job_controller_job_syncs_total', { result: 'error' })).toBe(0);
    world.hold();
    await world.pass();
    expect(await finalizers()).toEqual((await world.pods()).map(() => undefined));
  });

  test('and does not show for minutes: its pods set nothing off', async () => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    world.hold('jobs');
    await deleteJob();
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(5);
    const before = world.calls.length;
    for (const pod of await world.pods()) await world.setPod(pod, { conditions: [{ type: 'Ready', status: 'False' }] });
    await world.pass(60);
    expect(world.calls).toHaveLength(before);
  });

  test('and whose server was wrong: after five minutes the Job goes on', async () => {
    await world.createJob({ completions: 2, parallelism: 1 });
    await world.pass();
    let lies = 1;
    world.fault = (request) => (isStatus(request) && lies-- > 0 ? refusal(404, 'NotFound', 'jobs.batch "job" not found') : undefined);
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(10);
    expect((await world.status()).succeeded).toBeUndefined();
    await world.clock.advance(300_000);
    await world.pass();
    expect(await world.status()).toMatchObject({ succeeded: 1 });
  });

  test('and another one has its name: the old one leaves no error, and the new one is run without delay', async () => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    world.hold('jobs');
    await deleteJob();
    await world.createJob({ completions: 1, parallelism: 1 });
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    const before = calls('/status');
    await world.pass(30);
    expect(errors()).toEqual([]);
    expect(calls('/status') - before).toBe(1);
    world.hold();
    await world.clock.advance(0);
    expect(await world.status()).toMatchObject({ active: 1 });
    await world.pass();
    expect((await finalizers()).filter((each) => each !== undefined)).toHaveLength(1);
  });
});

describe('a Job whose namespace is gone, which the cache does not show yet', () => {
  const isCreate = ({ method, path }: TransportRequest): boolean => method === 'POST' && path.endsWith('/pods');
  const noNamespace = refusal(404, 'NotFound', 'namespaces "ns" not found');

  test('leaves no error when a pod cannot be created for that: the server is asked once', async () => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    world.fault = async (request) => {
      if (!isCreate(request)) return undefined;
      world.hold('jobs');
      await deleteJob();
      return noNamespace;
    };
    const before = world.calls.length;
    await world.patchJob({ spec: { parallelism: 2 } });
    await world.pass(30);
    expect(errors()).toEqual([]);
    expect(world.calls.slice(before).filter((call) => !call.includes('/events'))).toEqual([
      'POST /api/v1/namespaces/ns/pods',
      'GET /apis/batch/v1/namespaces/ns/jobs/job',
    ]);
  });

  test('is tried again when it is there after all', async () => {
    let refused = 0;
    world.fault = (request) => (isCreate(request) && refused++ === 0 ? noNamespace : undefined);
    await world.createJob();
    await world.pass(5);
    expect(errors()).toEqual(['reconcile failed, trying again']);
    expect(await world.status()).toMatchObject({ active: 1 });
  });
});

describe('before a pod is adopted', () => {
  const adopting: Partial<JobSpec> = {
    manualSelector: true,
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } },
  };

  test.each([
    ['is gone', 'Background' as const],
    ['is being deleted', 'Foreground' as const],
  ])('the server tells that the Job %s: no error, no try more, and the pod stays free', async (_, propagationPolicy) => {
    await world.createJob({ ...adopting, parallelism: 0, completions: 1 });
    await world.pass();
    world.hold('jobs');
    // A finalizer of somebody else holds the Job, so that it is still there while it is being deleted.
    if (propagationPolicy === 'Foreground') await world.patchJob({ metadata: { finalizers: ['example.com/hold'] } });
    await world.admin.delete(JOBS, JOB, { propagationPolicy });
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    const before = world.calls.length;
    await world.pass(30);
    expect(errors()).toEqual([]);
    expect(world.calls.slice(before)).toEqual(['GET /apis/batch/v1/namespaces/ns/jobs/job']);
    expect((await world.pods())[0]?.metadata.ownerReferences).toBeUndefined();
    world.hold();
    await world.pass();
    expect(errors()).toEqual([]);
  });

  test.each([
    ['is another one of its name', 'metadata.uid'],
    ['is being deleted', 'metadata.finalizers'],
  ])('the server tells that the pod %s: it is not adopted, and the Job goes on without it', async (_, field) => {
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    let told = 0;
    const invalid = refusal(422, 'Invalid', 'Pod "stray" is invalid', {
      causes: [{ reason: 'FieldValueForbidden', message: 'no', field }],
    });
    world.fault = (request) => (isPodPatch(request) && told++ === 0 ? invalid : undefined);
    await world.createJob(adopting);
    await world.clock.advance(0);
    expect(errors()).toEqual([]);
    expect(calls('POST /api/v1/namespaces/ns/pods')).toBe(1);
  });
});

describe('a Job whose deletion is seen while a call is under way', () => {
  /** Holds the first call that matches until `meanwhile` has happened, and then answers it with `answer`. */
  function during(matches: (request: TransportRequest) => boolean, meanwhile: () => Promise<unknown>, answer = broken): void {
    let isFirst = true;
    world.fault = async (request) => {
      if (!isFirst || !matches(request)) return undefined;
      isFirst = false;
      await meanwhile();
      await world.clock.settle();
      return answer;
    };
  }

  test('that fails: no error, and no try more', async () => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    during(isStatus, deleteJob);
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(10);
    expect(errors()).toEqual([]);
  });

  test('that was to free a pod, which is being deleted, and fails: the pod is freed all the same', async () => {
    await world.createJob({ completions: 3, parallelism: 1 });
    await world.pass();
    const [pod] = await world.pods();
    during(isPodPatch, async () => {
      await deleteJob();
      await world.admin.delete(PODS, { namespace: 'ns', name: pod!.metadata.name });
    });
    await world.setPod(pod!, SUCCEEDED);
    await world.pass(10);
    expect(calls('PATCH')).toBeGreaterThan(0);
    expect(errors()).toEqual([]);
    expect((await finalizers()).flat()).not.toContain(JOB_TRACKING_FINALIZER);
  });
});
