/** What an API error means to a sync: the table "API errors" of UPSTREAM.md, row by row, on an embedded control plane. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JOB_TRACKING_FINALIZER } from '../../../../shared/api/names.ts';
import { JOBS, PODS } from '../../../../shared/api/resources.ts';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import type { TransportRequest } from '../../../../shared/kube/transport.ts';
import { createWorld, type Fault, FAILED, refusal, SUCCEEDED, type World } from '../worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const isCreate = ({ method, path }: TransportRequest): boolean => method === 'POST' && path.includes('/pods');
const isPodPatch = ({ method, path }: TransportRequest): boolean => method === 'PATCH' && path.includes('/pods/');
const isPodDelete = ({ method, path }: TransportRequest): boolean => method === 'DELETE' && path.includes('/pods/');
const isStatus = ({ method, path }: TransportRequest): boolean => method === 'PUT' && path.includes('/status');
const broken = refusal(500, 'InternalError', 'the server is not well');
/** Refuses the requests that match, `times` of them. */
const refuse = (matches: (request: TransportRequest) => boolean, answer = broken, times = Number.POSITIVE_INFINITY): Fault => {
  let left = times;
  return (request) => (matches(request) && left-- > 0 ? answer : undefined);
};
/** The first request that matches never arrives, and no answer comes. */
const loseOnce = (matches: (request: TransportRequest) => boolean): Fault => {
  let left = 1;
  return (request) => {
    if (matches(request) && left-- > 0) throw new Error('connection lost');
    return undefined;
  };
};
const callsThat = (matches: (request: TransportRequest) => boolean): number =>
  world.calls.filter((call) => {
    const [method, path = ''] = call.split(' ');
    return matches({ method, path, headers: {} } as TransportRequest);
  }).length;

describe('creating pods', () => {
  test('refused for want of quota: slow start stops, what was made is told, and the rest is tried again with delay', async () => {
    let made = 0;
    world.fault = (request) =>
      isCreate(request) && ++made > 2 ? refusal(403, 'Forbidden', 'pods "x" is forbidden: exceeded quota: q') : undefined;
    await world.createJob({ completions: 10, parallelism: 10 });
    await world.pass(0.5);
    expect(callsThat(isCreate)).toBe(3);
    expect(await world.status()).toMatchObject({ active: 2 });
    expect(await world.events()).toMatchObject({ 'Warning FailedCreate: Error creating: pods "x" is forbidden: exceeded quota: q': 1 });
    expect(await world.metric('job_controller_job_pods_creation_total', { status: 'failed' })).toBe(1);
    expect(await world.metric('job_controller_job_pods_creation_total', { status: 'succeeded' })).toBe(3);
    world.fault = undefined;
    await world.pass(4);
    expect(await world.status()).toMatchObject({ active: 10 });
  });

  test('refused because the namespace is terminating: no event, no pod shown, and no five minutes of rest', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace ns is being terminated', field: 'metadata.namespace' }];
    world.fault = refuse(isCreate, refusal(403, 'Forbidden', 'pods "x" is forbidden', { causes }));
    await world.createJob({ completions: 4, parallelism: 4 });
    await world.pass(3);
    expect((await world.status()).active).toBeUndefined();
    expect(await world.events()).toEqual({});
    world.fault = undefined;
    await world.patchJob({ spec: { parallelism: 3 } });
    await world.pass();
    expect(await world.status()).toMatchObject({ active: 3 });
  });

  test('refused because the namespace is going: a failed pod that waits for its replacement does not hold it', async () => {
    await world.createJob({ completions: 1, completionMode: 'Indexed', backoffLimitPerIndex: 3 });
    await world.pass();
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace ns is being terminated', field: 'metadata.namespace' }];
    world.fault = refuse(isCreate, refusal(403, 'Forbidden', 'pods "x" is forbidden', { causes }));
    for (const pod of await world.pods()) await world.setPod(pod, FAILED);
    await world.pass(5);
    expect((await world.pods()).map(({ metadata }) => metadata.finalizers)).toEqual([[JOB_TRACKING_FINALIZER]]);
    await world.pass(10);
    expect((await world.pods()).map(({ metadata }) => metadata.finalizers)).toEqual([undefined]);
    expect(await world.status()).toMatchObject({ failed: 1, failedIndexes: '' });
  });

  test('made although the answer was lost: seen by the cache, and not made twice', async () => {
    world.lostAnswer = refuse(isCreate, refusal(504, 'Timeout', 'the request timed out'), 1);
    await world.createJob();
    await world.pass(10);
    expect(await world.pods()).toHaveLength(1);
    expect(await world.status()).toMatchObject({ active: 1 });
  });
});

describe('writing the status', () => {
  test.each([
    ['a conflict', refusal(409, 'Conflict', 'the object has been modified')],
    ['a server error', broken],
    ['a refusal', refusal(422, 'Invalid', 'Job.batch "job" is invalid')],
  ])('%s before the finalizers go: nothing is counted, and later each pod once', async (_, answer) => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    world.fault = refuse(isStatus, answer, 1);
    await world.pass(1.5);
    expect(callsThat(isPodPatch)).toBe(0);
    await world.pass(4);
    expect(await world.status()).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
    expect(callsThat(isCreate)).toBe(2);
  });

  test.each([
    ['a conflict', refusal(409, 'Conflict', 'the object has been modified')],
    ['a server error', broken],
  ])('%s when pods were deleted because the success policy is met: they are no failures', async (_, answer) => {
    const successPolicy = { rules: [{ succeededIndexes: '0' }] };
    await world.createJob({ completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimit: 0, successPolicy });
    await world.pass();
    world.fault = refuse(isStatus, answer, 1);
    await world.setPod((await world.pods())[0]!, SUCCEEDED);
    await world.pass(10);
    expect((await world.status()).conditions?.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
      'SuccessCriteriaMet SuccessPolicy',
      'Complete SuccessPolicy',
    ]);
  });

  test('lost after the finalizers went: the next sync counts from the list', async () => {
    await world.createJob({ completions: 3, parallelism: 2 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, FAILED);
    let writes = 0;
    world.fault = (request) => (isStatus(request) && ++writes === 2 ? broken : undefined);
    await world.pass(8);
    expect(await world.status()).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
  });
});

describe('removing finalizers', () => {
  test('fails for one pod: the others are counted, that one later, each once', async () => {
    await world.createJob({ completions: 3, parallelism: 3 });
    await world.pass();
    const seen = await world.pods();
    for (const pod of seen) await world.setPod(pod, SUCCEEDED);
    const stuck = seen[1]!;
    world.fault = refuse((request) => isPodPatch(request) && request.path.includes(stuck.metadata.name));
    await world.pass(1.5);
    expect(await world.status()).toMatchObject({ succeeded: 2, uncountedTerminatedPods: { succeeded: [stuck.metadata.uid] } });
    world.fault = undefined;
    await world.pass(5);
    expect(await world.status()).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} });
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
  });

  test('was done although the answer was lost: counted once', async () => {
    await world.createJob({ completions: 2, parallelism: 1 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    world.lostAnswer = refuse(isPodPatch, broken, 1);
    await world.pass(6);
    expect(await world.status()).toMatchObject({ succeeded: 1, active: 1, uncountedTerminatedPods: {} });
  });

  test('finds the pod gone: counted once', async () => {
    await world.createJob({ completions: 2, parallelism: 1 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    world.fault = refuse(isPodPatch, refusal(404, 'NotFound', 'pods not found'), 1);
    await world.pass(1.5);
    expect(await world.status()).toMatchObject({ succeeded: 1 });
  });
});

describe('deleting pods', () => {
  test('fails at the end of the Job: the end waits, and what still runs is not counted before', async () => {
    await world.createJob({ completions: 3, parallelism: 3, backoffLimit: 0 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, FAILED);
    world.fault = refuse(isPodDelete, broken, 1);
    await world.pass(1.5);
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(['FailureTarget']);
    expect(await world.status()).toMatchObject({ failed: 1 });
    expect(
      Object.keys(await world.events()).some((event) => event.startsWith('Warning FailedDelete: Error deleting: the server is not well')),
    ).toBe(true);
    await world.pass(5);
    expect(await world.status()).toMatchObject({ failed: 3 });
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(['FailureTarget', 'Failed']);
  });

  test('fails for one pod when the success policy is met: the others, which are deleted, are no failures', async () => {
    const successPolicy = { rules: [{ succeededIndexes: '0' }] };
    await world.createJob({ completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimit: 0, successPolicy });
    await world.pass();
    world.fault = refuse(isPodDelete, broken, 1);
    await world.setPod((await world.pods())[0]!, SUCCEEDED);
    await world.pass(10);
    expect((await world.status()).conditions?.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
      'SuccessCriteriaMet SuccessPolicy',
      'Complete SuccessPolicy',
    ]);
  });

  test('fails for one pod at the deadline: the deadline stays the reason', async () => {
    await world.createJob({ completions: 3, parallelism: 3, activeDeadlineSeconds: 5, backoffLimit: 0 });
    await world.pass();
    world.fault = refuse(isPodDelete, broken, 1);
    await world.pass(20);
    expect((await world.status()).conditions?.map(({ reason }) => reason)).toEqual(['DeadlineExceeded', 'DeadlineExceeded']);
    expect(await world.status()).toMatchObject({ failed: 3 });
  });

  test('was done at the deadline although the answer was lost: the deadline stays the reason', async () => {
    await world.createJob({ completions: 1, parallelism: 1, activeDeadlineSeconds: 5, backoffLimit: 0 });
    await world.pass();
    world.lostAnswer = refuse(isPodDelete, refusal(504, 'Timeout', 'the request timed out'), 1);
    await world.pass(20);
    expect((await world.status()).conditions?.map(({ reason }) => reason)).toEqual(['DeadlineExceeded', 'DeadlineExceeded']);
    expect(await world.status()).toMatchObject({ failed: 1 });
  });

  test('fails for all pods at the deadline: nothing is said before one has gone', async () => {
    await world.createJob({ completions: 2, parallelism: 2, activeDeadlineSeconds: 5 });
    await world.pass();
    world.fault = refuse(isPodDelete, refusal(403, 'Forbidden', 'pods may not be deleted'));
    await world.pass(20);
    expect((await world.status()).conditions).toBeUndefined();
    world.fault = undefined;
    await world.pass(60);
    expect((await world.status()).conditions?.map(({ reason }) => reason)).toEqual(['DeadlineExceeded', 'DeadlineExceeded']);
  });

  test('fails on suspension: the next sync deletes the rest', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    world.fault = refuse(isPodDelete, broken, 1);
    await world.patchJob({ spec: { suspend: true } });
    await world.pass(6);
    expect(await world.pods()).toEqual([]);
    expect((await world.status()).active).toBeUndefined();
  });
});

describe('deleting a pod that is too many', () => {
  const running = (isReady: boolean) => ({ phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] });
  const untracked = async (): Promise<Pod[]> => (await world.pods()).filter(({ metadata }) => metadata.finalizers === undefined);

  /** One of two pods is too many, and its deletion is refused. Afterwards it is the one that every rule but one would keep. */
  async function beginRemoval(fault: Fault, spec: object = { parallelism: 1 }): Promise<Pod> {
    for (const pod of await world.pods()) await world.setPod(pod, running(false));
    await world.pass();
    world.fault = fault;
    await world.patchJob({ spec });
    await world.clock.advance(0);
    const [begun, ...others] = await untracked();
    expect(others).toEqual([]);
    await world.setPod(begun!, running(true));
    return begun!;
  }

  test.each([
    ['refused by a server error', refuse(isPodDelete, broken, 1)],
    ['refused because of too many requests', refuse(isPodDelete, refusal(429, 'TooManyRequests', 'too many requests'), 3)],
    ['forbidden', refuse(isPodDelete, refusal(403, 'Forbidden', 'pods "x" is forbidden'), 2)],
    ['lost on its way', loseOnce(isPodDelete)],
  ])('is %s: that pod is tried again, and the other one is counted', async (_, fault) => {
    await world.createJob({ parallelism: 2 });
    await world.pass();
    const begun = await beginRemoval(fault);
    await world.pass(20);
    const left = await world.pods();
    expect(left).toHaveLength(1);
    expect(left[0]!.metadata.name).not.toBe(begun.metadata.name);
    await world.setPod(left[0]!, SUCCEEDED);
    await world.pass(3);
    expect(await world.status()).toMatchObject({ succeeded: 1, conditions: [{ type: 'SuccessCriteriaMet' }, { type: 'Complete' }] });
  });

  test('is refused, and then the Job has room for two again: the pod goes all the same, and another is counted in its place', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    const begun = await beginRemoval(refuse(isPodDelete, broken, 1));
    await world.patchJob({ spec: { parallelism: 2 } });
    await world.pass(10);
    const left = await world.pods();
    expect(left.map(({ metadata }) => metadata.name)).not.toContain(begun.metadata.name);
    expect(left.map(({ metadata }) => metadata.finalizers)).toEqual([[JOB_TRACKING_FINALIZER], [JOB_TRACKING_FINALIZER]]);
    for (const pod of left) await world.setPod(pod, SUCCEEDED);
    await world.pass(4);
    expect(await world.status()).toMatchObject({ succeeded: 2 });
    expect(callsThat(isCreate)).toBe(3);
  });

  test('is refused on suspension, and the Job is resumed: the pod goes all the same', async () => {
    await world.createJob({ completions: 1 });
    await world.pass();
    const begun = await beginRemoval(refuse(isPodDelete, broken, 1), { suspend: true });
    await world.patchJob({ spec: { suspend: false } });
    await world.pass(10);
    const left = await world.pods();
    expect(left.map(({ metadata }) => metadata.finalizers)).toEqual([[JOB_TRACKING_FINALIZER]]);
    expect(left[0]!.metadata.name).not.toBe(begun.metadata.name);
  });

  test('is refused after a shrink, and the Job grows again: the index is run by a pod that counts', async () => {
    await world.createJob({ completions: 2, parallelism: 2, completionMode: 'Indexed' });
    await world.pass();
    await beginRemoval(refuse(isPodDelete, broken, 1), { completions: 1, parallelism: 1 });
    await world.patchJob({ spec: { completions: 2, parallelism: 2 } });
    await world.pass(10);
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(4);
    expect(await world.status()).toMatchObject({ succeeded: 2, completedIndexes: '0,1' });
    expect(callsThat(isCreate)).toBe(3);
  });

  test('is refused for good: no other pod goes in its place, and the Job goes on when that pod has ended', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    const begun = await beginRemoval(refuse(isPodDelete, refusal(403, 'Forbidden', 'a webhook says no')));
    await world.pass(60);
    expect(await world.pods()).toHaveLength(2);
    expect(await untracked()).toHaveLength(1);
    await world.setPod(begun, SUCCEEDED);
    await world.patchJob({ spec: { parallelism: 2 } });
    await world.pass(70);
    expect(await world.status()).toMatchObject({ active: 2 });
    for (const pod of await world.pods()) await world.setPod(pod, SUCCEEDED);
    await world.pass(4);
    expect(await world.status()).toMatchObject({ succeeded: 2, conditions: [{ type: 'SuccessCriteriaMet' }, { type: 'Complete' }] });
  });

  test('was not asked for, as the answer to the finalizer PATCH was lost: the pod without finalizer goes', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    world.lostAnswer = refuse(isPodPatch, broken, 1);
    await world.patchJob({ spec: { parallelism: 1 } });
    await world.pass(10);
    expect((await world.pods()).map(({ metadata }) => metadata.finalizers)).toEqual([[JOB_TRACKING_FINALIZER]]);
  });

  test('costs one PATCH and one DELETE, and one DELETE more for each refusal', async () => {
    await world.createJob({ completions: 2, parallelism: 2 });
    await world.pass();
    await beginRemoval(refuse(isPodDelete, broken, 2));
    await world.pass(10);
    expect([callsThat(isPodPatch), callsThat(isPodDelete)]).toEqual([1, 3]);
  });
});

describe('adopting', () => {
  const adopting = {
    manualSelector: true,
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } },
  };
  test('asks the server whether the Job is still there, and does nothing when it cannot tell', async () => {
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    world.fault = refuse(({ method, path }) => method === 'GET' && path.endsWith('/jobs/job'), broken, 1);
    await world.createJob(adopting);
    await world.pass(0.5);
    expect(world.calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
    await world.pass(3);
    expect(await world.status()).toMatchObject({ active: 1 });
  });

  test('of a pod that is gone is no error', async () => {
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    world.fault = refuse(isPodPatch, refusal(404, 'NotFound', 'pods "stray" not found'), 1);
    await world.createJob(adopting);
    await world.pass(0.5);
    expect(callsThat(isCreate)).toBe(1);
  });

  test('refused otherwise ends the sync before anything else is done', async () => {
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    world.fault = refuse(isPodPatch);
    await world.createJob(adopting);
    await world.pass(0.5);
    expect([callsThat(isCreate), callsThat(isStatus)]).toEqual([0, 0]);
  });
});

describe('a worker that dies', () => {
  test('between listing a pod and removing its finalizer: its successor counts it once', async () => {
    await world.createJob({ completions: 3, parallelism: 2 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    world.fault = refuse(isPodPatch);
    await world.pass(1.5);
    expect(await world.status()).toMatchObject({ uncountedTerminatedPods: { succeeded: [pod!.metadata.uid] } });
    world.fault = undefined;
    await world.restart();
    await world.pass(2);
    expect(await world.status()).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  });

  test('between removing a finalizer and raising the counter: likewise', async () => {
    await world.createJob({ completions: 3, parallelism: 2 });
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, FAILED);
    let writes = 0;
    world.fault = (request) => (isStatus(request) && ++writes > 1 ? broken : undefined);
    await world.pass(1.5);
    expect((await world.pods())[0]?.metadata.finalizers ?? []).not.toContain(JOB_TRACKING_FINALIZER);
    world.fault = undefined;
    await world.restart();
    await world.pass(2);
    expect(await world.status()).toMatchObject({ failed: 1, uncountedTerminatedPods: {} });
  });

  test('while a Job is deleted: its successor frees the pods once their deletion comes', async () => {
    await world.createJob();
    await world.pass();
    const [pod] = await world.pods();
    world.fault = refuse(isPodPatch);
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Background' });
    await world.pass(1);
    world.fault = undefined;
    await world.restart();
    await world.admin.delete(PODS, { namespace: 'ns', name: pod!.metadata.name });
    await world.pass();
    expect(await world.pods()).toEqual([]);
  });
});

test('a Job whose object is damaged stops no other Job', async () => {
  await world.createJob({}, 'damaged');
  await world.pass();
  world.lostAnswer = undefined;
  await world.admin.patchStatus(
    JOBS,
    { namespace: 'ns', name: 'damaged' },
    { type: 'merge', body: { status: { uncountedTerminatedPods: { failed: ['unknown-1', 'unknown-2'] } } } },
  );
  await world.createJob({}, 'sound');
  await world.pass();
  expect(await world.status('sound')).toMatchObject({ active: 1 });
  expect(await world.status('damaged')).toMatchObject({ active: 1, failed: 2 });
});
