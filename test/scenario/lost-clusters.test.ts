/**
 * Goal: a Job whose cluster is lost runs elsewhere once its worker must have stopped it, never before, and says at any time what it waits
 * for.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../manager/api/records.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { FENCING_ANNOTATION, HOLD_ANNOTATION, ORIGIN_LABEL, POD_FENCE_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { readOriginLease } from '../../shared/api/fence-leases.ts';
import { JOBS, LEASES } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld, type WorkerSide } from './dispatch-world.ts';
import { startWorkerPresence, writeWorkerLease } from '../support/worker-presence.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const MINUTE = 60_000;
const lastTransitionTime = '2026-01-01T00:00:03Z';

let clock: FakeClock;
let world: DispatchWorld;
let eu: WorkerSide;
let us: WorkerSide;
const presences: { readonly stop: () => void }[] = [];
beforeEach(async () => {
  clock = new FakeClock();
  world = await createDispatchWorld({ clock });
  eu = world.worker('eu-1');
  us = world.worker('us-2');
});
afterEach(async () => {
  for (const presence of presences.splice(0)) presence.stop();
  await world.close();
});

const patchCluster = (name: string, body: object, status = false) =>
  world.home[status ? 'patchStatus' : 'patch'](WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body });
const setState = (name: string, state: string) => patchCluster(name, { spec: { state } });
const setQueue = (spec: object) => world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec } });
/** A worker there announces itself. */
async function announce(name: string, fenceAfterSeconds: number): Promise<void> {
  presences.push(await startWorkerPresence(world.worker(name).client, world.clock, fenceAfterSeconds));
  await world.settle(1_000);
}
/** One Job runs on eu-1, and us-2 would take it, too. */
async function runOnEu(parts: Parameters<DispatchWorld['submit']>[1] = {}): Promise<void> {
  await setState('us-2', 'Cordoned');
  await world.submit('sum', parts);
  await world.settle(1_000);
  await eu.report('sum', { active: 1, ready: 1, startTime: lastTransitionTime });
  await world.settle(1_000);
  await setState('us-2', 'Active');
}
async function lose(): Promise<void> {
  eu.line.state = 'swallowed';
  await world.settle(2 * MINUTE);
}
const recordOf = async (): Promise<AdmissionRecord | undefined> => {
  const written = writtenRecordOf(await world.job('sum'));
  return written.kind === 'Record' ? written.record : undefined;
};
const told = async (): Promise<string> =>
  (await world.job('sum')).status?.conditions?.find(({ type }) => type === 'Dispatched')?.message ?? '';

test('it runs elsewhere once the cluster was lost for --worker-lost-timeout, and what comes back there is deleted', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  expect(await told()).toMatch(/^dispatched to cluster "eu-1" \(placement 1\); lost since .*Z: given up after 15m, unless it comes back$/);
  await world.settle(12 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1' });
  expect(await us.copy('sum')).toBeUndefined();
  await world.settle(3 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'us-2', epoch: 2 });
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  eu.line.state = 'up';
  await world.settle(2 * MINUTE);
  expect(await eu.copy('sum')).toBeUndefined();
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('a copy that was given up, and whose marks were taken off while its cluster was lost, is deleted before its worker may go on', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.settle(15 * MINUTE);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  const { annotations = {} } = (await eu.copy('sum'))?.metadata ?? {};
  const nothing = Object.fromEntries(Object.keys(annotations).map((name) => [name, null]));
  const metadata = { labels: { [ORIGIN_LABEL]: null }, annotations: nothing, finalizers: ['test/keep'] };
  const edit = (body: object): Promise<unknown> => eu.client.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body });
  await edit({ metadata });
  const lease = { holderIdentity: 'worker', leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) };
  await writeWorkerLease(eu.client, { fenceAfterSeconds: 60, fenceToken: 'after-the-loss' }, lease);
  const answered = async (): Promise<string | undefined> => {
    const { items } = await eu.client.list(LEASES, {});
    return items.map(readOriginLease).find((each) => each !== undefined)?.reconciled;
  };
  eu.line.state = 'up';
  await world.settle(2 * MINUTE);
  expect((await eu.copy('sum'))?.metadata).toMatchObject({ labels: { [ORIGIN_LABEL]: 'm1' }, deletionTimestamp: expect.any(String) });
  expect(await answered()).not.toBe('after-the-loss');
  await edit({ metadata: { finalizers: null } });
  await world.settle(MINUTE);
  expect(await eu.copy('sum')).toBeUndefined();
  expect(await answered()).toBe('after-the-loss');
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('it comes back before that: nothing was lost, and nothing moves', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.settle(11 * MINUTE);
  eu.line.state = 'up';
  await world.settle(30 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1', epoch: 1 });
  expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await told()).toBe('dispatched to cluster "eu-1" (placement 1)');
});

test('its cluster flaps for less than a minute: the WorkerCluster says so, and the Job is not written', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  const jobWrites = (): number => world.homeLine.sent.filter((call) => call.startsWith('PATCH') && call.includes('/jobs/')).length;
  const before = jobWrites();
  for (let flap = 0; flap < 3; flap++) {
    eu.line.state = 'refused';
    await world.settle(40_000);
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    expect(status?.lostSince).toBeDefined();
    eu.line.state = 'up';
    await world.settle(20_000);
  }
  expect(jobWrites()).toBe(before);
  // For longer: twice, and no more.
  eu.line.state = 'refused';
  await world.settle(70_000);
  expect(await told()).toMatch(/; lost since /);
  eu.line.state = 'up';
  await world.settle(20_000);
  expect(await told()).toBe('dispatched to cluster "eu-1" (placement 1)');
  expect(jobWrites()).toBe(before + 2);
});

test('what passed before the manager was started anew counts', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.settle(6 * MINUTE);
  await world.stop();
  await world.start();
  await world.settle(3 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1' });
  await world.settle(6 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'us-2', epoch: 2 });
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('the next manager runs on a host whose clock is 20 min ahead: nothing moves before its time', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.stop();
  clock.stepTimeOfDay(20 * MINUTE);
  await world.start();
  await world.settle(12 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1', epoch: 1 });
  await world.settle(3 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'us-2', epoch: 2 });
});

test.each<[string, number | undefined, Parameters<DispatchWorld['submit']>[1], RegExp]>([
  ['no worker there has announced a fence', undefined, {}, /it is not moved: the worker there has announced no fence/],
  ['the worker there has no fence', 0, {}, /it is not moved: the worker there has announced no fence/],
  ['the Job is not to be fenced', 60, { annotations: { [FENCING_ANNOTATION]: 'off' } }, /it is not moved: its pods are not fenced/],
])('it stays for ever, and says why: %s', async (_why, fence, parts, message) => {
  if (fence !== undefined) await announce('eu-1', fence);
  await runOnEu(parts);
  await lose();
  await world.settle(120 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1' });
  expect((await world.job('sum')).spec.suspend).toBe(false);
  expect(await told()).toMatch(message);
});

test('its queue has it wait: it stays until the cluster is given up by its operator', async () => {
  await setQueue({ onClusterLost: 'Wait' });
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.settle(60 * MINUTE);
  expect(await told()).toContain('its ClusterQueue has it wait (onClusterLost: Wait)');
  await setState('eu-1', 'Lost');
  await world.settle(MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1' });
  await world.settle(2 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'us-2', epoch: 2 });
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('its queue moves only what is certain to have stopped: a Job with a pod fence moves, also where no worker was alive, and one without stays and says what frees it', async () => {
  await setQueue({ onClusterLost: 'RequeueFenced' });
  await announce('eu-1', 60);
  await runOnEu({ annotations: { [POD_FENCE_ANNOTATION]: 'on' } });
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1', podFence: 120 });
  const sidecars = (await eu.copy('sum'))?.spec.template.spec?.initContainers?.map(({ name }) => name);
  expect(sidecars).toEqual(['switchyard-pod-fence']);
  await setState('us-2', 'Cordoned');
  await world.submit('plain', {});
  await world.settle(1_000);
  await setState('us-2', 'Active');
  for (const presence of presences.splice(0)) presence.stop();
  await world.settle(2 * MINUTE);
  await lose();
  await world.settle(14 * MINUTE);
  expect(await recordOf()).toMatchObject({ cluster: 'us-2', epoch: 2, podFence: 120 });
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false, podReplacementPolicy: 'Failed' } });
  await world.settle(60 * MINUTE);
  const plain = await world.job('plain');
  expect(plain.spec.suspend).toBe(false);
  expect(plain.status?.conditions?.find(({ type }) => type === 'Dispatched')?.message).toMatch(
    /it is not moved: its ClusterQueue moves only Jobs whose pods are certain to have ended \(onClusterLost: RequeueFenced\), and its pods have no pod fence/,
  );
  expect(await us.copy('plain')).toBeUndefined();
  await setState('eu-1', 'Lost');
  await world.settle(3 * MINUTE);
  expect(await us.copy('plain')).toMatchObject({ spec: { suspend: false } });
});

test('its queue has the pods of all Jobs fenced that can be: one that cannot runs without, and one that insists waits with the reason', async () => {
  await setQueue({ podFence: 'Enabled', onClusterLost: 'RequeueFenced' });
  const restarts = {
    template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] } },
  };
  await world.submit('fenced', {});
  await world.submit('restarts', { spec: restarts });
  // Past the webhook.
  const labels = { [QUEUE_NAME_LABEL]: 'main' };
  const insisting = { name: 'insists', namespace: NAMESPACE, labels, annotations: { [POD_FENCE_ANNOTATION]: 'on' } };
  await world.home.create(JOBS, JOB_KIND.prepared({ metadata: insisting, spec: restarts }));
  await world.settle(2_000);
  const podFences = await Promise.all(
    ['fenced', 'restarts', 'insists'].map(async (name) => {
      const written = writtenRecordOf(await world.job(name));
      return written.kind === 'Record' ? written.record.podFence : written.kind;
    }),
  );
  expect(podFences).toEqual([120, undefined, 'None']);
  const reserved = (await world.job('insists')).status?.conditions?.find(({ type }) => type === 'QuotaReserved');
  expect(reserved).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/pod-fence is "on", and cannot be met: spec.template.spec.restartPolicy must be Never/),
  });
});

test('its queue has it fail: it ends, and what is left there goes when the cluster is back', async () => {
  await setQueue({ onClusterLost: 'Fail' });
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.settle(15 * MINUTE);
  const job = await world.job('sum');
  expect(conditionsOf(job)).toEqual(expect.arrayContaining(['FailureTarget=True ClusterLost', 'Failed=True ClusterLost']));
  expect(await us.copy('sum')).toBeUndefined();
  eu.line.state = 'up';
  await world.settle(2 * MINUTE);
  expect(await eu.copy('sum')).toBeUndefined();
});

test('it was to rest when the cluster was lost: it gives its quota back when it is fenced off, and runs elsewhere when it is released', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  eu.line.state = 'swallowed';
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body: { spec: { suspend: true } } });
  await world.settle(14 * MINUTE);
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=False FencedOff');
  await world.settle(3 * MINUTE);
  expect(conditionsOf(await world.job('sum'))).toContain('Dispatched=False FencedOff');
  const body = { metadata: { annotations: { [HOLD_ANNOTATION]: null } } };
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body });
  await world.settle(5_000);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('it is deleted while its cluster is lost: it goes once it is fenced off, and what is left there when the cluster is back', async () => {
  await announce('eu-1', 60);
  await runOnEu();
  await lose();
  await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'sum' });
  await world.settle(12 * MINUTE);
  expect(await told()).toMatch(/lost since .*Z: given up after 15m, unless it comes back$/);
  await world.settle(3 * MINUTE);
  expect((await world.home.list(JOBS)).items).toEqual([]);
  eu.line.state = 'up';
  await world.settle(2 * MINUTE);
  expect(await eu.copy('sum')).toBeUndefined();
});

test('an operator gives up a cluster without a fence: his word is enough', async () => {
  await runOnEu();
  await lose();
  await setState('eu-1', 'Lost');
  await world.settle(50_000);
  expect(await recordOf()).toMatchObject({ cluster: 'eu-1' });
  await world.settle(30_000);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
});

test('an operator gives up a cluster that answers: its Jobs leave it as it shows that they rest', async () => {
  await runOnEu();
  await setState('eu-1', 'Lost');
  await world.settle(10 * MINUTE);
  expect(await eu.copy('sum')).toMatchObject({ spec: { suspend: true } });
  expect(await us.copy('sum')).toBeUndefined();
  await eu.report('sum', {
    active: 0,
    ready: 0,
    conditions: [{ type: 'Suspended', status: 'True', reason: 'S', message: '', lastTransitionTime }],
  });
  await world.settle(5_000);
  expect(await us.copy('sum')).toMatchObject({ spec: { suspend: false } });
  expect(await eu.copy('sum')).toBeUndefined();
});
