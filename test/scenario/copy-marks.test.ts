/**
 * Goal: users and webhooks of worker clusters take the marks of copies away, and no Job ever has two copies for it, or is out of reach of
 * its user.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import type { TransportRequest, TransportResponse } from '../../shared/kube/transport.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';

const SUM = { namespace: NAMESPACE, name: 'sum' };
const ALL_ANNOTATIONS = ['origin-uid', 'dispatch-epoch', 'origin-name', 'job-controller', 'fencing'].map(
  (name) => `switchyard.dev/${name}`,
);

let world: DispatchWorld;
let eu: WorkerSide;
let us: WorkerSide;
beforeEach(async () => {
  world = await createDispatchWorld();
  [eu, us] = [world.worker('eu-1'), world.worker('us-2')];
});
afterEach(() => world.close());

const edit = (worker: WorkerSide, metadata: object): Promise<Job> => worker.client.patch(JOBS, SUM, { type: 'merge', body: { metadata } });
const without = (names: readonly string[]): Record<string, null> => Object.fromEntries(names.map((name) => [name, null]));
const setAtHome = (body: object): Promise<Job> => world.home.patch(JOBS, SUM, { type: 'merge', body });
const reads = (worker: WorkerSide): number =>
  worker.line.sent.filter((each) => each === `GET /apis/batch/v1/namespaces/${NAMESPACE}/jobs/sum`).length;
const messageAtHome = async (): Promise<string | undefined> =>
  (await world.job('sum')).status?.conditions?.find(({ type }) => type === 'Dispatched')?.message;

/** Submits the Job, whose copy runs on eu-1 then. */
async function running(): Promise<Job> {
  await world.submit('sum');
  await world.settle(2_000);
  await eu.start('sum');
  await world.settle(1_000);
  const copy = await eu.copy('sum');
  if (copy === undefined) throw new Error('no copy was made');
  return copy;
}

async function expectCompletes(worker: WorkerSide): Promise<void> {
  await worker.complete('sum');
  await world.settle(2_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Complete=True CompletionsReached');
}

test('a copy whose label a user of its cluster takes away gets it back with one read of its name, and its Job ends as if nothing had happened', async () => {
  const before = await running();
  await edit(eu, { labels: without([ORIGIN_LABEL]) });
  await world.settle(3_000);
  const copy = await eu.copy('sum');
  expect(copy?.metadata).toMatchObject({ uid: before.metadata.uid, labels: { [ORIGIN_LABEL]: 'm1' } });
  expect(reads(eu)).toBe(1);
  await world.settle(60_000);
  expect([reads(eu), await us.copy('sum')]).toEqual([1, undefined]);
  await expectCompletes(eu);
});

test('a copy that loses label and annotations while no manager runs is known by its pod template to the next', async () => {
  const before = await running();
  await world.stop();
  await edit(eu, { labels: without([ORIGIN_LABEL]), annotations: without(ALL_ANNOTATIONS) });
  await world.start();
  await world.settle(30_000);
  expect((await eu.copy('sum'))?.metadata).toMatchObject({
    uid: before.metadata.uid,
    labels: { [ORIGIN_LABEL]: 'm1' },
    annotations: { 'switchyard.dev/dispatch-epoch': '1', 'switchyard.dev/origin-uid': (await world.job('sum')).metadata.uid },
  });
  expect(await us.copy('sum')).toBeUndefined();
  await expectCompletes(eu);
});

test('a hold reaches a copy that has just lost its label', async () => {
  await running();
  await edit(eu, { labels: without([ORIGIN_LABEL]) });
  await setAtHome({ metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
  await world.settle(5_000);
  expect((await eu.copy('sum'))?.spec.suspend).toBe(true);
  expect(await us.copy('sum')).toBeUndefined();
});

test('a deletion at home reaches a copy that has just lost its label, and the Job is there until that is gone', async () => {
  await running();
  eu.line.hold();
  await edit(eu, { labels: without([ORIGIN_LABEL]) });
  await world.home.delete(JOBS, SUM);
  eu.line.release();
  await world.settle(10_000);
  expect(await eu.copy('sum')).toBeUndefined();
  await expect(world.job('sum')).rejects.toMatchObject({ code: 404 });
});

test('a copy that loses its label while it is being deleted keeps its Job until it is gone', async () => {
  await running();
  await edit(eu, { finalizers: ['example.com/slow'] });
  await world.home.delete(JOBS, SUM);
  await world.settle(2_000);
  await edit(eu, { labels: without([ORIGIN_LABEL]) });
  await world.settle(20_000);
  expect((await eu.copy('sum'))?.metadata.labels).toMatchObject({ [ORIGIN_LABEL]: 'm1' });
  expect((await world.job('sum')).metadata.deletionTimestamp).toBeDefined();
  await edit(eu, { finalizers: [] });
  await world.settle(5_000);
  await expect(world.job('sum')).rejects.toMatchObject({ code: 404 });
});

test('annotations that are taken away or changed are put right, and say nothing meanwhile', async () => {
  const before = await running();
  await edit(eu, {
    annotations: { ...without(ALL_ANNOTATIONS), 'switchyard.dev/dispatch-epoch': '7', 'switchyard.dev/origin-uid': 'another' },
  });
  await world.settle(3_000);
  const { uid, annotations } = (await eu.copy('sum'))?.metadata ?? {};
  expect({ uid, annotations }).toMatchObject({
    uid: before.metadata.uid,
    annotations: { 'switchyard.dev/dispatch-epoch': '1', 'switchyard.dev/origin-uid': (await world.job('sum')).metadata.uid },
  });
  await expectCompletes(eu);
});

/** A webhook of this cluster that takes what is ours from Jobs as they are written. */
async function dropMarks(worker: WorkerSide, methods: readonly string[]): Promise<void> {
  await worker.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  const stored = (job: Job): TransportResponse => ({ status: 200, headers: {}, body: JSON.stringify(job) });
  worker.line.instead = async (request: TransportRequest) => {
    const [path = ''] = request.path.split('?');
    if (!methods.includes(request.method) || !/\/jobs(\/sum)?$/.test(path)) return undefined;
    const body = JSON.parse(String(request.body)) as Job;
    const { labels, annotations, ...metadata } = body.metadata;
    const others = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
      Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('switchyard.dev/')));
    const mutated = { ...body, metadata: { ...metadata, labels: others(labels), annotations: others(annotations) } };
    if (request.method === 'POST')
      return stored(await worker.client.create(JOBS, { ...mutated, metadata: { ...mutated.metadata, namespace: NAMESPACE } }));
    return stored(await worker.client.patch(JOBS, SUM, { type: 'merge', body: mutated }));
  };
}

test('a webhook that drops labels and annotations as Jobs are created costs one more write, and no second copy', async () => {
  await dropMarks(eu, ['POST']);
  const copy = await running();
  expect(copy.metadata).toMatchObject({ labels: { [ORIGIN_LABEL]: 'm1' }, annotations: { 'switchyard.dev/dispatch-epoch': '1' } });
  expect(eu.line.sent.filter((each) => /^(POST|PATCH) .*\/jobs(\/sum)?$/.test(each))).toHaveLength(2);
  expect(await us.copy('sum')).toBeUndefined();
  await expectCompletes(eu);
});

test('where a webhook drops them whenever they are written the copy is deleted, and the Job runs elsewhere once it is gone', async () => {
  await dropMarks(eu, ['POST', 'PATCH']);
  await world.submit('sum');
  await world.settle(30_000);
  expect(await eu.copy('sum')).toBeUndefined();
  expect((await us.copy('sum'))?.metadata.labels).toMatchObject({ [ORIGIN_LABEL]: 'm1' });
  await us.start('sum');
  await expectCompletes(us);
});

test('where there is no other cluster the Job is made there again once the webhook is gone', async () => {
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'us-2' }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
  await dropMarks(eu, ['POST', 'PATCH']);
  await world.submit('sum');
  await world.settle(20_000);
  expect(await eu.copy('sum')).toBeUndefined();
  eu.line.instead = undefined;
  await world.settle(300_000);
  await eu.start('sum');
  await expectCompletes(eu);
});

/** Somebody deletes the copy, and creates a Job of its name. */
async function takeOver(): Promise<void> {
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  const containers = [{ name: 'main', image: 'busybox' }];
  await eu.client.create(JOBS, { metadata: SUM, spec: { template: { spec: { restartPolicy: 'Never', containers } } } } as never);
}

test('a Job of the same name in place of a copy is left alone, and the Job runs elsewhere after the pods of the copy had their time', async () => {
  await running();
  await takeOver();
  await world.settle(9_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False CopyLost');
  expect(await us.copy('sum')).toBeUndefined();
  await world.settle(60_000);
  expect((await eu.copy('sum'))?.metadata.labels?.[ORIGIN_LABEL]).toBeUndefined();
  await us.start('sum');
  await expectCompletes(us);
});

test('a Job of the same name that a manager finds after its start, and that does not say whose it is, proves nothing until it is gone', async () => {
  await running();
  await world.stop();
  await takeOver();
  await world.start();
  await world.settle(120_000);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
  expect(await messageAtHome()).toContain('a Job of this name that does not say whose it is');
  expect(await us.copy('sum')).toBeUndefined();
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  await world.settle(90_000);
  await eu.start('sum');
  await expectCompletes(eu);
});

test('a copy whose label a user changes to that of another manager gets its own back: its template says who made it', async () => {
  const before = await running();
  await edit(eu, { labels: { [ORIGIN_LABEL]: 'm2' } });
  await world.settle(3_000);
  expect((await eu.copy('sum'))?.metadata).toMatchObject({ uid: before.metadata.uid, labels: { [ORIGIN_LABEL]: 'm1' } });
  await expectCompletes(eu);
});

/** Somebody deletes the copy, and puts it back as a release before this one made it, for another manager. */
async function remadeByOther(): Promise<void> {
  const { metadata, spec } = (await eu.copy('sum')) ?? (await running());
  const { labels = {}, annotations = {} } = metadata;
  const [container, ...others] = spec.template.spec?.containers ?? [];
  const containers = [{ ...container, env: [] }, ...others];
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  const older = { suspend: false, managedBy: spec.managedBy, template: { spec: { restartPolicy: 'Never', containers } } };
  await eu.client.create(JOBS, { metadata: { ...SUM, labels: { ...labels, [ORIGIN_LABEL]: 'm2' }, annotations }, spec: older } as never);
}

test('a copy that says nothing but that another manager made it is not taken from that one: the Job says so, and goes on once a user has put it right', async () => {
  await running();
  await remadeByOther();
  await setAtHome({ metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
  await world.settle(60_000);
  expect(await messageAtHome()).toContain('says that manager "m2" made it, and this manager is "m1"');
  expect([(await eu.copy('sum'))?.spec.suspend, await us.copy('sum')]).toEqual([false, undefined]);
  await edit(eu, { labels: { [ORIGIN_LABEL]: 'm1' } });
  await world.settle(10_000);
  expect((await eu.copy('sum'))?.spec.suspend).toBe(true);
});

test('a manager of another id makes nothing anew while Jobs are sealed under the former one, and one of the former id goes on', async () => {
  const before = await running();
  await world.stop();
  await world.start('m2');
  await world.settle(120_000);
  expect([(await eu.copy('sum'))?.metadata.uid, await us.copy('sum')]).toEqual([before.metadata.uid, undefined]);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
  await world.stop();
  await world.start();
  await expectCompletes(eu);
  // Nothing of the former one is left to be mistaken.
  await world.stop();
  await world.start('m2');
  await world.submit('next');
  await world.settle(5_000);
  const copies = await Promise.all([eu, us].map((worker) => worker.copy('next')));
  expect(copies.flatMap((copy) => copy?.metadata.labels?.[ORIGIN_LABEL] ?? [])).toEqual(['m2']);
});

/** A pod of the copy, whose owner is left off, as `kubectl delete job --cascade=orphan` leaves it. */
async function orphanedPod(copy: Job): Promise<ObjectKey> {
  const { metadata, spec = { containers: [] } } = copy.spec.template;
  const pod = await eu.client.create(PODS, {
    metadata: { namespace: NAMESPACE, name: 'sum-abcde', ...omitUndefined({ labels: metadata?.labels }) },
    spec,
  });
  return { namespace: NAMESPACE, name: pod.metadata.name };
}

test('a copy that is deleted without its pods is not made again, there or elsewhere, before they have ended, and the Job says which are left', async () => {
  const pod = await orphanedPod(await running());
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Orphan' });
  await world.settle(120_000);
  expect([await eu.copy('sum'), await us.copy('sum')]).toEqual([undefined, undefined]);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=True Dispatched');
  expect(await messageAtHome()).toContain('kubectl delete pod -n team sum-abcde');
  await setAtHome({ metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
  await world.settle(60_000);
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=False AtRest');
  await setAtHome({ metadata: { annotations: { [HOLD_ANNOTATION]: null } } });
  await eu.client.patchStatus(PODS, pod, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await world.settle(120_000);
  const places = await Promise.all([eu, us].map(async (worker) => ((await worker.copy('sum')) === undefined ? [] : [worker])));
  const [place, ...more] = places.flat();
  expect([place !== undefined, more]).toEqual([true, []]);
});

test('a pod that a worker creates late for a copy that was deleted for its marks keeps the Job from running elsewhere', async () => {
  await dropMarks(eu, ['POST', 'PATCH']);
  const dropping = eu.line.instead;
  let copy: Job | undefined;
  eu.line.instead = async (request: TransportRequest) => {
    if (request.method === 'DELETE') copy = await eu.copy('sum');
    return dropping?.(request);
  };
  await world.submit('sum');
  await world.settle(5_000);
  expect(await eu.copy('sum')).toBeUndefined();
  if (copy === undefined) throw new Error('no copy was deleted');
  const pod = await orphanedPod(copy);
  await world.settle(60_000);
  expect(await us.copy('sum')).toBeUndefined();
  expect(await messageAtHome()).toContain('kubectl delete pod -n team sum-abcde');
  await eu.client.delete(PODS, pod, { gracePeriodSeconds: 0 });
  await world.settle(60_000);
  expect(await us.copy('sum')).toBeDefined();
});

test('a copy that is deleted without its pods before home says that it was dispatched is not made again by the next manager while they run', async () => {
  world.homeLine.instead = async ({ method, path }) =>
    method === 'PATCH' && path.includes('/jobs/sum/status') && (await eu.copy('sum')) !== undefined
      ? { status: 503, headers: {}, body: '' }
      : undefined;
  const pod = await orphanedPod(await running());
  await world.stop();
  world.homeLine.instead = undefined;
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=True Dispatched');
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Orphan' });
  await world.start();
  await world.settle(120_000);
  expect([await eu.copy('sum'), await us.copy('sum')]).toEqual([undefined, undefined]);
  expect(await messageAtHome()).toContain('kubectl delete pod -n team sum-abcde');
  await eu.client.patchStatus(PODS, pod, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await world.settle(120_000);
  expect(await eu.copy('sum')).toBeDefined();
});

test('a Job that is deleted is there for as long as pods are that its copy has left behind', async () => {
  const pod = await orphanedPod(await running());
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Orphan' });
  await world.settle(2_000);
  await world.home.delete(JOBS, SUM);
  await world.settle(60_000);
  expect((await world.job('sum')).metadata.deletionTimestamp).toBeDefined();
  expect(await messageAtHome()).toContain('sum-abcde');
  await eu.client.delete(PODS, pod, { gracePeriodSeconds: 0 });
  await world.settle(90_000);
  await expect(world.job('sum')).rejects.toMatchObject({ code: 404 });
});

test('pods of another Job of that name do not count, and a manager that may not list pods says so', async () => {
  const { spec } = await running();
  const template = { ...spec.template, spec: { containers: [{ name: 'main', image: 'busybox' }] } };
  await orphanedPod({ spec: { template } } as Job);
  eu.line.instead = (request) => {
    if (!/\/pods\?/.test(request.path)) return undefined;
    return { status: 403, headers: {}, body: JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }) };
  };
  await eu.client.delete(JOBS, SUM, { propagationPolicy: 'Background' });
  await world.settle(60_000);
  expect(await messageAtHome()).toContain('let the manager list pods');
  expect(await eu.copy('sum')).toBeUndefined();
  eu.line.instead = undefined;
  await world.settle(90_000);
  expect(await eu.copy('sum')).toBeDefined();
});
