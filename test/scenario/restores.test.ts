/** Goal: a cluster that is restored from an older backup, under managers and workers that go on, is taken as it is then. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { EVENTS, JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { createRestorableWorld, type RestorableWorld } from './restorable-world.ts';
import { HOME } from './whole-world.ts';

let world: RestorableWorld;
beforeEach(async () => {
  world = await createRestorableWorld(['eu-1']);
});
afterEach(() => world.close());

const readiness = async () => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  return status?.conditions?.find(({ type }) => type === 'Ready');
};

test('a worker cluster that is restored: copies of old go, what ends there is heard, what is lost is made anew, and nothing runs twice', async () => {
  const manager = world.supervise(() => world.startManager('manager'));
  const worker = world.supervise(() => world.startWorker('eu-1', 'worker'));
  await world.pass(5);
  await world.submit('done-since', { seconds: 5 });
  await world.submit('long', { seconds: 60 });
  await world.pass(4);
  const backup = world.plane('eu-1').backUp();
  expect(await world.namesOn('eu-1')).toEqual(['done-since', 'long']);
  await world.submit('made-since', { seconds: 60 });
  await world.pass(12);
  expect(await world.endOf('done-since')).toBe('Complete');
  expect(await world.namesOn('eu-1')).toEqual(['long', 'made-since']);

  const restoredAtMs = world.clock.now();
  await world.plane('eu-1').restore(backup, 'Broken');
  expect(await world.namesOn('eu-1')).toEqual(['done-since', 'long']);
  let most = await world.pass(10);
  expect(await world.namesOn('eu-1')).not.toContain('done-since');
  most = Math.max(most, await world.pass(300));
  expect(most).toBe(1);
  expect(await Promise.all(['done-since', 'long', 'made-since'].map(world.endOf))).toEqual(['Complete', 'Complete', 'Complete']);
  expect(await world.namesOn('eu-1')).toEqual([]);
  expect(await world.podsOn('eu-1')).toEqual([]);

  // It was not ready while it was listed.
  const ready = await readiness();
  expect(ready).toMatchObject({ status: 'True', reason: 'Connected' });
  expect(Date.parse(ready?.lastTransitionTime ?? '')).toBeGreaterThanOrEqual(restoredAtMs - 1_000);
  const events = (await world.home.list(EVENTS, { namespace: 'default' })).items;
  const told = events
    .filter(({ involvedObject }) => involvedObject.kind === 'WorkerCluster')
    .map(({ reason, message }) => `${reason}: ${message}`);
  expect(told).toEqual([expect.stringMatching(/^Restored: the resourceVersion of jobs went back from \d+ to \d+.*: it is listed anew$/)]);
  expect(manager.ended).toEqual([]);
  expect(worker.ended.map(({ message }) => message)).toEqual(['the cluster went back in time; the worker starts anew']);
});

test('the manager cluster is restored under two managers: they start anew, and everything ends', async () => {
  const managers = ['first', 'second'].map((identity) => world.supervise(() => world.startManager(identity)));
  world.supervise(() => world.startWorker('eu-1', 'worker'));
  await world.pass(5);
  await world.submit('done-since', { seconds: 5 });
  await world.submit('long', { seconds: 60 });
  await world.pass(4);
  const backup = world.plane(HOME).backUp();
  await world.submit('made-since', { seconds: 60 });
  await world.pass(12);
  expect(await world.endOf('done-since')).toBe('Complete');
  expect(await world.namesOn('eu-1')).toEqual(['long', 'made-since']);

  await world.plane(HOME).restore(backup, 'Broken');
  const most = await world.pass(400);
  expect(most).toBe(1);
  for (const { ended } of managers)
    expect(ended.map(({ message }) => message)).toContain('the manager cluster went back in time; the manager starts anew');
  expect(await Promise.all(['done-since', 'long', 'made-since'].map(world.endOf))).toEqual(['Complete', 'Complete', 'gone']);
  expect(await world.namesOn('eu-1')).toEqual([]);
  expect(await world.podsOn('eu-1')).toEqual([]);
});

/** Others write there, so that the store comes to any version that anybody has seen. */
async function goOn(cluster: string, writes: number): Promise<void> {
  for (let count = 0; count < writes; count++)
    await world
      .client(cluster)
      .patch(NAMESPACES, { namespace: '', name: 'team' }, { type: 'merge', body: { metadata: { labels: { count: String(count) } } } });
}

test('a busy worker cluster that is restored under watches that say nothing more is noticed by our own Leases within one renewal', async () => {
  const manager = world.supervise(() => world.startManager('manager'));
  const worker = world.supervise(() => world.startWorker('eu-1', 'worker', { fenceAfterMs: 60_000 }));
  await world.pass(5);
  await world.submit('done-since', { seconds: 20 });
  await world.submit('long', { seconds: 120 });
  await world.pass(15);
  const backup = world.plane('eu-1').backUp();
  await world.submit('made-since', { seconds: 60 });
  await world.pass(30);
  expect(await world.endOf('done-since')).toBe('Complete');
  expect(await world.namesOn('eu-1')).toEqual(['long', 'made-since']);

  await world.plane('eu-1').restore(backup, 'Left');
  await goOn('eu-1', 500);
  expect(await world.namesOn('eu-1')).toEqual(['done-since', 'long']);
  let most = await world.pass(15);
  expect(worker.ended.map(({ message }) => message)).toEqual(['the cluster went back in time; the worker starts anew']);
  expect(await world.namesOn('eu-1')).not.toContain('done-since');
  most = Math.max(most, await world.pass(400));
  expect(most).toBe(1);
  expect(await Promise.all(['done-since', 'long', 'made-since'].map(world.endOf))).toEqual(['Complete', 'Complete', 'Complete']);
  expect([await world.namesOn('eu-1'), await world.podsOn('eu-1'), manager.ended]).toEqual([[], [], []]);
  const events = (await world.home.list(EVENTS, { namespace: 'default' })).items;
  expect(events.filter(({ reason }) => reason === 'Restored').map(({ message }) => message)).toEqual([
    expect.stringMatching(/^Lease kube-system\/switchyard-origin-[0-9a-f]{16} went back from its renewal of .*: it is listed anew$/),
  ]);
});

test('a busy manager cluster that is restored under watches that say nothing more is noticed by the Lease of the election', async () => {
  const managers = ['first', 'second'].map((identity) => world.supervise(() => world.startManager(identity)));
  world.supervise(() => world.startWorker('eu-1', 'worker'));
  await world.pass(10);
  await world.submit('long', { seconds: 60 });
  await world.pass(10);
  const backup = world.plane(HOME).backUp();
  await world.pass(10);

  await world.plane(HOME).restore(backup, 'Left');
  await goOn(HOME, 500);
  let most = await world.pass(6);
  for (const { ended } of managers)
    expect(ended.map(({ message }) => message)).toEqual(['the manager cluster went back in time; the manager starts anew']);
  most = Math.max(most, await world.pass(200));
  expect([most, await world.endOf('long'), await world.namesOn('eu-1')]).toEqual([1, 'Complete', []]);
});

test('a restore that only a change of one Job shows is noticed by the conflicts of its worker', async () => {
  world.supervise(() => world.startManager('manager'));
  const worker = world.supervise(() => world.startWorker('eu-1', 'worker'));
  await world.pass(5);
  await world.submit('job', { seconds: 20 });
  await world.pass(10);
  const backup = world.plane('eu-1').backUp();
  const [copy] = await world.jobsOn('eu-1');
  const labelled = { type: 'merge', body: { metadata: { labels: { since: 'the-backup' } } } } as const;
  await world.client('eu-1').patch(JOBS, { namespace: copy!.metadata.namespace ?? '', name: 'job' }, labelled);
  await world.clock.advance(0);

  await world.plane('eu-1').restore(backup, 'Broken');
  await goOn('eu-1', 500);
  const most = await world.pass(120);
  expect(worker.ended.map(({ cause }) => String(cause))).toEqual([
    expect.stringMatching(/jobs team\/job is cached at \d+, and stored at \d+$/),
  ]);
  expect([most, await world.endOf('job'), await world.namesOn('eu-1')]).toEqual([1, 'Complete', []]);
});
