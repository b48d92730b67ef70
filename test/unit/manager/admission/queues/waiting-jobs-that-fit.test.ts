/** A Job that fits what is free is admitted, whatever waits before it, beside it, or was decided earlier. */
import { expect, test } from 'vitest';
import type { ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { aCohort } from '../preemption/preemption-world.ts';
import { anOrderWorld } from '../scheduling/order-world.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

const room = (cpu: string) => [aCluster('eu', { capacity: { cpu } })];
const inCohort = (cohortName: string): Partial<ClusterQueueSpec> => ({ cohortName });

test('a small Job behind one that has to borrow takes the room that becomes free', () => {
  const clusterQueues = [
    aClusterQueue('a', { default: '2' }, inCohort('all')),
    aClusterQueue('b', { default: '2' }, inCohort('all')),
    aClusterQueue('other', { default: '9' }),
  ];
  const world = anOrderWorld({ clusterQueues }, room('5'));
  world.arrive('b', 'runs', '2');
  for (const name of ['first', 'second', 'third']) world.arrive('other', name, '1');
  world.settle();
  world.arrive('b', 'borrows, and claims the room', '2');
  world.arrive('a', 'would have to borrow what is used', '3');
  world.arrive('a', 'small', '1');
  expect(world.settle()).toEqual([]);
  world.end('first');
  expect(world.settle()).toEqual(['small']);
});

test('a cluster that shrinks ends the wait behind a Job that fits it no longer', () => {
  const clusterQueue = aClusterQueue('main', { default: '4' }, { queueingStrategy: 'StrictFIFO' });
  const world = anOrderWorld({ clusterQueues: [clusterQueue] }, room('4'));
  world.arrive('main', 'runs', '1');
  world.settle();
  world.arrive('main', 'large', '4');
  world.arrive('main', 'next', '1');
  expect(world.settle()).toEqual([]);
  world.change({ states: room('2') });
  expect(world.settle()).toEqual(['next']);
  expect(world.reasonOf('large')).toBe('NoClusterFits');
});

test('a ClusterQueue that is held keeps no room from others', () => {
  const clusterQueues = (stopPolicy: 'None' | 'Hold') => [
    aClusterQueue('held', { default: '4' }, { stopPolicy }),
    aClusterQueue('open', { default: '4' }),
  ];
  const world = anOrderWorld({ clusterQueues: clusterQueues('None') }, room('3'));
  world.arrive('open', 'runs', '1');
  world.settle();
  world.arrive('held', 'large', '3');
  world.arrive('open', 'next', '2');
  expect(world.settle()).toEqual([]);
  world.change({ clusterQueues: clusterQueues('Hold') });
  expect(world.settle()).toEqual(['next']);
  world.change({ clusterQueues: clusterQueues('None') });
  world.end('runs');
  expect(world.settle()).toEqual([]);
  world.end('next');
  expect(world.settle()).toEqual(['large']);
});

test('with fair sharing, an older and more urgent Job of a side with more keeps no room from one with less', () => {
  const parts = {
    clusterQueues: [
      aClusterQueue('heavy', { default: '4' }, inCohort('left')),
      aClusterQueue('eager', { default: '0' }, inCohort('left')),
      aClusterQueue('light', { default: '2' }, { ...inCohort('right'), queueingStrategy: 'Backfill' }),
      aClusterQueue('other', { default: '9' }),
    ],
    cohorts: [aCohort('root'), aCohort('left', 'root'), aCohort('right', 'root')],
  };
  const fairSharing = { preemptionStrategies: [FairStrategy.LessThanOrEqualToFinalShare] };
  const world = anOrderWorld(parts, room('5'), undefined, fairSharing);
  world.arrive('eager', 'borrows', '2');
  for (const name of ['first', 'second', 'third']) world.arrive('other', name, '1');
  world.settle();
  world.arrive('heavy', 'large', '4', { priority: 1 });
  world.arrive('light', 'small', '1');
  expect(world.settle()).toEqual([]);
  world.end('first');
  expect(world.settle()).toEqual(['small']);
});

test('with fair sharing, a Job goes before the claim of another side once the larger one before it is deleted', () => {
  const parts = {
    clusterQueues: [
      aClusterQueue('a', { default: '3' }, inCohort('left')),
      aClusterQueue('b', { default: '1' }, { ...inCohort('right'), preemption: { reclaimWithinCohort: 'LowerPriority' } }),
    ],
    cohorts: [aCohort('root', undefined, { cpu: '2' }), aCohort('left', 'root'), aCohort('right', 'root')],
  };
  const world = anOrderWorld(parts, room('9'), undefined, { preemptionStrategies: [FairStrategy.LessThanOrEqualToFinalShare] });
  world.arrive('a', 'runs', '3');
  world.arrive('b', 'runs as well', '2');
  world.settle();
  world.arrive('a', 'claims what is free', '3');
  world.arrive('b', 'large', '2');
  world.arrive('b', 'small', '1');
  expect(world.settle()).toEqual([]);
  world.end('large');
  expect(world.settle()).toEqual(['small']);
});
