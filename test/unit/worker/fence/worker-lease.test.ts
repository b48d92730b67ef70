import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workerLeaseName } from '../../../../shared/api/fence-leases.ts';
import type { Lease } from '../../../../shared/api/kubernetes.ts';
import { LEASES, NAMESPACES } from '../../../../shared/api/resources.ts';
import { createControlPlane, type ControlPlane } from '../../../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { createWorkerLease, type WorkerLease } from '../../../../worker/fence/worker-lease.ts';
import { createWorker } from '../../../../worker/worker.ts';
import { MIRRORED_JOBS_SETTINGS } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CONTROLLER = 'switchyard.dev/worker';
const KEY = { namespace: 'kube-system', name: workerLeaseName(CONTROLLER) };
const ANNOUNCEMENT = {
  controllerName: CONTROLLER,
  version: '1.2.3',
  fenceAfterSeconds: 60,
  fenceToken: 'token-1',
  fencedKinds: [],
  renewalsSeen: new Map(),
};

let clock: FakeClock;
let plane: ControlPlane;
let admin: KubeClient;
let losesNextAnswer = false;
let lease: WorkerLease;
beforeEach(async () => {
  clock = new FakeClock();
  plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger });
  admin = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  const way = plane.transport();
  const client = createKubeClient(
    {
      ...way,
      async send(request) {
        const answer = await way.send(request);
        if (!losesNextAnswer) return answer;
        losesNextAnswer = false;
        throw new Error('connection lost');
      },
    },
    { userAgent: 'worker', clock },
  );
  const common = { client, clock, namespace: KEY.namespace, controllerName: CONTROLLER, renewEveryMs: 10_000 };
  lease = createWorkerLease({ ...common, identity: 'pod-1' });
});
afterEach(() => plane.close());

test('makes the namespace of its Lease where there is none, and it may', async () => {
  const missing = { client: admin, clock, namespace: 'leases', controllerName: CONTROLLER, renewEveryMs: 10_000, identity: 'pod-1' };
  await createWorkerLease(missing).renew(ANNOUNCEMENT, new AbortController().signal);
  expect((await admin.list(LEASES, { namespace: 'leases' })).items).toHaveLength(1);
});

test('says what to do where it may not make that namespace', async () => {
  const client: KubeClient = {
    ...admin,
    get: (...given) => admin.get(...given),
    create: (resource, ...given) => (resource === NAMESPACES ? Promise.reject(new Error('forbidden')) : admin.create(resource, ...given)),
  };
  const missing = { client, clock, namespace: 'leases', controllerName: CONTROLLER, renewEveryMs: 10_000, identity: 'pod-1' };
  await expect(createWorkerLease(missing).renew(ANNOUNCEMENT, new AbortController().signal)).rejects.toThrow(
    'namespace "leases" of the Lease does not exist: make it, or name another one (--lease-namespace)',
  );
});

const renew = (): Promise<string> => lease.renew(ANNOUNCEMENT, new AbortController().signal);
const present = (): Promise<Lease> => admin.get(LEASES, KEY);
/** A backup holds it as it was then; the store has gone on since. */
async function putBack(earlier: Lease): Promise<void> {
  const { resourceVersion } = (await present()).metadata;
  await admin.replace(LEASES, { ...earlier, metadata: { ...earlier.metadata, resourceVersion } });
}

test('an earlier renewal in place of the last one is that of a restored cluster', async () => {
  await renew();
  const earlier = await present();
  await clock.advance(10_000);
  await renew();
  await putBack(earlier);
  await expect(renew()).rejects.toThrow(/^Lease kube-system\/switchyard-worker went back from .*as after a restore/);
});

test('one whose answer was lost is none, though the clock was set back before it, nor is one that somebody has written on', async () => {
  await renew();
  clock.stepTimeOfDay(-3_600_000);
  losesNextAnswer = true;
  await expect(renew()).rejects.toThrow('connection lost');
  await renew();
  await admin.patch(LEASES, KEY, { type: 'merge', body: { metadata: { annotations: { note: 'mine' } } } });
  await renew();
  expect((await present()).metadata.annotations).toMatchObject({ note: 'mine', 'switchyard.dev/fence-token': 'token-1' });
});

test('one that somebody has deleted is made anew', async () => {
  await renew();
  await admin.delete(LEASES, KEY);
  await renew();
  expect((await present()).spec?.holderIdentity).toBe('pod-1');
});

test('a worker whose Lease was put back ends, and is to be started anew', async () => {
  const stop = new AbortController();
  const worker = createWorker({
    client: admin,
    presence: { client: admin, identity: 'pod-1', version: '1.2.3', settings: { fenceAfterMs: 60_000, leaseNamespace: 'kube-system' } },
    registry: new Registry(),
    clock,
    random: seededRandom(2),
    log: silentLogger,
    settings: { ...MIRRORED_JOBS_SETTINGS, controllerName: CONTROLLER },
  });
  const ended = worker.run(stop.signal).then(
    () => 'stopped',
    (error: Error) => error.message,
  );
  await clock.advance(1_000);
  const earlier = await present();
  await clock.advance(20_000);
  await putBack(earlier);
  await clock.advance(15_000);
  stop.abort(new Error('the test is over'));
  await clock.advance(5_000);
  expect(await ended).toBe('the cluster went back in time; the worker starts anew');
});
