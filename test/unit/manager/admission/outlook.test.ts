import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nominate } from '../../../../manager/admission/nominate.ts';
import { createOutlook } from '../../../../manager/admission/outlook.ts';
import { addUsage } from '../../../../manager/admission/quota-tree.ts';
import { parseAmount } from '../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head, queueOf } from './setup.ts';

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
      const outlook = createOutlook(snapshot);
      const obstacle = outlook.obstacle('main', ['cpu'], [(asked ?? 0) * 1000], undefined);
      const nominee = nominate(snapshot, head('main', workload), 0);
      if (nominee.kind !== 'Fit') return;
      expect(obstacle).toBeUndefined();
      expect(outlook.borrowing('main', workload.requests)).toBe(nominee.borrowing);
    }),
    { numRuns: 500 },
  );
});

test('who may displace others is not kept from trying by what they hold', () => {
  const preemption = { withinClusterQueue: 'LowerPriority' as const };
  const snapshot = aSnapshot(
    [aClusterQueue('main', { default: '2' }, { preemption }), aClusterQueue('meek', { default: '2' })],
    [aCluster('eu')],
  );
  for (const name of ['main', 'meek']) addUsage(queueOf(snapshot, name).node, snapshot.usage, 'default/cpu', parseAmount('cpu', '2'));
  const outlook = createOutlook(snapshot);
  expect(['main', 'meek'].map((name) => outlook.obstacle(name, ['cpu'], [1000], undefined))).toEqual([undefined, 'quota']);
  expect(outlook.obstacle('main', ['cpu'], [3000], undefined)).toBe('quota');
});

test('a queue without a cohort has nobody to reclaim from, whatever it says', () => {
  const preemption = { reclaimWithinCohort: 'Any' as const };
  const queues = [
    aClusterQueue('alone', { default: '2' }, { preemption }),
    aClusterQueue('shared', { default: '2' }, { preemption, cohortName: 'all' }),
  ];
  const snapshot = aSnapshot(queues, [aCluster('eu')]);
  for (const name of ['alone', 'shared']) addUsage(queueOf(snapshot, name).node, snapshot.usage, 'default/cpu', parseAmount('cpu', '2'));
  const outlook = createOutlook(snapshot);
  expect(['alone', 'shared'].map((name) => outlook.obstacle(name, ['cpu'], [1000], undefined))).toEqual(['quota', undefined]);
});
