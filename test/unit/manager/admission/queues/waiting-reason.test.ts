import { expect, test } from 'vitest';
import { waitingReason } from '../../../../../manager/admission/queues/waiting-reason.ts';
import { anOrderWorld } from '../scheduling/order-world.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

test('one that was never tried, because what is free is less than it asks for, is told of its own numbers', () => {
  const world = anOrderWorld({ clusterQueues: [aClusterQueue('main', { default: '4' })] }, [aCluster('eu')]);
  const reasonOf = (name: string) => waitingReason(world, `team/${name}`, 0);
  world.arrive('main', 'running', '3');
  world.arrive('main', 'first', '4');
  world.arrive('main', 'second', '2');
  world.arrive('main', 'never', '5');
  expect(reasonOf('second')).toBeUndefined();
  world.settle();
  expect(reasonOf('first')?.message).toBe('cluster queue main: flavor default is short of 3 cpu');
  expect(reasonOf('second')?.message).toBe('cluster queue main: flavor default is short of 1 cpu');
  expect(reasonOf('never')?.reason).toBe('ExceedsQuota');
});

test('one that is stopped by what is kept for others alone is told so', () => {
  const world = anOrderWorld({ clusterQueues: [aClusterQueue('a', { default: '4' }), aClusterQueue('b', { default: '4' })] }, [
    aCluster('eu', { capacity: { cpu: '4' } }),
  ]);
  world.arrive('b', 'running', '3');
  world.settle();
  world.arrive('a', 'large', '4', { priority: 1 });
  world.arrive('b', 'small', '1');
  world.settle();
  expect(waitingReason(world, 'team/small', 0)?.reason).toBe('BehindOtherQueues');
});

test('one whose queue waits for the pods of an admitted one is told so, but for one that can never run', () => {
  const world = anOrderWorld({ clusterQueues: [aClusterQueue('main', { default: '4' }, { blockAdmission: true })] }, [aCluster('eu')]);
  world.arrive('main', 'never', '5');
  world.settle();
  world.arrive('main', 'first', '1');
  world.settle();
  world.arrive('main', 'second', '1');
  world.settle();
  expect(waitingReason(world, 'team/second', 0)).toEqual({
    reason: 'WaitingForPodsReady',
    message: expect.stringContaining('cluster queue main admits no further Job until all pods') as string,
  });
  expect(waitingReason(world, 'team/never', 0)?.reason).toBe('ExceedsQuota');
});
