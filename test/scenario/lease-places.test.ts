/**
 * Goal: a manager of this release and workers of an earlier one, or the reverse, answer each other without a gap, and never believe an
 * answer that is none.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName, readOriginLease, workerAnnotations, workerLeaseName } from '../../shared/api/fence-leases.ts';
import {
  CLUSTERS_ANNOTATION,
  DEFAULT_LEASE_NAMESPACE,
  FORMER_LEASE_NAMESPACE,
  ORIGIN_LABEL,
  WORKER_CONTROLLER_NAME,
  WORKER_LABEL,
} from '../../shared/api/names.ts';
import { LEASES, NAMESPACES } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { withoutWorkerLease, writeWorkerLease } from '../support/worker-presence.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';

const OURS = DEFAULT_LEASE_NAMESPACE;
const FORMER = FORMER_LEASE_NAMESPACE;
const NAME = originLeaseName('m1');

let clock: FakeClock;
let world: DispatchWorld;
beforeEach(async () => {
  clock = new FakeClock();
  world = await createDispatchWorld({ clock, workers: ['eu-1'] });
});
afterEach(() => world.close());

const east = () => world.worker('eu-1');
/** What the chart of this release makes there. */
const makeNamespace = () => east().client.create(NAMESPACES, { metadata: { name: OURS } });
const leaseIn = async (namespace: string) =>
  (await east().client.list(LEASES, { namespace })).items.find(({ metadata }) => metadata.name === NAME);
const answerIn = async (namespace: string): Promise<string | undefined> => {
  const lease = await leaseIn(namespace);
  return lease && readOriginLease(lease)?.reconciled;
};
const readiness = async (): Promise<string> => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
};
/** A worker renews its Leases there, and asks for this token. */
async function workerIn(namespaces: readonly string[], fenceToken: string, fenceAfterSeconds = 60): Promise<void> {
  for (const namespace of namespaces) {
    const labels = { [WORKER_LABEL]: 'true' };
    const said = {
      controllerName: WORKER_CONTROLLER_NAME,
      version: '1.0.0',
      fenceAfterSeconds,
      fenceToken,
      fencedKinds: [],
      renewalsSeen: new Map(),
    };
    const metadata = { namespace, name: workerLeaseName(WORKER_CONTROLLER_NAME), labels, annotations: workerAnnotations(said) };
    const spec = { holderIdentity: 'worker', leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await east().client.patch(LEASES, metadata, { type: 'apply', body, force: true }, { fieldManager: 'worker' });
  }
}
const refusal = (code: number, reason: string): TransportResponse => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} by the test` }),
});
const forbidden = refusal(403, 'Forbidden');
const unwell = refusal(500, 'InternalError');
const refuse = (namespace: string): void =>
  void (east().line.instead = ({ path }) => (path.includes(`/namespaces/${namespace}/leases`) ? forbidden : undefined));
const shownFence = async (): Promise<number | undefined> =>
  (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).status?.worker?.fenceAfterSeconds;

describe('a manager of this release', () => {
  test('keeps its Lease where a worker of an earlier release looks, and answers it there', async () => {
    await workerIn([FORMER], 'old');
    await world.settle(15_000);
    expect([await readiness(), await answerIn(FORMER), await shownFence()]).toEqual(['True Connected', 'old', 60]);
  });

  test('keeps none in kube-system where nobody ever looked there', async () => {
    await world.addWorker('us-2', {});
    const client = world.worker('us-2').client;
    await world.stop();
    const before = (await client.list(LEASES, { namespace: FORMER })).items;
    for (const { metadata } of before) await client.delete(LEASES, { namespace: FORMER, name: metadata.name });
    await client.create(NAMESPACES, { metadata: { name: OURS } });
    await world.start();
    await world.settle(15_000);
    expect((await client.list(LEASES, { namespace: FORMER })).items).toEqual([]);
    expect((await client.list(LEASES, { namespace: OURS })).items.map(({ metadata }) => metadata.name)).toEqual([NAME]);
  });

  test('tries again where no namespace is open to it because its only create there has failed', async () => {
    await world.addWorker('us-2', {});
    const { client, line } = world.worker('us-2');
    await world.stop();
    await withoutWorkerLease(client);
    for (const { metadata } of (await client.list(LEASES, { namespace: FORMER })).items)
      await client.delete(LEASES, { namespace: FORMER, name: metadata.name });
    let creates = 0;
    line.instead = ({ method, path }) =>
      method === 'POST' && path.includes(`/namespaces/${FORMER}/leases`) && creates++ === 0 ? unwell : undefined;
    await world.start();
    await world.settle(15_000);
    const leases = (await client.list(LEASES, { namespace: FORMER })).items;
    expect([creates, leases.map(({ metadata }) => metadata.name)]).toEqual([2, [NAME]]);
  });

  test('finds a worker that makes the namespace of the Leases only after the manager has looked there', async () => {
    const { client } = await world.addWorker('us-2', {});
    await withoutWorkerLease(client);
    await world.settle(5_000);
    expect((await client.list(LEASES, { namespace: FORMER })).items.map(({ metadata }) => metadata.name)).toEqual([NAME]);
    await client.create(NAMESPACES, { metadata: { name: OURS } });
    await writeWorkerLease(
      client,
      { fenceToken: 'new', fenceAfterSeconds: 60 },
      { holderIdentity: 'worker', leaseDurationSeconds: 40 },
      OURS,
    );
    await world.settle(25_000);
    const [ours] = (await client.list(LEASES, { namespace: OURS })).items.filter(({ metadata }) => metadata.name === NAME);
    expect(ours && readOriginLease(ours)?.reconciled).toBe('new');
  });

  test('tries once whether its namespace is there when it begins to lead beside a worker of an earlier release', async () => {
    await workerIn([FORMER], 'old');
    await world.stop();
    const before = east().line.sent.length;
    await world.start();
    await world.settle(15_000);
    const creates = east()
      .line.sent.slice(before)
      .filter((call) => call.startsWith('POST') && call.includes('/leases'));
    expect([await readiness(), creates]).toEqual(['True Connected', [expect.stringContaining(`/namespaces/${OURS}/leases`)]]);
  });

  test('creates no Lease where the leader before it has left them', async () => {
    await makeNamespace();
    await workerIn([OURS], 'new');
    await world.stop();
    await world.start();
    await world.settle(15_000);
    await world.stop();
    const before = east().line.sent.length;
    await world.start();
    await world.settle(15_000);
    const creates = east()
      .line.sent.slice(before)
      .filter((call) => call.startsWith('POST') && call.includes('/leases'));
    expect([await readiness(), creates]).toEqual(['True Connected', []]);
  });

  test('follows its worker when that is upgraded, without being out of contact, and answers it in both namespaces', async () => {
    await workerIn([FORMER], 'old');
    await world.settle(15_000);
    const since = async (): Promise<unknown> =>
      (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' })).status?.conditions?.find(({ type }) => type === 'Ready')
        ?.lastTransitionTime;
    const before = await since();
    await makeNamespace();
    await workerIn([OURS, FORMER], 'new');
    await world.settle(30_000);
    expect([await answerIn(OURS), await answerIn(FORMER), await since()]).toEqual(['new', 'new', before]);
  });

  test('goes on in its own namespace when the rights in the former one end, and renews there alone', async () => {
    await workerIn([FORMER], 'old');
    await makeNamespace();
    await world.stop();
    await world.start();
    await workerIn([OURS, FORMER], 'new');
    await world.settle(15_000);
    expect([await answerIn(OURS), await answerIn(FORMER)]).toEqual(['new', 'new']);
    refuse(FORMER);
    const renewed = (await leaseIn(FORMER))?.spec?.renewTime;
    for (let renewals = 0; renewals < 6; renewals++) {
      await workerIn([OURS], 'new');
      await world.settle(10_000);
    }
    expect([await readiness(), (await leaseIn(FORMER))?.spec?.renewTime]).toEqual(['True Connected', renewed]);
    await workerIn([OURS], 'newer');
    await world.settle(15_000);
    expect([await answerIn(OURS), await answerIn(FORMER)]).toEqual(['newer', 'new']);
  });

  test('takes a Lease that a worker left behind for no answer to the one that is at work, and counts on the longer fence of the two', async () => {
    await makeNamespace();
    await workerIn([OURS], 'left', 30);
    await workerIn([FORMER], 'at work', 600);
    await world.stop();
    await world.start();
    await world.settle(30_000);
    expect([await answerIn(OURS), await answerIn(FORMER), await shownFence()]).toEqual(['left', 'at work', 600]);
  });

  test('stands back from another manager of its id that holds the former Lease, and writes nothing', async () => {
    await world.stop();
    const labels = { [ORIGIN_LABEL]: 'm1' };
    const [lease] = (await east().client.list(LEASES, { namespace: FORMER })).items;
    await makeNamespace();
    const held = {
      metadata: { ...lease?.metadata, namespace: FORMER, name: NAME, labels },
      spec: { holderIdentity: 'other-home_1', leaseDurationSeconds: 40 },
    };
    await east().client.replace(LEASES, held as never);
    await world.start();
    await world.submit('sum', { annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
    await world.settle(20_000);
    expect([await readiness(), await leaseIn(OURS), await east().copy('sum')]).toEqual(['False OtherManager', undefined, undefined]);
  });

  test('has its cluster say what is missing where no namespace is open to it', async () => {
    await world.stop();
    east().line.instead = ({ path }) => (path.includes('/leases') ? forbidden : undefined);
    await world.start();
    await world.settle(20_000);
    expect(await readiness()).toBe('False LeaseForbidden');
    east().line.instead = undefined;
    await world.settle(10_000);
    expect(await readiness()).toBe('True Connected');
  });
});
