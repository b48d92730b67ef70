import { expect, test } from 'vitest';
import { cohortPlace } from '../../../../../manager/insight/explain/cohort-place.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { cacheOf, queueingOf, waitingByQueue, waitingIn, type World } from '../../../../../manager/insight/world/world.ts';
import { aWorld, holding } from './explained-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

function placeOf(world: World, name: string) {
  const queueing = queueingOf(world);
  const route = waitingIn(world, queueing)(world.workloads.find((each) => each.name === name) as Workload, 0);
  if ('reason' in route) throw new Error(route.message);
  return cohortPlace(route, waitingByQueue(world, queueing), queueing, cacheOf(world, queueing));
}
const all = { cohortName: 'all' };
const waiting = (name: string, queue: string, createdMs: number) => aWorkload(name, { cpu: '1' }, { queue, createdMs });

test('a queue that shares with nobody has no place in a cohort', () => {
  expect(placeOf(aWorld([aClusterQueue('main', { default: '4' })], [aCluster('eu')], [waiting('x', 'main', 1)]), 'x')).toBeUndefined();
});

test('the place in the cohort counts those of other queues that are older, and all of its own before it', () => {
  const queues = ['main', 'other'].map((name) => aClusterQueue(name, { default: '4' }, all));
  const jobs = [waiting('b', 'other', 2), waiting('a', 'main', 1), waiting('x', 'main', 3), waiting('late', 'other', 4)];
  expect(placeOf(aWorld(queues, [aCluster('eu')], jobs), 'x')).toEqual({
    cohort: 'all',
    position: 2,
    waiting: 4,
    ahead: [
      { job: 'team/a', clusterQueue: 'main' },
      { job: 'team/b', clusterQueue: 'other' },
    ],
  });
});

test('who has to borrow goes after those who need not, however old', () => {
  const queues = [aClusterQueue('main', { default: '1' }, all), aClusterQueue('other', { default: '4' }, all)];
  const jobs = [holding('h', '1'), waiting('x', 'main', 1), waiting('young', 'other', 9)];
  expect(placeOf(aWorld(queues, [aCluster('eu')], jobs), 'x')).toMatchObject({ position: 1, ahead: [{ job: 'team/young' }] });
  expect(placeOf(aWorld(queues, [aCluster('eu')], jobs), 'young')).toMatchObject({ position: 0, ahead: [] });
});
