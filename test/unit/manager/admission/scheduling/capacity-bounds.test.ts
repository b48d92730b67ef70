import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import { createCapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { addUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { worldOf } from '../preemption/preemption-world.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head, queued, queueOf } from '../setup.ts';

test('whoever exceeds the bounds does not fit, and the borrowing is that of the flavor that is taken', () => {
  const cpu = fc.nat(6);
  fc.assert(
    fc.property(fc.array(cpu, { minLength: 8, maxLength: 8 }), fc.boolean(), ([a, b, c, d, used, busy, room, asked] = [], tryNext) => {
      const all = { cohortName: 'all', ...(tryNext ? { flavorFungibility: { whenCanBorrow: 'TryNextFlavor' as const } } : {}) };
      const snapshot = aSnapshot(
        [
          aClusterQueue('main', { default: `${a}`, spot: `${b}` }, all),
          aClusterQueue('other', { default: `${c}`, spot: `${d}` }, { cohortName: 'all' }),
        ],
        [aCluster('eu', { capacity: { cpu: `${room}` } }), aCluster('us', { capacity: { cpu: '3' }, closed: 'cordoned' })],
      );
      addUsage(queueOf(snapshot, 'other').node, snapshot.usage, 'default/cpu', parseAmount('cpu', `${used}`));
      snapshot.usage.set('WorkerCluster/eu', 'cpu', parseAmount('cpu', `${busy}`));
      const workload = aWorkload('job', { cpu: `${asked}` });
      const bounds = createCapacityBounds(snapshot);
      const obstacle = bounds.blockedBy('main', ['cpu'], [(asked ?? 0) * 1000], undefined);
      const nominee = nominate(snapshot, head('main', workload), 0);
      if (nominee.kind !== 'Fit') return;
      expect(obstacle).toBeUndefined();
      expect(bounds.borrowing('main', workload.requests)).toBe(nominee.borrowing);
    }),
    { numRuns: 500 },
  );
});

test('who may displace others is not kept from trying by what they hold', () => {
  const preemption = { withinClusterQueue: 'LowerPriority' as const };
  const { setup, world } = worldOf({
    queues: { main: { quota: { cpu: '2' }, preemption }, meek: { quota: { cpu: '2' } } },
    admitted: ['main', 'meek'].map((queue) => ({ name: `of ${queue}`, queue, requests: { cpu: '2' } })),
  });
  const bounds = createCapacityBounds({ ...world, queues: setup.queues, clusters: [aCluster('eu')] });
  expect(['main', 'meek'].map((name) => bounds.blockedBy(name, ['cpu'], [1000], undefined))).toEqual([undefined, 'quota']);
  expect(bounds.blockedBy('main', ['cpu'], [3000], undefined)).toBe('quota');
});

test('who waits for those that it preempts is tried, whether it finds them again or not', () => {
  const preemption = { withinClusterQueue: 'LowerPriority' as const };
  const { setup, world } = worldOf({
    queues: { main: { quota: { cpu: '2' }, preemption } },
    admitted: [{ name: 'high', queue: 'main', priority: 2, requests: { cpu: '2' } }],
  });
  const first = queued(aWorkload('first'), 0, 1);
  const claim = { cluster: 'eu', flavors: [], borrowing: 0, preempts: true } as const;
  const parts = { ...world, queues: setup.queues, clusters: [aCluster('eu')] };
  const obstacle = (standing: Parameters<typeof createCapacityBounds>[1]) =>
    createCapacityBounds(parts, standing).blockedBy('main', ['cpu'], [1000], first);
  expect([obstacle([]), obstacle([{ clusterQueue: 'main', queued: first, claim }])]).toEqual(['quota', undefined]);
});

test('a queue without a cohort has nobody to reclaim from, whatever it says', () => {
  const preemption = { reclaimWithinCohort: 'Any' as const };
  const { setup, world } = worldOf({
    queues: {
      alone: { quota: { cpu: '2' }, preemption },
      shared: { quota: { cpu: '2' }, preemption, cohort: 'all' },
      borrower: { quota: { cpu: '0' }, cohort: 'all' },
    },
    admitted: ['alone', 'borrower'].map((queue) => ({ name: `of ${queue}`, queue, requests: { cpu: '2' } })),
  });
  const bounds = createCapacityBounds({ ...world, queues: setup.queues, clusters: [aCluster('eu')] });
  expect(['alone', 'shared'].map((name) => bounds.blockedBy(name, ['cpu'], [1000], undefined))).toEqual(['quota', undefined]);
});
