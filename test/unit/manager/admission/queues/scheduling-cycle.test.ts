import { expect, test } from 'vitest';
import { anOrderWorld } from '../scheduling/order-world.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { runCycle } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

test('a cycle without heads does nothing, and one that leaves everything as it is says so', () => {
  const world = anOrderWorld({ clusterQueues: [aClusterQueue('main', { default: '1' })] }, [aCluster('eu')]);
  const cycle = () => runCycle({ cache: world.cache, queues: world.queues, admit: () => true, at: () => undefined }, 0);
  expect(cycle()).toEqual({ tried: 0, admitted: 0, displaces: false, progressed: false });
  world.arrive('main', 'first', '1');
  world.settle();
  world.arrive('main', 'second', '1');
  expect(cycle()).toEqual({ tried: 1, admitted: 0, displaces: false, progressed: true });
  expect(cycle()).toEqual({ tried: 0, admitted: 0, displaces: false, progressed: false });
});

test('a Workload that preempts for fewer pods than it has is admitted once, and leaves no claim behind', () => {
  const clusterQueue = aClusterQueue('main', { default: '4' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
  const world = anOrderWorld({ clusterQueues: [clusterQueue] }, [aCluster('eu')]);
  world.arrive('main', 'low', '3');
  expect(world.settle()).toEqual(['low']);
  world.arrive('main', 'wide', '8', { priority: 5, parts: { requests: parseRequests({ cpu: '8', pods: '8' }), minPods: 3 } });
  expect(world.settle()).toEqual([]);
  expect(world.reasonOf('wide')).toBe('Preempting');
  world.end('low');
  expect(world.settle()).toEqual(['wide']);
  expect(world.queues.claims()).toEqual([]);
  world.arrive('main', 'next', '1');
  world.end('wide');
  expect(world.settle()).toEqual(['next']);
});

test('a Workload that preempts for fewer pods than it has leaves no claim behind when it is deleted', () => {
  const clusterQueue = aClusterQueue('main', { default: '4' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
  const world = anOrderWorld({ clusterQueues: [clusterQueue] }, [aCluster('eu')]);
  world.arrive('main', 'low', '3');
  world.settle();
  world.arrive('main', 'wide', '8', { priority: 5, parts: { requests: parseRequests({ cpu: '8', pods: '8' }), minPods: 3 } });
  world.settle();
  world.end('wide');
  world.arrive('main', 'next', '1');
  expect(world.settle()).toEqual(['next']);
  expect(world.queues.claims()).toEqual([]);
});
