import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { workerLeaseName } from '../../../../shared/api/fence-leases.ts';
import { JOBS, LEASES } from '../../../../shared/api/resources.ts';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { createWorld, refusal, SUCCEEDED, type World } from '../worker-world.ts';
import { BERLIN, CONTROLLER, FENCE, fenceScene } from './fence-scene.ts';

let world: World;
const { workerLease, announced, token, renew, inContact, aCopy, podsOf, running, told } = fenceScene(() => world);
const start = async (fence = FENCE): Promise<void> => {
  world = await createWorld({ controllerName: CONTROLLER }, fence);
  await world.clock.advance(1_000);
};
afterEach(() => world.stop());

describe('a manager in contact', () => {
  beforeEach(() => start());

  test('has its copies run, and the worker’s Lease tells it who runs them', async () => {
    await renew();
    await world.clock.advance(0);
    await aCopy('job', { parallelism: 2 });
    await inContact(100);
    expect(await running('job')).toBe(2);
    const { metadata, spec } = await workerLease();
    expect(metadata.labels).toEqual({ 'switchyard.dev/worker': 'true' });
    expect(spec).toMatchObject({ holderIdentity: 'pod-1', leaseDurationSeconds: 40, leaseTransitions: 0 });
    expect(world.clock.now() - Date.parse(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000);
    expect(await announced()).toMatchObject({ controllerName: CONTROLLER, version: '1.2.3', fenceAfterSeconds: 60 });
    expect([...((await announced())?.renewalsSeen.keys() ?? [])]).toEqual([BERLIN]);
    expect(await told('job')).toEqual([]);
    expect(await world.metric('switchyard_worker_fenced', { origin: BERLIN })).toBe(0);
  });

  test('that has not answered yet has them held: what runs goes on, and no pod comes', async () => {
    await renew(BERLIN, 'the token of an earlier worker');
    await world.clock.advance(0);
    await aCopy('job');
    await world.pass();
    expect(await world.pods()).toEqual([]);
    expect(await world.status('job')).toMatchObject({ ready: 0 });
    await inContact(5);
    expect(await running('job')).toBe(1);
  });

  test('which knows of no fences has them run', async () => {
    await aCopy('job');
    await world.pass(100);
    expect(await running('job')).toBe(1);
  });
});

describe('a manager out of reach', () => {
  beforeEach(async () => {
    await start();
    await inContact(20);
  });

  test.each([
    ['taken away', null],
    ['changed to a manager that there is not', 'nobody'],
  ])('has a copy stopped whose label was %s, for its template says whose it is', async (_, label) => {
    const env = [
      { name: 'SWITCHYARD_EPOCH', value: '1' },
      { name: 'SWITCHYARD_JOB', value: 'ns/job' },
      { name: 'SWITCHYARD_JOB_UID', value: 'uid-1' },
      { name: 'SWITCHYARD_MANAGER', value: BERLIN },
    ];
    await aCopy('job', { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i', env }] } } });
    await inContact(5);
    const body = { metadata: { labels: { 'switchyard.dev/origin': label } } };
    await world.admin.patch(JOBS, { namespace: 'ns', name: 'job' }, { type: 'merge', body });
    await world.clock.advance(50_000);
    expect(await running('job')).toBe(1);
    await world.clock.advance(15_000);
    expect([await running('job'), await told('job')]).toEqual([0, ['Fenced=True ManagerOutOfReach']]);
    await inContact(5);
    expect(await running('job')).toBe(1);
  });

  test('has its copies stopped though the server swallows a request before the fence trips, and others after that', async () => {
    await aCopy('job', { parallelism: 2 });
    await inContact(5);
    let isDark = false;
    world.fault = ({ method, path, signal }) => {
      if (!isDark || method === 'GET' || /\/(leases|events)/.test(path)) return undefined;
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('no answer'))));
    };
    // The last renewal was up to 5 s ago, and the worker's own Lease before that ten at most: the fence trips after 45 to 60 s.
    await world.clock.advance(40_000);
    isDark = true;
    const [first] = await podsOf('job');
    await world.setPod(first!, SUCCEEDED);
    await world.clock.advance(36_000);
    expect(await running('job')).toBe(1);
    isDark = false;
    await world.clock.advance(10_000);
    expect([await running('job'), await told('job')]).toEqual([0, ['Fenced=True ManagerOutOfReach']]);
  });

  test('has its copies stopped, with what they have completed, until it has answered', async () => {
    await aCopy('indexed', { completionMode: 'Indexed', completions: 3, parallelism: 2 });
    await aCopy('plain', { completions: 3, parallelism: 2 });
    await inContact(5);
    for (const name of ['indexed', 'plain']) {
      const [first] = await podsOf(name);
      await world.setPod(first!, SUCCEEDED);
    }
    await inContact(5);
    const [before, startTime] = [await token(), (await world.status('indexed')).startTime];
    // The last renewal was five seconds ago, and the worker's own Lease before that ten seconds at most.
    await world.clock.advance(44_000);
    expect([await running('indexed'), await running('plain')]).toEqual([2, 2]);
    await world.clock.advance(12_000);
    expect([await running('indexed'), await running('plain')]).toEqual([0, 0]);
    for (const name of ['indexed', 'plain']) {
      expect(await told(name)).toEqual(['Fenced=True ManagerOutOfReach']);
      const { succeeded, failed, active } = await world.status(name);
      expect({ succeeded, failed, active }).toEqual({ succeeded: 1, failed: undefined, active: undefined });
      const { spec, status } = (await world.job(name))!;
      expect([spec.suspend, status?.startTime]).toEqual([false, startTime]);
    }
    expect(await token()).not.toBe(before);
    expect(await world.metric('switchyard_worker_fenced', { origin: BERLIN })).toBe(1);
    expect(await world.metric('switchyard_worker_fence_trips_total', { origin: BERLIN })).toBe(1);

    // It is back, but has not looked at the cluster.
    await renew(BERLIN, before);
    await world.clock.advance(30_000);
    expect([await running('indexed'), await running('plain')]).toEqual([0, 0]);

    await inContact(5);
    expect([await running('indexed'), await running('plain')]).toEqual([2, 2]);
    expect(await told('indexed')).toEqual(['Fenced=False ManagerInReach']);
    expect(await world.status('indexed')).toMatchObject({ succeeded: 1, completedIndexes: '0' });
    const events = await world.events();
    expect(Object.entries(events).filter(([text]) => /Fence/.test(text))).toEqual([
      [expect.stringMatching(/^Warning Fenced: The manager of this copy is out of reach/), 2],
      [expect.stringMatching(/^Normal FenceLifted: The manager of this copy has come back/), 2],
    ]);
    for (const name of ['indexed', 'plain'])
      for (const pod of await podsOf(name)) if (pod.status?.phase !== 'Succeeded') await world.setPod(pod, SUCCEEDED);
    await inContact(5);
    expect([await told('indexed'), await told('plain')]).toEqual([
      ['Fenced=False ManagerInReach', 'SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'],
      ['Fenced=False ManagerInReach', 'SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'],
    ]);
  });

  test('has no pod made of a copy that it deleted before it answered, though the worker hears of the answer first', async () => {
    await aCopy('moved');
    await aCopy('stays');
    await inContact(5);
    await world.clock.advance(90_000);
    expect([await running('moved'), await running('stays')]).toEqual([0, 0]);
    world.hold('jobs');
    await world.admin.delete(JOBS, { namespace: 'ns', name: 'moved' }, { propagationPolicy: 'Background' });
    world.calls.length = 0;
    await inContact(5);
    // One pod, of the other.
    expect(world.calls.filter((call) => call === 'POST /api/v1/namespaces/ns/pods')).toHaveLength(1);
    expect([await running('moved'), await running('stays')]).toEqual([0, 1]);
    world.hold();
    await inContact(5);
    expect([await running('moved'), await running('stays')]).toEqual([0, 1]);
    // Of what is seen after that nobody asks.
    world.calls.length = 0;
    await aCopy('later');
    await inContact(5);
    expect(await running('later')).toBe(1);
    expect(world.calls.filter((call) => call.startsWith('GET'))).toEqual([]);
  });

  test('concerns no Jobs but its copies that ask for a fence', async () => {
    await renew('paris');
    await world.clock.advance(0);
    await aCopy('fenced');
    await aCopy('nobodys', {}, { labels: {} });
    await aCopy('off', {}, { annotations: { 'switchyard.dev/fencing': 'off' } });
    await aCopy('of-paris', {}, { labels: { 'switchyard.dev/origin': 'paris' } });
    await inContact(70, 'paris');
    const counts = [];
    for (const name of ['fenced', 'nobodys', 'off', 'of-paris']) counts.push(await running(name));
    expect(counts).toEqual([0, 1, 1, 1]);
  });

  test('has a copy that comes in the meantime stopped from the start, and one that is asked for no fence go on', async () => {
    await world.clock.advance(70_000);
    await aCopy('late');
    await world.pass();
    expect([await running('late'), await told('late')]).toEqual([0, ['Fenced=True ManagerOutOfReach']]);
    await world.patchJob({ metadata: { annotations: { 'switchyard.dev/fencing': 'off' } } }, 'late');
    await world.pass();
    expect([await running('late'), await told('late')]).toEqual([1, ['Fenced=False ManagerInReach']]);
  });

  test('has its copies stopped at once by a worker that is started after the time of the fence', async () => {
    await aCopy('job');
    await inContact(5);
    await world.clock.advance(40_000);
    expect(await running('job')).toBe(1);
    await world.restart();
    await world.clock.advance(0);
    // Part of the time was over before.
    expect(await running('job')).toBe(1);
    await world.clock.advance(20_000);
    expect(await running('job')).toBe(0);
    await world.restart();
    await world.pass();
    expect(await told('job')).toEqual(['Fenced=True ManagerOutOfReach']);
    await inContact(5);
    expect(await running('job')).toBe(1);
  });

  test('is not made up for by steps of the time of day, and not brought about by them', async () => {
    await aCopy('job');
    await inContact(5);
    world.clock.stepTimeOfDay(86_400_000);
    await inContact(30);
    expect(await running('job')).toBe(1);
    await world.clock.advance(30_000);
    world.clock.stepTimeOfDay(-30_000);
    await world.clock.advance(30_000);
    expect(await running('job')).toBe(0);
  });

  test('is over when the machine of the worker has slept for as long, though its timers have not counted that', async () => {
    await aCopy('job');
    await inContact(5);
    expect(await running('job')).toBe(1);
    world.clock.sleepMachine(60_000);
    await world.clock.advance(15_000);
    expect(await running('job')).toBe(0);
    expect(await told('job')).toEqual(['Fenced=True ManagerOutOfReach']);
  });

  test('while pods are created gets no more of them', async () => {
    let asked = 0;
    world.fault = async ({ method, path }) => {
      if (method !== 'POST' || !path.includes('/pods') || ++asked !== 260) return undefined;
      // The Lease goes back, and the worker sees that.
      world.clock.stepTimeOfDay(-3_600_000);
      await renew();
      world.clock.stepTimeOfDay(3_600_000);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    };
    await aCopy('job', { parallelism: 500, completions: 500 });
    await world.pass(20);
    // Those that were on their way, of a batch of 245.
    expect(asked).toBeLessThan(400);
    expect(await running('job')).toBe(0);
    expect(await told('job')).toEqual(['Fenced=True ManagerOutOfReach']);
    expect((await world.status('job')).failed).toBeUndefined();
  });

  test('a cluster that was restored stops its copies at once', async () => {
    await aCopy('job');
    await inContact(10);
    world.clock.stepTimeOfDay(-3_600_000);
    await renew();
    world.clock.stepTimeOfDay(3_600_000);
    await world.pass();
    expect(await running('job')).toBe(0);
    await inContact(5);
    expect(await running('job')).toBe(1);
  });
});

describe('trouble with Leases', () => {
  const isLease = (path: string): boolean => path.includes('/leases');
  const isOwn = (path: string): boolean => path.includes('/leases/switchyard-worker');

  test('renewals that cannot be written are logged, and tried again; managers that are seen still count', async () => {
    await start();
    await aCopy('job');
    await inContact(10);
    world.fault = ({ method, path }) =>
      method === 'PUT' && isOwn(path) ? refusal(500, 'InternalError', 'the storage is full') : undefined;
    await inContact(120);
    expect(await running('job')).toBe(1);
    expect(world.warnings).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringMatching(/could not be renewed/) as string }),
    );
    world.fault = undefined;
    await inContact(10);
    const { spec } = await workerLease();
    expect(world.clock.now() - Date.parse(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000);
  });

  test.each([
    ['list', 'GET', /list leases/],
    ['write', 'POST', /get, create and update leases/],
  ])(
    'without the right to %s them copies are not fenced, the log says so, and managers are told where they can be',
    async (action, method, text) => {
      await start();
      world.fault = (request) =>
        request.method === method && isLease(request.path) && (method === 'POST' || request.path.includes('?'))
          ? refusal(403, 'Forbidden', 'leases.coordination.k8s.io is forbidden')
          : undefined;
      await world.admin.delete(LEASES, { namespace: 'kube-system', name: workerLeaseName(CONTROLLER) });
      await world.restart();
      await world.clock.advance(1_000);
      await renew(BERLIN, 'none');
      await aCopy('job');
      await world.pass(100);
      expect(await running('job')).toBe(1);
      const errors = world.warnings.filter(({ level, message }) => level === 'error' && text.test(message));
      expect(errors).toHaveLength(1);
      expect(errors[0]?.message).toMatch(/in namespace kube-system: copies are not stopped/);
      if (action === 'list') expect(await announced()).toMatchObject({ fenceAfterSeconds: 0 });
      world.fault = undefined;
      // The rights are granted: managers have their time from then on.
      await world.pass(40);
      expect(await announced()).toMatchObject({ fenceAfterSeconds: 60 });
      expect(await running('job')).toBe(1);
      await world.pass(60);
      expect(await running('job')).toBe(0);
    },
  );

  test('a watch that is dead without having been closed is not taken for a manager out of reach', async () => {
    await start();
    await aCopy('job');
    await inContact(20);
    world.hold('leases');
    await inContact(150);
    expect(await running('job')).toBe(1);
    expect(await world.metric('switchyard_worker_fence_trips_total')).toBe(0);
  });

  test('an API server that takes 12 s for each answer to the worker is not taken for a manager out of reach', async () => {
    await start();
    await aCopy('job');
    await inContact(20);
    world.fault = async ({ path, signal }) => {
      if (isLease(path)) await sleep(world.clock, 12_000, signal);
      return undefined;
    };
    await inContact(300);
    expect(await running('job')).toBe(1);
    expect(await world.metric('switchyard_worker_fence_trips_total')).toBe(0);
    // Waiting gives no more time to a manager that is gone.
    await world.clock.advance(60_000);
    expect(await running('job')).toBe(0);
  });

  test('a renewal whose answer never comes costs neither the next ones nor the answer to a new token', async () => {
    await start();
    await aCopy('job');
    await inContact(20);
    let swallowed = 0;
    world.fault = async ({ method, path, signal }) => {
      if (method === 'PUT' && isOwn(path) && swallowed++ === 0) await sleep(world.clock, 3_600_000, signal);
      return undefined;
    };
    await inContact(100);
    expect([swallowed > 1, await running('job')]).toEqual([true, 1]);
    // The manager goes, and the renewal that is under way when the fence trips is swallowed, too.
    await world.clock.advance(40_000);
    expect(await running('job')).toBe(1);
    swallowed = 0;
    const before = await token();
    await world.clock.advance(25_000);
    expect([await running('job'), (await token()) === before]).toEqual([0, false]);
    await inContact(5);
    expect(await running('job')).toBe(1);
  });

  test('a second worker beside the first takes its Lease, and the first gives way and says what to do', async () => {
    await start();
    await aCopy('job');
    await inContact(20);
    const lease = await workerLease();
    const other = { ...lease.metadata.annotations, 'switchyard.dev/fence-token': 'the token of another' };
    for (let renewals = 0; renewals < 8; renewals++) {
      const { metadata, spec } = await workerLease();
      await world.admin.replace(LEASES, {
        ...lease,
        metadata: { ...metadata, annotations: { ...other, n: `${renewals}` } },
        spec: { ...spec, holderIdentity: 'pod-2' },
      });
      await renew(BERLIN, 'the token of another');
      await world.clock.advance(10_000);
    }
    expect((await workerLease()).spec?.holderIdentity).toBe('pod-2');
    expect(world.warnings.map(({ fields }) => String(fields?.['error']))).toContainEqual(
      expect.stringMatching(
        /pod-2 renews Lease kube-system\/switchyard-worker: two workers .* --leader-elect, or give each a --lease-namespace/,
      ),
    );
    expect(await running('job')).toBe(0);
    // The other one is gone: after the time of its Lease this one goes on.
    await world.clock.advance(60_000);
    expect((await workerLease()).spec?.holderIdentity).toBe('pod-1');
    await inContact(5);
    expect(await running('job')).toBe(1);
  });

  test('a Lease of the worker that somebody deletes is made anew', async () => {
    await start();
    await aCopy('job');
    await inContact(20);
    await world.admin.delete(LEASES, { namespace: 'kube-system', name: workerLeaseName(CONTROLLER) });
    await world.clock.advance(10_000);
    await inContact(20);
    expect(await announced()).toMatchObject({ fenceAfterSeconds: 60 });
    expect(await running('job')).toBe(1);
  });

  test('with --fence-after 0 the worker tells that it is alive and has no fence, and stops nothing', async () => {
    await start({ ...FENCE, fenceAfterMs: 0 });
    await aCopy('job');
    await inContact(10);
    await world.clock.advance(300_000);
    expect(await running('job')).toBe(1);
    expect(await announced()).toMatchObject({ fenceAfterSeconds: 0 });
  });
});

test('where the first namespace of a worker is closed to it, how far the Jobs are is asked in the next, and copies there start', async () => {
  world = await createWorld({ controllerName: CONTROLLER, namespaces: ['closed', 'ns'] }, FENCE);
  await world.clock.advance(1_000);
  await inContact(5);
  await aCopy('job');
  await inContact(5);
  expect(await running('job')).toBe(1);
  world.fault = ({ path }) =>
    path.includes('/namespaces/closed/') ? refusal(403, 'Forbidden', 'jobs.batch is forbidden in namespace closed') : undefined;
  await world.clock.advance(90_000);
  expect(await running('job')).toBe(0);
  await inContact(10);
  expect(await running('job')).toBe(1);
});
