import { expect, test } from 'vitest';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { FAIR_SHARING, PREEMPTION } from '../../../../bench/admission-changes.ts';
import { type AdmissionCore, cpuCluster, cpuQueue, createAdmissionCore } from '../../../../bench/admission-core.ts';
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

/** How often cycles decide until nothing changes, at most `most` times. */
function cyclesUntilNothingChanges(core: AdmissionCore, most: number): number {
  let cycles = 0;
  while (cycles < most && core.cycle(1) !== undefined) cycles++;
  return cycles;
}

test.each([
  { policy: 'fair sharing', fairSharing: FAIR_SHARING, seed: 1 },
  { policy: 'fair sharing, and what one queue has taken another would take back', fairSharing: FAIR_SHARING, seed: 4 },
  { policy: 'preemption alone', fairSharing: undefined, seed: 6 },
])('cycles come to an end where twenty ClusterQueues of a tree claim what is free: $policy', ({ fairSharing, seed }) => {
  const queueNames = Array.from({ length: 40 }, (_, index) => `queue-${index}`);
  const clusterQueues = queueNames.map((name) => cpuQueue(name, 2, undefined, { cohortName: 'all', preemption: PREEMPTION }));
  const core = createAdmissionCore(clusterQueues, [cpuCluster('eu', 1_000), cpuCluster('us', 1_000)], { fairSharing });
  const random = seededRandom(seed);
  // Every second queue lends all that it has.
  for (let index = 0; index < 240; index++)
    core.arrive(`queue-${(index % 40) | 1}`, `job-${index}`, `${500 + Math.floor(random() * 1_000)}m`);
  let most = cyclesUntilNothingChanges(core, 500);
  for (let ended = 0; ended < 150 && most < 500; ended++) {
    const [oldest = ''] = core.running.keys();
    core.release(oldest);
    most = Math.max(most, cyclesUntilNothingChanges(core, 500));
  }
  expect(most).toBeLessThan(100);
});

test.each([39, 40, 41])(
  'cycles come to an end where the claims of many trees chase each other from cluster to cluster (seed %i)',
  (seed) => {
    const random = seededRandom(seed);
    const queueNames = Array.from({ length: 30 }, (_, index) => `queue-${index}`);
    const clusterQueues = queueNames.map((name, index) =>
      cpuQueue(name, 2, undefined, { cohortName: `cohort-${index % 3}`, preemption: index % 2 === 0 ? PREEMPTION : {} }),
    );
    const clusters = ['eu', 'us', 'asia'].map((name) => cpuCluster(name, 8 + Math.floor(random() * 12)));
    const core = createAdmissionCore(clusterQueues, clusters, { fairSharing: FAIR_SHARING });
    let arrived = 0;
    const arrive = (): void =>
      core.arrive(
        `queue-${Math.floor(random() * 30)}`,
        `job-${arrived++}`,
        `${500 + Math.floor(random() * 1_000)}m`,
        random() < 0.3 ? 1 : 0,
      );
    for (let index = 0; index < 150; index++) arrive();
    let most = cyclesUntilNothingChanges(core, 500);
    for (let event = 0; event < 120 && most < 500; event++) {
      const running = [...core.running.keys()];
      if (random() < 0.7) core.release(running[Math.floor(random() * running.length)] ?? '');
      else arrive();
      most = Math.max(most, cyclesUntilNothingChanges(core, 500));
    }
    expect(most).toBeLessThan(200);
  },
);
