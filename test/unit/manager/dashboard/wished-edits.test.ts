import { expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import { parseWishes } from '../../../../manager/dashboard/wished-edits.ts';

const flavors = [
  {
    name: 'spot',
    resources: [
      { name: 'cpu', nominalQuota: '4' },
      { name: 'example.com/gpu', nominalQuota: '1' },
    ],
  },
];
const queue = {
  metadata: { name: 'main', uid: 'u', resourceVersion: '1' },
  spec: { resourceGroups: [{ coveredResources: ['cpu', 'example.com/gpu'], flavors }] },
} as unknown as ClusterQueue;
const parse = (query: string) => parseWishes(new URLSearchParams(query), queue, new Set(['east']));

test('quotas, a weight and clusters that drain are read', () => {
  expect(parse('quota=spot:cpu=8500m&quota=spot:example.com/gpu=2&weight=0.5&drain=east')).toEqual([
    { object: 'ClusterQueue', name: 'main', edit: { field: 'quota', flavor: 'spot', resource: 'cpu', amount: '8500m' } },
    { object: 'ClusterQueue', name: 'main', edit: { field: 'quota', flavor: 'spot', resource: 'example.com/gpu', amount: '2' } },
    { object: 'ClusterQueue', name: 'main', edit: { field: 'weight', weight: '0.5' } },
    { object: 'WorkerCluster', name: 'east', edit: { field: 'state', state: 'Draining' } },
  ]);
});

test.each([
  ['', 'say what would be otherwise'],
  ['quota=spot:memory=1Gi', 'of which main has spot:cpu, spot:example.com/gpu'],
  ['quota=spot:cpu=', 'write a quantity behind the ='],
  ['quota=spot:cpu=-1', 'write a quantity behind the ='],
  ['quota=spot:cpu=lots', 'write a quantity behind the ='],
  [`quota=spot:cpu=${'9'.repeat(100)}`, 'write a quantity behind the ='],
  ['quota=<b>', 'write FLAVOR:RESOURCE=QUANTITY'],
  ['weight=heavy', 'write a number such as 2 or 0.5'],
  ['weight=-1', 'write a number such as 2 or 0.5'],
  ['drain=secret', 'no WorkerCluster of that name that you may see'],
  ['lend=1', 'choose from quota, weight, drain'],
  ['drain=east&'.repeat(65), 'at most 64 changes at once'],
])('%s is told with its remedy', (query, problem) => {
  expect(parse(query)).toEqual({ problem: expect.stringContaining(problem) });
});
