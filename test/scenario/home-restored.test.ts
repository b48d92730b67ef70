/**
 * Goal: a manager cluster that is restored from an older backup never has a Job run twice, whatever its records say now and whoever is out
 * of reach.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { createRestorableWorld, MANAGER, type RestorableWorld, type Supervised } from './restorable-world.ts';
import { HOME, NAMESPACE, type RunningProgram } from './whole-world.ts';

vi.setConfig({ testTimeout: 180_000 });

let world: RestorableWorld;
let manager: Supervised;
beforeEach(async () => {
  world = await createRestorableWorld(['eu-1', 'us-2']);
  for (const cluster of ['eu-1', 'us-2']) world.supervise(() => world.startWorker(cluster, `worker-${cluster}`));
});
afterEach(() => world.close());

const dispatched = async (): Promise<string> => {
  const condition = (await world.job('sum')).status?.conditions?.find(({ type }) => type === 'Dispatched');
  return condition === undefined ? '' : `${condition.status} ${condition.reason}: ${condition.message}`;
};
const runningOn = async (cluster: string): Promise<number> =>
  (await world.podsOn(cluster)).filter(({ status }) => status?.phase === 'Running').length;
const sendTo = (cluster: string): Promise<unknown> => {
  const body = { metadata: { annotations: { [CLUSTERS_ANNOTATION]: cluster } } };
  return world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body });
};

/**
 * The Job runs on eu-1, and its home is put back to before it was admitted; its user now has it sent to us-2. With `unseen`, what is done
 * on eu-1 before that while no manager works.
 */
async function restoreHome(unseen?: () => Promise<unknown>): Promise<void> {
  const first = world.startManager('manager', MANAGER);
  await world.pass(10);
  first.terminate();
  await world.pass(5);
  await world.submit('sum', { seconds: 240, annotations: { [CLUSTERS_ANNOTATION]: 'eu-1' } });
  const backup = world.plane(HOME).backUp();
  const start = (): RunningProgram => world.startManager('manager', MANAGER);
  const second = unseen === undefined ? undefined : start();
  if (second === undefined) manager = world.supervise(start);
  await world.pass(30);
  expect(await runningOn('eu-1')).toBe(1);
  second?.kill();
  await unseen?.();
  await world.plane(HOME).restore(backup, 'Broken');
  await sendTo('us-2');
  if (second !== undefined) manager = world.supervise(start);
}

/** Others write there, so that the store comes to any version that anybody has seen. */
async function goOn(writes: number): Promise<void> {
  for (let count = 0; count < writes; count++) {
    const body = { metadata: { labels: { count: String(count) } } };
    await world.home.patch(NAMESPACES, { namespace: '', name: 'default' }, { type: 'merge', body });
  }
}

test('with all clusters in reach, the copy of the placement that nobody remembers goes before there is another one', async () => {
  await restoreHome();
  const most = await world.pass(600);
  expect([most, await world.endOf('sum')]).toEqual([1, 'Complete']);
  expect(manager.ended.map(({ message }) => message)).toEqual(['the manager cluster went back in time; the manager starts anew']);
  expect([await world.namesOn('eu-1'), await world.namesOn('us-2')]).toEqual([[], []]);
});

test('with the cluster out of reach where it runs, nothing is made elsewhere until that is back, whoever leads by then', async () => {
  await restoreHome();
  world.dark.add('eu-1');
  let most = await world.pass(60);
  expect(await world.namesOn('us-2')).toEqual([]);
  expect(await dispatched()).toMatch(/^False HomeRestored: the manager cluster was restored .* not seen yet: "eu-1" \(/);
  // The manager cluster goes beyond all that was ever told of it, and another one leads.
  await goOn(500);
  await world.pass(20);
  manager.restart();
  most = Math.max(most, await world.pass(60));
  expect(await world.namesOn('us-2')).toEqual([]);
  expect(await dispatched()).toContain('HomeRestored');
  expect(await runningOn('eu-1')).toBe(1);

  world.dark.clear();
  most = Math.max(most, await world.pass(600));
  expect([most, await world.endOf('sum')]).toEqual([1, 'Complete']);
  expect([await world.namesOn('eu-1'), await world.namesOn('us-2')]).toEqual([[], []]);
  // That is over for whoever leads next, too.
  manager.restart();
  await world.submit('sum-2', { annotations: { [CLUSTERS_ANNOTATION]: 'us-2' } });
  await world.pass(20);
  expect(await world.endOf('sum-2')).toBe('Complete');
});

test('a Job that was created after the restore can be on no cluster, so that it waits for none', async () => {
  await restoreHome();
  world.dark.add('eu-1');
  await world.pass(60);
  await world.submit('sum-2');
  await world.pass(60);
  expect(await world.endOf('sum-2')).toBe('Complete');
  expect(await world.namesOn('us-2')).toEqual([]);
  expect(await dispatched()).toContain('HomeRestored');
});

test('a cluster that is given up is not waited for', async () => {
  await restoreHome();
  world.dark.add('eu-1');
  await world.pass(60);
  expect(await world.namesOn('us-2')).toEqual([]);
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: { spec: { state: 'Lost' } } });
  await world.pass(10);
  expect(await world.namesOn('us-2')).toEqual(['sum']);
});

test('pods whose copy was deleted while no manager saw it are found, and the Job starts when they have ended', async () => {
  await restoreHome(() => world.client('eu-1').delete(JOBS, { namespace: NAMESPACE, name: 'sum' }, { propagationPolicy: 'Orphan' }));
  let most = await world.pass(90);
  expect([await runningOn('eu-1'), await runningOn('us-2')]).toEqual([1, 0]);
  expect(await dispatched()).toMatch(/^False PodsRemain: the copy on cluster "eu-1" is gone, .* kubectl delete pod -n team sum-/);
  most = Math.max(most, await world.pass(600));
  expect([most, await world.endOf('sum')]).toEqual([1, 'Complete']);
});

test('a copy that lost its label while no manager saw it is found by its template', async () => {
  const unlabelled = { metadata: { labels: { [ORIGIN_LABEL]: null } } };
  await restoreHome(() => world.client('eu-1').patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body: unlabelled }));
  const most = await world.pass(900);
  expect([most, await world.endOf('sum')]).toEqual([1, 'Complete']);
  expect([await world.namesOn('eu-1'), await world.namesOn('us-2')]).toEqual([[], []]);
});
