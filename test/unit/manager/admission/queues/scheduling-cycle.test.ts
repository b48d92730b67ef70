import { expect, test } from 'vitest';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { FAIR_SHARING, PREEMPTION } from '../../../../bench/admission-changes.ts';
import { type AdmissionCore, cpuCluster, cpuQueue, createAdmissionCore } from '../../../../bench/admission-core.ts';
import { createDice, type Dice } from '../../../../simulation/dice.ts';
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

/** How often cycles decide until nothing changes, at most `most` times, one in a second. */
function cyclesUntilNothingChanges(core: AdmissionCore, most: number): number {
  let cycles = 0;
  while (cycles < most && core.cycle(1_000 * (cycles + 1)) !== undefined) cycles++;
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

/** Queues, policies and clusters of random kinds, on which room or quota is scarce. */
function aRandomCore({ random, int, pick }: Dice): { readonly core: AdmissionCore; readonly arrive: () => void } {
  const [queues, cohorts, nominal, clusterCount] = [int(9, 40), int(1, 3), int(1, 4), int(1, 4)];
  const [isRoomScarce, preempts] = [random() < 0.6, random() < 0.6];
  const clusterQueues = Array.from({ length: queues }, (_, index) =>
    cpuQueue(`queue-${index}`, nominal, undefined, {
      cohortName: `cohort-${int(0, cohorts - 1)}`,
      preemption: preempts
        ? {
            withinClusterQueue: pick(['Never', 'LowerPriority', 'LowerOrNewerEqualPriority']),
            reclaimWithinCohort: pick(['Never', 'LowerPriority', 'Any']),
          }
        : {},
    }),
  );
  const clusters = Array.from({ length: clusterCount }, (_, index) =>
    cpuCluster(
      `cluster-${index}`,
      isRoomScarce ? Math.max(2, Math.floor((nominal * queues * (0.4 + random() * 0.6)) / clusterCount)) : 100_000,
    ),
  );
  const core = createAdmissionCore(clusterQueues, clusters, { fairSharing: random() < 0.5 ? FAIR_SHARING : undefined });
  const largest = pick([1, 2, 4]);
  let arrived = 0;
  const arrive = (): void => {
    const cpu = `${500 + Math.floor(random() * 1_000 * largest)}m`;
    core.arrive(`queue-${int(0, queues - 1)}`, `job-${arrived++}`, cpu, random() < 0.3 ? int(0, 3) : 0);
  };
  for (let index = 0; index < queues * 5; index++) arrive();
  return { core, arrive };
}

test.each([4, 16, 31, 33, 507])('cycles come to an end, whatever the policies and whatever is scarce (seed %i)', (seed) => {
  const dice = createDice(seed);
  const { core, arrive } = aRandomCore(dice);
  let most = cyclesUntilNothingChanges(core, 1_000);
  for (let event = 0; event < 100 && most < 1_000; event++) {
    const running = [...core.running.keys()];
    if (dice.chance(0.7)) core.release(dice.some(running) ?? '');
    else arrive();
    most = Math.max(most, cyclesUntilNothingChanges(core, 1_000));
  }
  expect(most).toBeLessThan(500);
});
