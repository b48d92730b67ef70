/** A Job that fits what is free is admitted, whatever waits before it, beside it, or was decided earlier. */
import { expect, test } from 'vitest';
import type { ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { createDice } from '../../../../simulation/dice.ts';
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

/** Queues in a tree of cohorts, clusters, and what happens to them. */
function aRandomStory(seed: number) {
  const { random, int, pick } = createDice(seed);
  const aQueue = () => ({
    cohort: pick(['root', 'left', 'right', 'deep', undefined]),
    nominal: int(0, 4),
    limit: pick([undefined, 1, 3]),
    strategy: pick(['BestEffortFIFO', 'StrictFIFO'] as const),
    stopPolicy: pick(['None', 'None', 'None', 'Hold'] as const),
  });
  const queues = Array.from({ length: int(2, 7) }, aQueue);
  const clusters = Array.from({ length: int(1, 3) }, () => int(1, 9));
  const clusterQueues = () =>
    queues.map(({ cohort, nominal, limit, strategy, stopPolicy }, index) =>
      aClusterQueue(
        `queue-${index}`,
        {},
        {
          resourceGroups: [
            {
              coveredResources: ['cpu'],
              flavors: [
                {
                  name: 'default',
                  resources: [
                    {
                      name: 'cpu',
                      nominalQuota: nominal,
                      ...(limit === undefined || cohort === undefined ? {} : { borrowingLimit: limit }),
                    },
                  ],
                },
              ],
            },
          ],
          queueingStrategy: strategy,
          stopPolicy,
          ...(cohort === undefined ? {} : { cohortName: cohort }),
        },
      ),
    );
  const states = () => clusters.map((cpu, index) => aCluster(`cluster-${index}`, { capacity: { cpu: `${cpu}` } }));
  const cohorts = [aCohort('root', undefined, { cpu: '3' }), aCohort('left', 'root'), aCohort('right', 'root'), aCohort('deep', 'left')];
  const world = anOrderWorld({ clusterQueues: clusterQueues(), cohorts }, states());
  const step = (index: number): void => {
    const chance = random();
    const running = [...world.running.keys()];
    if (chance < 0.5) world.arrive(`queue-${int(0, queues.length - 1)}`, `job-${index}`, `${int(1, 4)}`, { priority: int(0, 2) });
    else if (chance < 0.8) world.end(running[int(0, Math.max(0, running.length - 1))] ?? '');
    else if (chance < 0.9) {
      const at = int(0, queues.length - 1);
      const { cohort, strategy } = queues[at] ?? aQueue();
      queues[at] = { ...aQueue(), cohort, strategy };
      world.change({ clusterQueues: clusterQueues() });
    } else {
      clusters[int(0, clusters.length - 1)] = int(1, 9);
      world.change({ states: states() });
    }
  };
  return { world, step };
}

test.each([...Array.from({ length: 30 }, (_, seed) => seed), 177])(
  'whatever comes, ends and is changed, nobody waits who fits (seed %i)',
  (seed) => {
    const { world, step } = aRandomStory(seed);
    for (let index = 0; index < 80; index++) {
      step(index);
      world.settle();
      expect(world.fitting()).toEqual([]);
    }
  },
);
