/** What a manager makes of the Leases of workers, on an embedded API server. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorkerWatch, longestFence, type WorkerWatch } from '../../../../../manager/dispatch/lease/worker-watch.ts';
import { workerAnnotations, workerLeaseName, type WorkerAnnouncement } from '../../../../../shared/api/fence-leases.ts';
import type { Lease, Unsaved } from '../../../../../shared/api/kubernetes.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_CONTROLLER_NAME, WORKER_LABEL } from '../../../../../shared/api/names.ts';
import { LEASES, NAMESPACES } from '../../../../../shared/api/resources.ts';
import { toWireMicroTime } from '../../../../../shared/api/wire-time.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const namespace = 'leases';
const SAID: WorkerAnnouncement = {
  controllerName: WORKER_CONTROLLER_NAME,
  version: '1.2.3',
  fenceAfterSeconds: 60,
  fenceToken: 'token-1',
  fencedKinds: [],
  renewalsSeen: new Map(),
};
const NAME = workerLeaseName(WORKER_CONTROLLER_NAME);

let clock: FakeClock;
let client: KubeClient;
let stop: () => Promise<void>;
let changes: number;
let watching: (jobController: string) => Promise<WorkerWatch>;
beforeEach(async () => {
  clock = new FakeClock();
  const { plane, client: ofCluster } = await startCluster(clock);
  client = ofCluster;
  changes = 0;
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  watching = async (jobController) => {
    const onChanged = (): void => void changes++;
    const watch = createWorkerWatch({ client, clock, random: seededRandom(1), log: silentLogger, namespace, jobController, onChanged });
    running.push(watch.run(stopping.signal));
    await clock.advance(1_000);
    return watch;
  };
  stop = async () => {
    stopping.abort(new Error('the test is over'));
    await Promise.all(running);
    await plane.close();
  };
});
afterEach(() => stop());

type Said = Partial<WorkerAnnouncement> & { readonly holderIdentity?: string; readonly labels?: Record<string, string> };
const leaseOf = ({ holderIdentity = 'pod-1', labels = { [WORKER_LABEL]: 'true' }, ...said }: Said = {}): Unsaved<Lease> => {
  const announcement = { ...SAID, ...said };
  const name = workerLeaseName(announcement.controllerName);
  return {
    metadata: { namespace, name, labels, annotations: workerAnnotations(announcement) },
    spec: { holderIdentity, leaseDurationSeconds: 15 },
  };
};
async function announces(said?: Said): Promise<void> {
  await client.create(LEASES, leaseOf(said));
  await clock.advance(100);
}
async function renews(said?: Said): Promise<void> {
  const { metadata, spec } = leaseOf(said);
  const { resourceVersion, uid } = (await client.get(LEASES, { namespace, name: metadata.name ?? '' })).metadata;
  const renewTime = toWireMicroTime(clock.now());
  await client.replace(LEASES, { metadata: { ...metadata, resourceVersion, uid }, spec: { ...spec, renewTime } } as Lease);
  await clock.advance(100);
}
const pulseOf = (watch: WorkerWatch): string => {
  const finding = watch.finding(true);
  return finding.kind === 'Announced' ? finding.pulse : finding.kind;
};

describe('the worker of a cluster', () => {
  test('that announces itself is found with its fence, and beats: it has come while the cluster was watched', async () => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    expect(watch.finding(true)).toEqual({ kind: 'None', where: `leases/${NAME}`, mayStart: true });
    await announces({ fencedKinds: ['b', 'a', 'b'] });
    expect(changes).toBe(1);
    const { controllerName, version, fenceAfterSeconds } = SAID;
    const worker = { name: 'pod-1', version, controllerName, fenceAfterSeconds, fencedKinds: ['a', 'b'] };
    expect(watch.finding(true)).toEqual({ kind: 'Announced', where: `leases/${NAME}`, pulse: 'Beating', worker });
    expect(watch.isBuiltIn()).toBe(false);
  });

  test('that was there before is unproven until it renews, and silent once its Lease has run out', async () => {
    await announces();
    const watch = await watching(WORKER_CONTROLLER_NAME);
    expect(pulseOf(watch)).toBe('Unproven');
    await renews();
    expect(pulseOf(watch)).toBe('Beating');
    await clock.advance(14_899);
    expect(pulseOf(watch)).toBe('Beating');
    await clock.advance(1);
    expect(pulseOf(watch)).toBe('Silent');
    await renews();
    expect(pulseOf(watch)).toBe('Beating');
  });

  test('that never renews is silent, and never beats', async () => {
    await announces();
    const watch = await watching(WORKER_CONTROLLER_NAME);
    await clock.advance(15_000);
    expect(pulseOf(watch)).toBe('Silent');
  });

  test('out of reach is not seen, and unproven when it is in reach again', async () => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    await announces();
    expect(pulseOf(watch)).toBe('Beating');
    expect(watch.finding(false)).toEqual({ kind: 'OutOfSight' });
    await clock.advance(60_000);
    expect(pulseOf(watch)).toBe('Unproven');
    await clock.advance(14_999);
    expect(pulseOf(watch)).toBe('Unproven');
    await clock.advance(1);
    expect(pulseOf(watch)).toBe('Silent');
  });

  test('has stopped when nobody holds its Lease, and is gone with it', async () => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    await announces();
    await renews({ holderIdentity: '' });
    expect(pulseOf(watch)).toBe('Stopped');
    const before = changes;
    await client.delete(LEASES, { namespace, name: NAME }, {});
    await clock.advance(100);
    expect([pulseOf(watch), changes]).toEqual(['None', before + 1]);
  });

  test('is not seen before the Leases are listed', async () => {
    const watch = createWorkerWatch({
      client,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      namespace,
      jobController: WORKER_CONTROLLER_NAME,
      onChanged: () => undefined,
    });
    expect(watch.finding(true)).toEqual({ kind: 'OutOfSight' });
  });

  test('is no other object that has its name, and none without the label of workers', async () => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    await announces({ labels: {} });
    expect(pulseOf(watch)).toBe('None');
    await renews({ fenceAfterSeconds: -1 });
    expect(pulseOf(watch)).toBe('None');
  });

  test('of another controller name is told apart, while it runs', async () => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    await announces({ controllerName: 'example.com/other' });
    expect(watch.finding(true)).toMatchObject({
      kind: 'Other',
      jobController: WORKER_CONTROLLER_NAME,
      worker: { controllerName: 'example.com/other' },
    });
    await clock.advance(15_000);
    expect(pulseOf(watch)).toBe('None');
  });

  test('may be the built-in Job controller, unless a worker takes its place', async () => {
    const watch = await watching(BUILT_IN_JOB_CONTROLLER_NAME);
    await announces();
    expect([watch.finding(true), watch.isBuiltIn()]).toEqual([{ kind: 'BuiltIn' }, true]);
    await announces({ controllerName: BUILT_IN_JOB_CONTROLLER_NAME });
    expect([pulseOf(watch), watch.isBuiltIn()]).toEqual(['Beating', false]);
  });
});

describe('the fence token of a worker', () => {
  test.each<[string, Said, Parameters<WorkerWatch['fenceToken']>[0], string | undefined]>([
    ['is confirmed once the cluster shows its fence', {}, { fenceAfterSeconds: 60 }, 'token-1'],
    ['is confirmed while the cluster shows a longer one', {}, { fenceAfterSeconds: 61 }, 'token-1'],
    ['is confirmed while the cluster shows none, which is the longest', {}, { fenceAfterSeconds: 0 }, 'token-1'],
    ['waits while the cluster shows a shorter one', {}, { fenceAfterSeconds: 59 }, undefined],
    ['waits while the cluster shows one, and the worker has none', { fenceAfterSeconds: 0 }, { fenceAfterSeconds: 60 }, undefined],
    ['is confirmed where neither has one', { fenceAfterSeconds: 0 }, { fenceAfterSeconds: 0 }, 'token-1'],
    ['is confirmed where nothing was shown yet', {}, undefined, 'token-1'],
    ['waits while the cluster shows a kind that is not fenced', {}, { fenceAfterSeconds: 60, fencedKinds: ['a'] }, undefined],
    ['waits while one of two is not', { fencedKinds: ['a'] }, { fenceAfterSeconds: 60, fencedKinds: ['a', 'b'] }, undefined],
    ['is confirmed where the worker fences more', { fencedKinds: ['a', 'b'] }, { fenceAfterSeconds: 60, fencedKinds: ['a'] }, 'token-1'],
  ])('%s', async (_what, said, shown, token) => {
    const watch = await watching(WORKER_CONTROLLER_NAME);
    expect(watch.fenceToken(shown)).toBeUndefined();
    await announces(said);
    expect(watch.fenceToken(shown)).toBe(token);
  });

  test('the longest of fences is none at all, where one is none', () => {
    expect([longestFence([30, 60, 15]), longestFence([30, 0, 60])]).toEqual([60, 0]);
  });
});
