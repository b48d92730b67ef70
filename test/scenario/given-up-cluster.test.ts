/**
 * Goal: nobody writes on a worker cluster without the Lease of his origin there, also where its operator has given it up and it answers.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName, parseOriginHolder, readOriginLease } from '../../shared/api/fence-leases.ts';
import type { Job, Lease, ObjectKey } from '../../shared/api/kubernetes.ts';
import {
  CLUSTERS_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { JOBS, LEASES, NAMESPACES } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { noting } from '../support/noting-client.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';
import { writeWorkerLease } from '../support/worker-presence.ts';

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
const OUR_LEASE: ObjectKey = { namespace: 'kube-system', name: originLeaseName('m1') };

let clock: FakeClock;
let world: DispatchWorld;
/** What the first manager writes on worker clusters. */
let writes: string[];
let usualWay: (cluster: string) => KubeClient;
/** It reaches no worker cluster. */
let isCutOff: boolean;
beforeEach(async () => {
  clock = new FakeClock();
  writes = [];
  isCutOff = false;
  world = await createDispatchWorld({
    clock,
    workers: ['eu-1'],
    connectCluster(name, _access, usual) {
      usualWay = usual;
      return noting(usual(name), writes, () => isCutOff);
    },
  });
  await world.submit('sum', on('eu-1'));
  await world.settle(500);
  await world.worker('eu-1').start('sum');
});
afterEach(() => world.close());

const readiness = async (): Promise<string> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  return `${condition?.status} ${condition?.reason}`;
};
const ourLease = (): Promise<Lease> => world.worker('eu-1').client.get(LEASES, OUR_LEASE);
const holderOf = async () => parseOriginHolder((await ourLease()).spec?.holderIdentity);
const setState = (state: 'Active' | 'Lost'): Promise<unknown> =>
  world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: { spec: { state } } });
const giveUp = (): Promise<unknown> => setState('Lost');
const uidOf = async (client: KubeClient): Promise<string> =>
  (await client.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid;
const strayCopy = (name: string, finalizers: readonly string[] = []): Promise<Job> =>
  world.worker('eu-1').client.create(JOBS, {
    metadata: {
      name,
      namespace: NAMESPACE,
      finalizers: [...finalizers],
      labels: { [ORIGIN_LABEL]: 'm1' },
      annotations: { [ORIGIN_UID_ANNOTATION]: 'nobody', [DISPATCH_EPOCH_ANNOTATION]: '1' },
    },
    spec: {
      managedBy: WORKER_CONTROLLER_NAME,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
    },
  });

test('the Lease is kept on a cluster that its operator has given up for as long as it answers: nobody else is to write there meanwhile', async () => {
  const before = await ourLease();
  await giveUp();
  await world.settle(60_000);
  const after = await ourLease();
  expect(Date.parse(after.spec?.renewTime ?? '')).toBeGreaterThan(Date.parse(before.spec?.renewTime ?? '') + 40_000);
  expect(after.spec).toMatchObject({ holderIdentity: before.spec?.holderIdentity, leaseTransitions: 0 });
  expect(await readiness()).toBe('True Connected');
});

describe('a second manager cluster whose manager has the same id', () => {
  let other: DispatchWorld;
  let othersWrites: string[];
  beforeEach(async () => {
    othersWrites = [];
    other = await createDispatchWorld({
      clock,
      seed: 2,
      workers: ['eu-1'],
      connectCluster: (name) => noting(usualWay(name), othersWrites),
    });
  });
  afterEach(() => other.close());

  test('does not get a cluster that the first has given up and still looks after, and none of its copies there goes', async () => {
    await giveUp();
    await other.submit('theirs', on('eu-1'));
    await world.settle(5 * 60_000);
    expect(othersWrites).toEqual([]);
    expect((await holderOf())?.homeUid).toBe(await uidOf(world.home));
    expect((await world.worker('eu-1').copy('sum'))?.spec.suspend).toBe(true);
  });

  test('gets a cluster that the first has given up once that cannot reach it, and the first then leaves alone what it has there', async () => {
    await giveUp();
    // Only the way of the first is closed.
    isCutOff = true;
    await other.submit('theirs', on('eu-1'));
    await world.settle(2 * 60_000);
    expect((await holderOf())?.homeUid).toBe(await uidOf(other.home));
    expect(await world.worker('eu-1').copy('theirs')).toBeDefined();
    isCutOff = false;
    writes.length = 0;
    await world.settle(5 * 60_000);
    expect(await readiness()).toMatch(/^False OtherManager/);
    expect(writes.filter((each) => each.includes('jobs'))).toEqual([]);
    expect(await world.worker('eu-1').copy('theirs')).toBeDefined();
  });
});

const FAILED = { status: 500, headers: {}, body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 }) };
test('a manager that stands still between what it decided and its write does not write once the Lease may be somebody else’s', async () => {
  const { line } = world.worker('eu-1');
  const answered = Promise.withResolvers<void>();
  // The last question before an orphan is deleted takes longer than the Lease lasts, which cannot be renewed meanwhile.
  world.homeLine.instead = async ({ method, path }) => {
    if (method === 'GET' && path.endsWith('/jobs/stray')) await answered.promise;
    return undefined;
  };
  await strayCopy('stray');
  await world.settle(1_000);
  line.instead = ({ method, path }) => (method === 'PUT' && path.includes('/leases/') ? FAILED : undefined);
  await world.settle(60_000);
  world.homeLine.instead = undefined;
  writes.length = 0;
  answered.resolve();
  await world.settle(500);
  expect(writes.filter((each) => each.includes('jobs'))).toEqual([]);
  line.instead = undefined;
  await world.settle(120_000);
  expect(writes).toContain('delete jobs stray');
  expect(await world.worker('eu-1').copy('stray')).toBeUndefined();
});

/** As the worker there would. */
async function announce(fenceToken: string): Promise<void> {
  const { client } = world.worker('eu-1');
  const spec = { holderIdentity: 'pod-1', leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) };
  await writeWorkerLease(client, { fenceAfterSeconds: 60, fenceToken }, spec);
}
const reconciled = async (): Promise<string | undefined> => readOriginLease(await ourLease())?.reconciled;

test('the worker is told no more that its cluster is in order once that is given up, so that its fence trips, and told anew when it is taken back', async () => {
  await announce('t-1');
  await world.settle(50);
  await giveUp();
  await world.settle(11_000);
  expect(await reconciled()).toBeUndefined();
  await announce('t-2');
  await world.settle(60_000);
  expect(await reconciled()).toBeUndefined();
  await strayCopy('stray', ['test/keep']);
  await setState('Active');
  await world.settle(30_000);
  expect(await reconciled()).toBeUndefined();
  const body = { metadata: { finalizers: null } };
  await world.worker('eu-1').client.patch(JOBS, { namespace: NAMESPACE, name: 'stray' }, { type: 'merge', body });
  await world.settle(20_000);
  expect(await reconciled()).toBe('t-2');
});
