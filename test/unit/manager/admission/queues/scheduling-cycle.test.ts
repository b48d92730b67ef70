import { expect, test } from 'vitest';
import { anOrderWorld } from '../scheduling/order-world.ts';
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
