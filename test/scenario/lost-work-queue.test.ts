/**
 * Goal: a work queue whose cluster is lost is finished on the next one, whatever had succeeded: what its fence has cut short is done by
 * nobody else.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PODS } from '../../shared/api/resources.ts';
import { noting } from '../support/noting-client.ts';
import { createWholeWorld, NAMESPACE, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
let isCutOff: boolean;
beforeEach(async () => {
  isCutOff = false;
  world = await createWholeWorld({
    clusters: ['eu-1', 'us-2'],
  });
  world.startManager('manager', {
    parts: {
      workerLostTimeoutMs: 150_000,
      // The manager alone reaches the cluster no more.
      connectCluster: (cluster) => noting(world.client(cluster), [], () => isCutOff && cluster === 'eu-1'),
    },
  });
  for (const cluster of ['eu-1', 'us-2']) world.startWorker(cluster, `worker-${cluster}`, { fenceAfterMs: 60_000 });
  await world.clock.advance(15_000);
});
afterEach(() => world.close());

const running = async (cluster: string): Promise<readonly string[]> =>
  (await world.podsOn(cluster)).filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name);
const home = async () => (await world.job('sum')).status;

test('after one of three pods has succeeded and the fence has stopped the others, three run on the other cluster, and it is complete when they are', async () => {
  await world.submit('sum', { seconds: 300, spec: { parallelism: 3 }, annotations: { 'switchyard.dev/clusters': 'eu-1,us-2' } });
  await world.clock.advance(10_000);
  const [first = ''] = await running('eu-1');
  const succeeded = { type: 'merge', body: { status: { phase: 'Succeeded' } } } as const;
  await world.client('eu-1').patchStatus(PODS, { namespace: NAMESPACE, name: first }, succeeded);
  await world.clock.advance(5_000);
  expect(await home()).toMatchObject({ succeeded: 1, active: 2 });

  isCutOff = true;
  await world.clock.advance(140_000);
  expect([await running('eu-1'), await running('us-2')]).toEqual([[], []]);
  await world.clock.advance(60_000);
  expect(await running('us-2')).toHaveLength(3);
  expect(await home()).toMatchObject({ succeeded: 1, active: 3 });
  await world.clock.advance(300_000);
  expect(await home()).toMatchObject({
    succeeded: 3,
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'Complete', status: 'True' })]),
  });
});
