/** What could be had of others: bounds that are never too small, and that end a search before it begins. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDisplaceable } from '../../../../../manager/admission/preemption/displaceable.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import { createCapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { createShapeAvoidance } from '../../../../../manager/admission/workload/shape-avoidance.ts';
import type { QueueSetup, Snapshot } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { aCohort, incoming, worldOf, type QueueOf, type Setting } from './preemption-world.ts';
import { aCluster, queued } from '../setup.ts';

const cpu = (amount: number) => parseAmount('cpu', amount);
const holder = (name: string, queue: string, amount: number, priority = 0) => ({ name, queue, priority, requests: { cpu: `${amount}` } });

function quotaOf(setting: Setting, name: string, priority: number, asked: number): number {
  const { setup, world } = worldOf(setting);
  const queue = setup.queues.get(name);
  if (queue === undefined) throw new Error(`no queue ${name}`);
  return createDisplaceable(world.usage, world.admitted)(queue, priority).quota('default/cpu', cpu(asked));
}

test('of its own queue those of lower priority count', () => {
  const preemption = { withinClusterQueue: 'LowerPriority' as const };
  const setting: Setting = {
    queues: { main: { quota: { cpu: '6' }, preemption } },
    admitted: [holder('low', 'main', 1), holder('middle', 'main', 2, 1), holder('high', 'main', 3, 2)],
  };
  expect([0, 1, 2, 3].map((priority) => quotaOf(setting, 'main', priority, 1))).toEqual([0, 1000, 3000, 6000]);
});

test('of others those count that borrow, for who would not borrow itself', () => {
  const preemption = { reclaimWithinCohort: 'Any' as const };
  const setting: Setting = {
    queues: {
      owner: { cohort: 'all', quota: { cpu: '2' }, preemption },
      borrower: { cohort: 'all', quota: { cpu: '2' } },
      modest: { cohort: 'all', quota: { cpu: '2' } },
    },
    admitted: [holder('a', 'borrower', 4), holder('b', 'modest', 2)],
  };
  expect([2, 3].map((asked) => quotaOf(setting, 'owner', 0, asked))).toEqual([4000, 0]);
});

test('who borrows in a tree is looked for once, whichever of its queues asks', () => {
  const asks = { cohort: 'all', quota: { cpu: '2' }, preemption: { reclaimWithinCohort: 'Any' as const } };
  const { setup, world } = worldOf({
    queues: { one: asks, other: asks, borrower: { cohort: 'all', quota: { cpu: '2' } } },
    admitted: [holder('a', 'borrower', 4)],
  });
  let reads = 0;
  const get = world.usage.get.bind(world.usage);
  const counted = (...place: Parameters<typeof get>) => {
    reads++;
    return get(...place);
  };
  Object.assign(world.usage, { get: counted });
  const displaceable = createDisplaceable(world.usage, world.admitted);
  const isAny = (name: string): boolean => displaceable(setup.queues.get(name) as QueueSetup, 0).isAny;
  expect(isAny('one')).toBe(true);
  const before = reads;
  expect([isAny('other'), before > 0, reads]).toEqual([true, true, before]);
});

test('who finds nobody to displace is stopped by what is in use, and who finds somebody by what they hold', () => {
  const preemption = { withinClusterQueue: 'LowerPriority' as const };
  const { setup, world } = worldOf({ queues: { main: { quota: { cpu: '2' }, preemption } }, admitted: [holder('all', 'main', 2)] });
  const cluster = aCluster('only', { capacity: { cpu: '2', pods: '10' } });
  const bounds = createCapacityBounds({ queues: setup.queues, clusters: [cluster], usage: world.usage, admitted: world.admitted });
  const obstacle = (priority: number, amount: number) =>
    bounds.blockedBy(
      'main',
      ['cpu'],
      [cpu(amount)],
      queued(incoming({ queues: QUEUE, admitted: [] }, ASKED).preemptor.workload, 0, priority),
    );
  expect([obstacle(0, 1), obstacle(1, 1), obstacle(1, 3)]).toEqual(['cluster', undefined, 'cluster']);
});
const QUEUE = { main: { quota: { cpu: '2' } } };
const ASKED = { queue: 'main', requests: { cpu: '1' } };

const NAMES = ['a', 'b', 'c', 'd'] as const;
const policies = fc.record({
  withinClusterQueue: fc.constantFrom('Never', 'LowerPriority', 'LowerOrNewerEqualPriority'),
  reclaimWithinCohort: fc.constantFrom('Never', 'LowerPriority', 'Any'),
  borrowWithinCohort: fc.record({ policy: fc.constantFrom('Never', 'LowerPriority') }),
});
const situations = fc.record({
  queues: fc.tuple(
    ...NAMES.map(() =>
      fc.record({
        cohort: fc.constantFrom('left', 'right', 'root'),
        cpu: fc.tuple(fc.nat(5), fc.nat(3)),
        limit: fc.constantFrom('', '+2', '-2'),
        preemption: policies,
        whenCanPreempt: fc.constantFrom('MayStopSearch', 'TryNextFlavor'),
      }),
    ),
  ),
  admitted: fc.array(
    fc.record({
      queue: fc.constantFrom(...NAMES),
      priority: fc.nat(3),
      cpu: fc.integer({ min: 1, max: 4 }),
      flavor: fc.constantFrom('default', 'spot'),
      cluster: fc.constantFrom('east', 'west'),
      leaving: fc.boolean(),
      created: fc.nat(5),
    }),
    { minLength: 4, maxLength: 12 },
  ),
  capacity: fc.integer({ min: 1, max: 12 }),
  pooled: fc.nat(3),
  fair: fc.boolean(),
  asked: fc.record({
    queue: fc.constantFrom(...NAMES),
    priority: fc.nat(3),
    cpu: fc.integer({ min: 1, max: 6 }),
    created: fc.nat(5),
    /** Bounds are asked of the least of several, of whom none goes before this one. */
    less: fc.nat(2),
    higher: fc.nat(1),
  }),
});

/** With fair sharing whoever may reclaim may do so while it borrows. */
const fairly = (queue: QueueSetup): QueueSetup => ({
  ...queue,
  mayPreemptWhileBorrowing: queue.mayPreemptWhileBorrowing || queue.preemption.reclaimWithinCohort !== 'Never',
});

test('whoever fits, or will once others have given their place up, is within the bounds', () => {
  let [preempting, nominated] = [0, 0];
  fc.assert(
    fc.property(situations, ({ queues, admitted, capacity, pooled, fair, asked }) => {
      const setting: Setting = {
        queues: Object.fromEntries(
          queues.map(({ cohort, cpu: [some, more], limit, preemption, whenCanPreempt }, index): [string, QueueOf] => [
            NAMES[index] ?? '',
            {
              cohort,
              groups: [{ default: { cpu: `${some}${limit}` }, spot: { cpu: `${more}` } }],
              preemption,
              flavorFungibility: { whenCanPreempt },
            },
          ]),
        ),
        cohorts: [aCohort('root', undefined, { cpu: `${pooled}` }), aCohort('left', 'root'), aCohort('right', 'root')],
        admitted: admitted.map(({ cpu: amount, ...each }, index) => ({ ...each, name: `j${index}`, requests: { cpu: `${amount}` } })),
      };
      const { setup, world, preemptor } = incoming(setting, { ...asked, requests: { cpu: `${asked.cpu}` } });
      const snapshot: Snapshot = {
        ...world,
        queues: new Map([...setup.queues].map(([name, queue]) => [name, fair ? fairly(queue) : queue])),
        clusters: ['east', 'west'].map((name) => aCluster(name, { capacity: { cpu: `${capacity}`, pods: '100' } })),
        shapes: createShapeAvoidance().fork(),
        fairSharing: fair
          ? { preemptionStrategies: [FairStrategy.LessThanOrEqualToFinalShare, FairStrategy.LessThanInitialShare] }
          : undefined,
      };
      const head = { clusterQueue: asked.queue, queued: queued(preemptor.workload, 0, asked.priority) };
      const outcome = nominate(snapshot, head, 0);
      nominated++;
      if (outcome.kind !== 'Fit' && outcome.kind !== 'Preempt') return;
      if (outcome.kind === 'Preempt') preempting++;
      const earliest = queued(preemptor.workload, 0, asked.priority + asked.higher);
      const least = cpu(Math.max(0, asked.cpu - asked.less));
      expect(createCapacityBounds(snapshot).blockedBy(asked.queue, ['cpu'], [least], earliest)).toBeUndefined();
      expect(createCapacityBounds(snapshot).blockedBy(asked.queue, ['cpu'], [least], undefined)).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
  expect(preempting / nominated).toBeGreaterThan(0.05);
});
