import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charge, discharge } from '../../../../../manager/admission/flavors/holding.ts';
import { clusterHolder, createUsage } from '../../../../../manager/admission/quota/usage.ts';
import { parseAmount, parseRequests } from '../../../../../manager/api/amount.ts';
import { aClusterQueue, aSnapshot, queueOf } from '../setup.ts';

const snapshot = aSnapshot(
  ['a', 'b'].map((name) => aClusterQueue(name, { default: '2' }, { cohortName: 'all' })),
  [],
);
const aHolding = (queue: string, cluster: string, cpu: number) => {
  const { node } = queueOf(snapshot, queue);
  return { node, charges: [['default/cpu', parseAmount('cpu', cpu)]] as const, cluster, amounts: parseRequests({ cpu, pods: 1 }) };
};

test('one holds quota of its ClusterQueue and of the cohort above, and room on its cluster', () => {
  const usage = createUsage();
  charge(usage, aHolding('a', 'eu', 3));
  const held = [
    ['ClusterQueue/a', 'default/cpu'],
    ['Cohort/all', 'default/cpu'],
    ['ClusterQueue/b', 'default/cpu'],
    [clusterHolder('eu'), 'cpu'],
    [clusterHolder('eu'), 'pods'],
    [clusterHolder('us'), 'cpu'],
  ] as const;
  expect(held.map(([holder, key]) => usage.get(holder, key))).toEqual([3000, 3000, 0, 3000, 1, 0]);
});

test('whose queue is gone holds room only', () => {
  const usage = createUsage();
  charge(usage, { ...aHolding('a', 'eu', 3), node: undefined });
  expect([usage.get('ClusterQueue/a', 'default/cpu'), usage.get(clusterHolder('eu'), 'cpu')]).toEqual([0, 3000]);
});

test('what all have given back, in whatever order, is held by nobody', () => {
  const holding = fc.record({ queue: fc.constantFrom('a', 'b'), cluster: fc.constantFrom('eu', 'us'), cpu: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(holding, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (drawn, order) => {
      const usage = createUsage();
      const all = drawn.map(({ queue, cluster, cpu }) => aHolding(queue, cluster, cpu));
      for (const each of all) charge(usage, each);
      for (const each of all.map((one) => [one, order.next().value] as const).toSorted(([, x], [, y]) => x - y)) discharge(usage, each[0]);
      const holders = ['ClusterQueue/a', 'ClusterQueue/b', 'Cohort/all'].map((holder) => usage.get(holder, 'default/cpu'));
      const rooms = ['eu', 'us'].flatMap((cluster) => ['cpu', 'pods'].map((resource) => usage.get(clusterHolder(cluster), resource)));
      expect([...holders, ...rooms]).toEqual([0, 0, 0, 0, 0, 0, 0]);
    }),
  );
});
