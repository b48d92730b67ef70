/**
 * Goal: of all managers that call themselves by one id, one works on a cluster; it and the worker there know of each other by their Leases.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName, parseOriginHolder, readOriginLease, workerAnnotations } from '../../shared/api/fence-leases.ts';
import type { Job, Lease, ObjectKey } from '../../shared/api/kubernetes.ts';
import {
  CLUSTERS_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  WORKER_CONTROLLER_NAME,
  WORKER_LABEL,
} from '../../shared/api/names.ts';
import { JOBS, LEASES, NAMESPACES } from '../../shared/api/resources.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { noting } from '../support/noting-client.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';
import { announceWorker, withoutWorkerLease, writeWorkerLease } from '../support/worker-presence.ts';

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });
const OUR_LEASE: ObjectKey = { namespace: 'kube-system', name: originLeaseName('m1') };

let clock: FakeClock;
let world: DispatchWorld;
/** What managers write on worker clusters, by whoever was started when. */
let writes: string[];
let usualWay: (cluster: string) => KubeClient;
beforeEach(async () => {
  clock = new FakeClock();
  writes = [];
  world = await createDispatchWorld({
    clock,
    workers: ['eu-1', 'us-2'],
    connectCluster(name, _access, usual) {
      usualWay = usual;
      return noting(usual(name), writes);
    },
  });
});
afterEach(() => world.close());

const conditionOf = async (type: string, name = 'eu-1', of = world): Promise<string> => {
  const { status } = await of.home.get(WORKER_CLUSTERS, { namespace: '', name });
  const condition = status?.conditions?.find((each) => each.type === type);
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
};
const readiness = (name = 'eu-1', of = world): Promise<string> => conditionOf('Ready', name, of);
const ourLease = (name = 'eu-1'): Promise<Lease> => world.worker(name).client.get(LEASES, OUR_LEASE);
const holderOf = async (name = 'eu-1') => parseOriginHolder((await ourLease(name)).spec?.holderIdentity);
const uidOf = async (client: KubeClient): Promise<string> =>
  (await client.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid;
const refusing = (code: number, reason: string): TransportResponse => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} by the test` }),
});

describe('the Lease of a manager', () => {
  test('is held before anything else is written on a cluster, and says who holds it and how far the manager cluster has come', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(500);
    const lease = await ourLease();
    expect(readOriginLease(lease)).toMatchObject({
      origin: 'm1',
      holder: { homeUid: await uidOf(world.home) },
      renewedMs: expect.any(Number),
      homeVersion: { resourceVersion: expect.stringMatching(/^\d+$/) },
    });
    expect(lease.spec?.leaseDurationSeconds).toBe(40);
    const { sent } = world.worker('eu-1').line;
    const written = sent.filter((call) => !call.startsWith('GET'));
    // There is no namespace of this release, so that Leases are where they were before it.
    const leases = ['switchyard-system', 'kube-system'].map(
      (namespace) => `POST /apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    );
    expect([...new Set(written)].slice(0, 2).toSorted()).toEqual(leases.toSorted());
    expect(sent.indexOf('GET /api/v1/nodes')).toBeGreaterThan(sent.indexOf(leases[1] ?? ''));
  });

  test('is renewed each ten seconds, and its time never goes back, though that of the day does', async () => {
    const before = await ourLease();
    clock.stepTimeOfDay(-3_600_000);
    await world.settle(20_500);
    const after = await ourLease();
    expect(Date.parse(after.spec?.renewTime ?? '')).toBeGreaterThan(Date.parse(before.spec?.renewTime ?? ''));
    expect(after.spec?.holderIdentity).toBe(before.spec?.holderIdentity);
    expect(after.spec?.leaseTransitions).toBe(0);
    expect(await readiness()).toBe('True Connected: connected');
  });

  test('is not renewed from the first failure on, until the cluster has answered something else', async () => {
    const { line } = world.worker('eu-1');
    line.instead = ({ method, path }) => (method === 'GET' && path.includes('/jobs') ? refusing(500, 'InternalError') : undefined);
    await world.settle(11_000);
    line.sent.length = 0;
    await world.settle(120_000);
    expect(line.sent.filter((call) => call.startsWith('PUT'))).toEqual([]);
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    expect(Date.parse(status?.lostSince ?? '')).toBeGreaterThanOrEqual(
      Math.floor(Date.parse((await ourLease()).spec?.renewTime ?? '') / 1000) * 1000,
    );
    line.instead = undefined;
    await world.settle(2_000);
    expect(line.sent.findIndex((call) => call.startsWith('PUT'))).toBeGreaterThan(0);
    expect(await readiness()).toBe('True Connected: connected');
  });

  test('is kept on an API server that takes twelve seconds an answer, where Jobs go on and nothing is told of the cluster', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(20_000);
    const before = (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).metadata.resourceVersion;
    const { line } = world.worker('eu-1');
    line.sent.length = 0;
    line.instead = async ({ signal }) => {
      await sleep(clock, 12_000, signal);
      return undefined;
    };
    for (let second = 0; second < 300; second++) {
      await world.settle(1_000);
      expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).metadata.resourceVersion).toBe(before);
      const renewedMs = Date.parse((await ourLease()).spec?.renewTime ?? '');
      expect(clock.now() - renewedMs).toBeLessThan(45_000);
    }
    expect(await readiness()).toBe('True Connected: connected');
    await world.submit('more', on('eu-1'));
    await world.settle(60_000);
    expect((await world.worker('eu-1').client.list(JOBS)).items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['more', 'sum']);
  });

  test('counts a cluster as lost no earlier than the last renewal that may have got there', async () => {
    const { line } = world.worker('eu-1');
    // Carried out, and the answer is lost.
    line.instead = async ({ method, path }) => {
      if (method !== 'PUT' || !path.includes('/leases/')) return undefined;
      const lease = await ourLease();
      await world.worker('eu-1').client.replace(LEASES, { ...lease, spec: { ...lease.spec, renewTime: toWireMicroTime(clock.now()) } });
      return refusing(500, 'InternalError');
    };
    await world.settle(60_000);
    expect(await readiness()).toMatch(/^False ConnectionFailed/);
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
    const renewed = Date.parse((await ourLease()).spec?.renewTime ?? '');
    expect(Date.parse(status?.lostSince ?? '')).toBeGreaterThanOrEqual(renewed - 3_000);
  });

  test('is let go of when the manager stops, and taken at once by the next', async () => {
    const first = await holderOf();
    await world.stop();
    expect((await ourLease()).spec?.holderIdentity).toBe('');
    await world.start();
    expect(await readiness()).toBe('True Connected: connected');
    const second = await holderOf();
    expect(second?.homeUid).toBe(first?.homeUid);
    expect(second?.instance).not.toBe(first?.instance);
  });

  test('is taken at once from a leader of the same cluster that has died', async () => {
    world.worker('eu-1').line.state = 'refused';
    await world.stop();
    expect((await holderOf())?.instance).toBeDefined();
    world.worker('eu-1').line.state = 'up';
    await world.start();
    expect(await readiness()).toBe('True Connected: connected');
    expect((await ourLease()).spec?.leaseTransitions).toBe(1);
  });

  test('that may not be used is a reason that names the rights and the namespace, and nothing is written', async () => {
    await world.stop();
    const { line } = world.worker('eu-1');
    line.instead = ({ path }) => (path.includes('/leases') ? refusing(403, 'Forbidden') : undefined);
    writes.length = 0;
    await world.start();
    await world.submit('sum', on('eu-1'));
    await world.settle(60_000);
    expect(await readiness()).toMatch(
      /^False LeaseForbidden: .*verbs get, list, watch, create and update on leases \(coordination.k8s.io\) in namespace "switchyard-system".*Forbidden by the test$/,
    );
    expect(writes.filter((each) => !each.endsWith(OUR_LEASE.name))).toEqual([]);
    line.instead = undefined;
    await world.settle(6_000);
    expect(await readiness()).toBe('True Connected: connected');
  });

  test('is looked for where the WorkerCluster says, and a namespace that is not there is a reason', async () => {
    const body = { spec: { leaseNamespace: 'elsewhere' } };
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body });
    await world.settle(6_000);
    expect(await readiness()).toMatch(/^False LeaseForbidden: .*namespace "elsewhere" there; name one that exists in spec.leaseNamespace/);
    await world.worker('eu-1').client.create(NAMESPACES, { metadata: { name: 'elsewhere' } });
    await world.settle(6_000);
    expect(await readiness()).toBe('True Connected: connected');
    expect((await world.worker('eu-1').client.list(LEASES, { namespace: 'elsewhere' })).items).toHaveLength(1);
  });
});

describe('a second manager cluster whose manager has the same id', () => {
  let other: DispatchWorld;
  let othersWrites: string[];
  beforeEach(async () => {
    othersWrites = [];
    await world.submit('sum', on('eu-1'));
    await world.settle(500);
    await world.worker('eu-1').start('sum');
    other = await createDispatchWorld({
      clock,
      seed: 2,
      workers: ['eu-1'],
      connectCluster: (name) => noting(usualWay(name), othersWrites),
    });
  });
  afterEach(() => other.close());

  test('writes nothing: no Job, no namespace, no Lease, and its WorkerCluster names the holder and what to do', async () => {
    await other.submit('stray', on('eu-1'));
    await world.settle(90_000);
    expect(await readiness('eu-1', other)).toBe(
      `False OtherManager: the manager of another cluster, whose namespace kube-system has UID ${await uidOf(world.home)}, holds it under the same id, ` +
        `"m1" (Lease kube-system/${OUR_LEASE.name}); give one of the two another --manager-id, or take this cluster from one of them`,
    );
    expect(othersWrites).toEqual([]);
    expect(await world.worker('eu-1').copy('sum')).toBeDefined();
    expect(await readiness()).toBe('True Connected: connected');
  });

  test('takes over when the first has been silent for its duration, and the first then stands back', async () => {
    const { line } = world.worker('eu-1');
    const first = await holderOf();
    // It dies, and cannot let go.
    line.instead = ({ method, path }) => (method === 'PUT' && path.includes('/leases/') ? refusing(500, 'InternalError') : undefined);
    await world.stop();
    line.instead = undefined;
    await world.settle(25_000);
    expect(await readiness('eu-1', other)).toMatch(/^False OtherManager/);
    expect(othersWrites).toEqual([]);
    await world.settle(20_000);
    expect((await holderOf())?.homeUid).toBe(await uidOf(other.home));
    expect(await readiness('eu-1', other)).toBe('True Connected: connected');
    await world.start();
    await world.settle(30_000);
    expect(await readiness()).toMatch(/^False OtherManager/);
    expect(first?.homeUid).toBe(await uidOf(world.home));
  });
});

test('of two managers of one manager cluster that nobody has elected, one goes on, and the other stands back until that one dies', async () => {
  const first = await holderOf();
  const second = await world.startSecond();
  await world.settle(30_000);
  const holder = await holderOf();
  expect(holder?.homeUid).toBe(first?.homeUid);
  expect(holder?.instance).not.toBe(first?.instance);
  const transitions = (await ourLease()).spec?.leaseTransitions;
  await world.settle(120_000);
  expect((await ourLease()).spec?.leaseTransitions).toBe(transitions);
  expect((await holderOf())?.instance).toBe(holder?.instance);
  await second.stop();
  await world.settle(6_000);
  expect((await holderOf())?.instance).toBe(first?.instance);
  expect(await readiness()).toBe('True Connected: connected');
});

describe('the worker there', () => {
  const WORKER_LEASE: ObjectKey = { namespace: 'kube-system', name: 'switchyard-worker' };
  const announcement = (fenceToken: string, fenceAfterSeconds = 60) =>
    workerAnnotations({
      controllerName: WORKER_CONTROLLER_NAME,
      version: '1.2.3',
      fenceAfterSeconds,
      fenceToken,
      fencedKinds: [],
      renewalsSeen: new Map(),
    });
  const spec = (holderIdentity = 'pod-1') => ({ holderIdentity, leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) });
  const announce = (fenceToken = 't-1'): Promise<void> =>
    writeWorkerLease(world.worker('eu-1').client, { version: '1.2.3', fenceAfterSeconds: 60, fenceToken }, spec());
  async function renew(token = 't-1', holder?: string, fenceAfterSeconds?: number): Promise<void> {
    const { client } = world.worker('eu-1');
    const lease = await client.get(LEASES, WORKER_LEASE);
    const metadata = { ...lease.metadata, annotations: announcement(token, fenceAfterSeconds) };
    await client.replace(LEASES, { ...lease, metadata, spec: spec(holder) });
  }
  const statusOf = async () => (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).status;
  const reconciled = async (): Promise<string | undefined> => readOriginLease(await ourLease())?.reconciled;

  test('that has not announced itself is waited for when its cluster joins, and within a minute the cluster is not ready', async () => {
    await world.addWorker('ap-3');
    await withoutWorkerLease(world.worker('ap-3').client);
    await world.settle(30_000);
    expect(await conditionOf('WorkerAlive', 'ap-3')).toBe(
      'Unknown Connecting: no worker has announced itself in Lease kube-system/switchyard-worker so far',
    );
    expect(await readiness('ap-3')).toBe('True Connected: connected');
    await world.settle(30_000);
    expect(await readiness('ap-3')).toMatch(
      /^False WorkerNotAlive: no worker has announced itself in Lease kube-system\/switchyard-worker: install chart/,
    );
    await world.submit('sum', on('ap-3'));
    await world.settle(60_000);
    expect(await world.worker('ap-3').copy('sum')).toBeUndefined();
    await announceWorker(world.worker('ap-3').client, world.clock);
    await world.settle(2_000);
    expect(await readiness('ap-3')).toBe('True Connected: connected');
    expect(await world.worker('ap-3').copy('sum')).toBeDefined();
  });

  test('tells who it is, and that it lives, without a write for each of its renewals', async () => {
    await announce();
    await world.settle(500);
    expect((await statusOf())?.worker).toEqual({
      name: 'pod-1',
      version: '1.2.3',
      controllerName: WORKER_CONTROLLER_NAME,
      fenceAfterSeconds: 60,
    });
    expect(await conditionOf('WorkerAlive')).toBe('True Renewing: worker "pod-1" renews its Lease');
    world.homeLine.sent.length = 0;
    for (let round = 0; round < 10; round++) {
      await renew();
      await world.settle(10_000);
    }
    expect(world.homeLine.sent.filter((call) => call.startsWith('PATCH'))).toEqual([]);
  });

  test('that dies keeps new Jobs away and does not make the cluster lost; when it is back they come', async () => {
    await announce();
    await world.submit('before', on('eu-1'));
    await world.settle(55_000);
    expect(await conditionOf('WorkerAlive')).toMatch(/^False LeaseExpired: worker "pod-1"/);
    expect(await readiness()).toMatch(/^False WorkerNotAlive/);
    expect((await statusOf())?.lostSince).toBeUndefined();
    await world.worker('eu-1').start('before');
    await world.settle(500);
    expect((await world.job('before')).status?.active).toBe(1);
    await world.submit('sum', on('eu-1'));
    await world.settle(30_000);
    expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
    await renew();
    await world.settle(2_000);
    expect(await readiness()).toBe('True Connected: connected');
    expect(await world.worker('eu-1').copy('sum')).toBeDefined();
  });

  test('that stops in order is not alive at once', async () => {
    await announce();
    await world.settle(500);
    await renew('t-1', '');
    await world.settle(500);
    expect(await conditionOf('WorkerAlive')).toBe('False LeaseReleased: the worker has stopped');
  });

  test('is taken for as alive as it was while its cluster is out of reach, and when the manager starts anew', async () => {
    await announce();
    await world.settle(500);
    const { line } = world.worker('eu-1');
    line.state = 'refused';
    await world.settle(120_000);
    expect(await conditionOf('WorkerAlive')).toMatch(/^True Renewing/);
    expect((await statusOf())?.worker?.fenceAfterSeconds).toBe(60);
    line.state = 'up';
    await world.settle(10_000);
    expect(await conditionOf('WorkerAlive')).toMatch(/^True Renewing/);
    await world.stop();
    await world.start();
    expect(await conditionOf('WorkerAlive')).toMatch(/^True Renewing/);
    await world.settle(55_000);
    expect(await conditionOf('WorkerAlive')).toMatch(/^False LeaseExpired/);
  });

  test('that writes garbage into its Lease denies only itself', async () => {
    const { client } = world.worker('eu-1');
    await withoutWorkerLease(client);
    await client.create(LEASES, {
      metadata: { ...WORKER_LEASE, labels: { [WORKER_LABEL]: 'true' }, annotations: { 'switchyard.dev/fence-after': '-1' } },
      spec: { holderIdentity: 'x'.repeat(5_000) },
    });
    await world.settle(500);
    expect(await conditionOf('WorkerAlive')).toMatch(/^Unknown Connecting: no worker has announced itself/);
    expect((await statusOf())?.worker).toBeUndefined();
    expect(await readiness()).toBe('True Connected: connected');
    expect(await readiness('us-2')).toBe('True Connected: connected');
  });

  test('is told at once that its cluster is in order when it starts', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(500);
    await announce('t-1');
    await world.settle(50);
    expect(await reconciled()).toBe('t-1');
    await renew('t-2');
    await world.settle(50);
    expect(await reconciled()).toBe('t-2');
    await world.settle(30_000);
    expect(await reconciled()).toBe('t-2');
  });

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

  test('is told only when copies that must not run are gone, and at once then', async () => {
    await world.submit('sum', on('eu-1'));
    await world.settle(500);
    await strayCopy('stray', ['test/keep']);
    await world.settle(50);
    await announce('t-1');
    await world.settle(60_000);
    expect((await world.worker('eu-1').copy('stray'))?.metadata.deletionTimestamp).toBeDefined();
    expect(await reconciled()).not.toBe('t-1');
    const body = { metadata: { finalizers: null } };
    await world.worker('eu-1').client.patch(JOBS, { namespace: NAMESPACE, name: 'stray' }, { type: 'merge', body });
    await world.settle(50);
    expect(await reconciled()).toBe('t-1');
  });

  test('is told by the next leader of the same cluster what the last one has told it', async () => {
    await announce('t-1');
    await world.settle(50);
    await world.stop();
    await world.start();
    const lease = await ourLease();
    expect(lease.spec?.leaseTransitions).toBe(1);
    expect(await reconciled()).toBe('t-1');
  });

  test('of a cluster that was lost is told after all copies there were listed anew', async () => {
    await announce('t-1');
    await world.submit('sum', on('eu-1'));
    await world.settle(500);
    const { line } = world.worker('eu-1');
    // Its watches stay silent when it is back: the cache of copies is what it was.
    line.hold();
    line.state = 'refused';
    await world.settle(20_000);
    await strayCopy('stray', ['test/keep']);
    line.state = 'up';
    await world.settle(5_000);
    line.release();
    await renew('t-2');
    await world.settle(30_000);
    expect(await reconciled()).toBe('t-1');
    const body = { metadata: { finalizers: null } };
    await world.worker('eu-1').client.patch(JOBS, { namespace: NAMESPACE, name: 'stray' }, { type: 'merge', body });
    await world.settle(21_000);
    expect(await world.worker('eu-1').copy('stray')).toBeUndefined();
    expect(await reconciled()).toBe('t-2');
  });

  test.each([600, 0])(
    'that comes back with a longer fence, or none (%i), is answered once its WorkerCluster shows that',
    async (seconds) => {
      await announce('t-1');
      await world.settle(500);
      expect(await reconciled()).toBe('t-1');
      // The manager cluster does not take what is found: whoever leads next would count on 60 s.
      world.homeLine.instead = ({ method, path }) =>
        method === 'PATCH' && path.includes('/workerclusters/') ? refusing(500, 'InternalError') : undefined;
      await renew('t-2', undefined, seconds);
      await world.settle(11_000);
      expect([await reconciled(), (await statusOf())?.worker?.fenceAfterSeconds]).toEqual(['t-1', 60]);
      world.homeLine.instead = undefined;
      await world.settle(15_000);
      expect([await reconciled(), (await statusOf())?.worker?.fenceAfterSeconds]).toEqual(['t-2', seconds]);
      // A shorter one is safe at once.
      await renew('t-3', undefined, 30);
      await world.settle(50);
      expect(await reconciled()).toBe('t-3');
    },
  );

  test('is not told that it is in order for a token that it no longer asks for', async () => {
    await announce('t-1');
    await world.settle(50);
    await renew('t-2');
    await renew('t-3');
    await world.settle(11_000);
    expect(await reconciled()).toBe('t-3');
  });
});
