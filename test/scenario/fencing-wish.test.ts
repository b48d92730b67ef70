/**
 * Goal: a worker learns from a copy whether it is to stop it when the manager is out of reach, and a Job that cannot be fenced is told so.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, CLUSTERS_ANNOTATION, FENCING_ANNOTATION, HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { aCondition } from '../support/jobs.ts';
import { createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });

const AT_REST = { active: 0, terminating: 0, conditions: [aCondition('Suspended', { reason: 'JobSuspended' })] };

let world: DispatchWorld;
beforeEach(async () => {
  world = await createDispatchWorld({ workers: ['eu-1'] });
});
afterEach(() => world.close());

const fencing = async (name: string): Promise<string | undefined> =>
  (await world.worker('eu-1').copy(name))?.metadata.annotations?.[FENCING_ANNOTATION];

test('a Job that is not to be fenced has a copy that says so; what it says later counts when it is admitted anew', async () => {
  await world.submit('without', { annotations: { ...on('eu-1').annotations, [FENCING_ANNOTATION]: 'off' } });
  await world.submit('with', on('eu-1'));
  await world.settle(500);
  expect([await fencing('without'), await fencing('with')]).toEqual(['off', undefined]);
  const say = (name: string, annotations: Record<string, string | null>, spec = {}): Promise<unknown> =>
    world.home.patch(JOBS, { namespace: NAMESPACE, name }, { type: 'merge', body: { metadata: { annotations }, spec } });
  // A copy on a cluster that is lost would not hear of it, and must not count as fenced.
  await say('without', { [FENCING_ANNOTATION]: null });
  await say('with', { [FENCING_ANNOTATION]: 'off' });
  await world.settle(500);
  expect([await fencing('without'), await fencing('with')]).toEqual(['off', undefined]);
  for (const name of ['without', 'with']) await say(name, { [HOLD_ANNOTATION]: 'false' }, { suspend: true });
  await world.settle(500);
  for (const name of ['without', 'with']) await world.worker('eu-1').report(name, AT_REST);
  await world.settle(5_000);
  expect([await fencing('without'), await fencing('with')]).toEqual([undefined, 'off']);
});

test('a Job of a ClusterQueue whose Jobs are not fenced has a copy that says so, unless it asks for a fence itself', async () => {
  const body = { spec: { fencing: 'Disabled' } };
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  await world.submit('without', on('eu-1'));
  await world.submit('with', { annotations: { ...on('eu-1').annotations, [FENCING_ANNOTATION]: 'on' } });
  await world.settle(500);
  expect([await fencing('without'), await fencing('with')]).toEqual(['off', undefined]);
});

test('a Job that the built-in Job controller runs is not fenced, and both it and its cluster say so', async () => {
  const body = { spec: { jobController: BUILT_IN_JOB_CONTROLLER_NAME } };
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body });
  await world.settle(5_000);
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  const alive = status?.conditions?.find(({ type }) => type === 'WorkerAlive');
  expect(alive).toMatchObject({
    status: 'Unknown',
    reason: 'BuiltInController',
    message: expect.stringMatching(/fencing is not available/),
  });
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  const told = (await world.job('sum')).status?.conditions?.find(({ type }) => type === 'Dispatched');
  expect(told?.message).toMatch(/^dispatched to cluster "eu-1" \(placement 1\); not fenced: the built-in Job controller/);
});
