/** What one mishap leaves behind: trouble that lasts longer than the events that would wake a Job anyway. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { JOBS, PODS } from '../../../../shared/api/resources.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import type { TransportRequest } from '../../../../shared/kube/transport.ts';
import { createWorld, type Fault, refusal, SUCCEEDED, type World } from '../worker-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const isPodPatch = ({ method, path }: TransportRequest): boolean => method === 'PATCH' && path.includes('/pods/');
const refuse = (matches: (request: TransportRequest) => boolean, times: number): Fault => {
  let left = times;
  return (request) => (matches(request) && left-- > 0 ? refusal(500, 'InternalError', 'the server is not well') : undefined);
};
const conditions = async (): Promise<string[]> => ((await world.status()).conditions ?? []).map(({ type }) => type);
const relabel = (pod: Pod, labels: Record<string, string>) =>
  world.admin.patch(PODS, { namespace: 'ns', name: pod.metadata.name }, { type: 'merge', body: { metadata: { labels } } });
const named = async (pod: Pod): Promise<Pod | undefined> => (await world.pods()).find(({ metadata }) => metadata.uid === pod.metadata.uid);

test('a finalizer that cannot be removed for a while is removed in the end, and the Job finishes', async () => {
  await world.createJob();
  await world.pass();
  const [pod] = await world.pods();
  world.fault = refuse(isPodPatch, 4);
  await world.setPod(pod!, SUCCEEDED);
  await world.pass(30);
  expect(await conditions()).toEqual(['SuccessCriteriaMet', 'Complete']);
  expect(await world.status()).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
});

describe('a Job with a selector of its own', () => {
  const selector = { matchLabels: { app: 'x' } };
  const template = { metadata: { labels: { app: 'x' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } };
  const spec = { manualSelector: true, selector, template, completions: 2, parallelism: 1 };

  test('releases a counted pod whose labels have changed, though the first try failed', async () => {
    await world.createJob(spec);
    await world.pass();
    const [pod] = await world.pods();
    await world.setPod(pod!, SUCCEEDED);
    await world.pass();
    world.fault = refuse(isPodPatch, 1);
    await relabel(pod!, { app: 'y' });
    await world.pass(5);
    expect((await named(pod!))?.metadata.ownerReferences ?? []).toEqual([]);
    expect(await world.status()).toMatchObject({ succeeded: 1, active: 1 });
  });

  test('takes no pod in while it is being deleted, though its cache does not know that yet', async () => {
    await world.createJob(spec);
    await world.pass();
    world.hold('jobs');
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'job' }, { propagationPolicy: 'Foreground' });
    await world.createPod({ name: 'stray', labels: { app: 'x' } });
    await world.pass(5);
    const stray = (await world.pods()).find(({ metadata }) => metadata.name === 'stray');
    expect(stray).toBeDefined();
    expect([stray?.metadata.ownerReferences, stray?.metadata.finalizers]).toEqual([undefined, undefined]);
    expect((await world.job())?.metadata.deletionTimestamp).toBeDefined();
  });

  test('lets go of a pod of others that came and ended while the watch was broken', async () => {
    const job = await world.createJob(spec);
    await world.pass();
    world.expireWatches();
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: job.metadata.uid, controller: true };
    const theirs = await world.createPod({ name: 'theirs', labels: { app: 'y' }, ownerReferences: [owner] });
    await world.setPod(theirs, SUCCEEDED);
    await world.pass(10);
    expect((await named(theirs))?.metadata.ownerReferences ?? []).toEqual([]);
    expect((await world.status()).succeeded).toBeUndefined();
  });
});

test('a back-off whose rest is shorter than the time in which pod events are gathered lasts that long', async () => {
  await world.createJob({ completions: 1 });
  await world.pass();
  const [pod] = await world.pods();
  const terminated = { exitCode: 1, finishedAt: toWireTime(world.clock.now()) };
  const containerStatuses = [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated } }];
  world.hold('pods');
  await world.setPod(pod!, { phase: 'Failed', containerStatuses });
  await world.pass(9.5);
  await world.restart();
  await world.pass(0.5);
  expect(await world.pods()).toHaveLength(1);
  await world.pass(0.5);
  expect(await world.pods()).toHaveLength(2);
});

test('creations that meet a namespace on its way out stop with the first batch', async () => {
  const causes = [{ reason: 'NamespaceTerminating', message: 'namespace ns is being terminated', field: 'metadata.namespace' }];
  world.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith('/pods') ? refusal(403, 'Forbidden', 'pods "x" is forbidden', { causes }) : undefined;
  await world.createJob({ completions: 100, parallelism: 100 });
  await world.clock.advance(0);
  expect(world.calls.filter((call) => call.startsWith('POST') && call.endsWith('/pods'))).toHaveLength(1);
});

test('pods of which the server refused to delete any are deleted when it is well again, and not minutes later', async () => {
  await world.createJob({ completions: 2, parallelism: 2 });
  await world.pass();
  world.fault = refuse(({ method, path }) => method === 'DELETE' && path.includes('/pods/'), 2);
  await world.patchJob({ spec: { suspend: true } });
  await world.pass(20);
  expect(await world.pods()).toEqual([]);
});

test('a pod whose deletion the cache does not show yet is not deleted once more', async () => {
  await world.createJob({ completions: 2, parallelism: 2 });
  await world.pass();
  const isPodDelete = ({ method, path }: TransportRequest): boolean => method === 'DELETE' && path.includes('/pods/');
  // The finalizers go, the pods do not.
  world.fault = refuse(isPodDelete, 2);
  await world.patchJob({ spec: { suspend: true } });
  await world.clock.advance(0);
  world.calls.length = 0;
  world.hold('pods');
  await world.pass(5);
  await world.patchJob({ spec: { parallelism: 1 } });
  await world.pass(5);
  expect(world.calls.filter((call) => call.startsWith('DELETE') && call.includes('/pods/'))).toHaveLength(2);
  world.hold();
  await world.pass(5);
  expect(await world.pods()).toEqual([]);
});

test('of pods that are too many, those that could not be deleted go on being told as active, and the others as terminating', async () => {
  await world.createJob({ completions: 4, parallelism: 4 });
  await world.pass();
  world.fault = refuse(({ method, path }) => method === 'DELETE' && path.includes('/pods/'), 1);
  world.hold('pods');
  await world.patchJob({ spec: { parallelism: 1 } });
  await world.clock.advance(0);
  expect(await world.status()).toMatchObject({ active: 2, terminating: 2 });
});
