import { expect, test } from 'vitest';
import { UNLIMITED } from '../../../../../manager/api/amount.ts';
import { ClusterTable } from '../../../../../manager/admission/quota/cluster-table.ts';
import { aCluster } from '../setup.ts';

test('columns are in the order of the clusters', () => {
  const clusters = [aCluster('b', { capacity: { cpu: '4' } }), aCluster('a')];
  const table = new ClusterTable(clusters, (name) => (name === 'a' ? 7 : 3));
  expect([table.rows, table.capacities('cpu')]).toEqual([
    [3, 7],
    [4000, UNLIMITED],
  ]);
});

test('clusters with the same labels are of one kind, whatever else they are', () => {
  const clusters = [
    aCluster('a', { labels: { region: 'eu', gpu: 'yes' } }),
    aCluster('b', { labels: { region: 'us' } }),
    aCluster('c', { labels: { gpu: 'yes', region: 'eu' }, closed: 'cordoned' }),
    aCluster('d'),
  ];
  expect(new ClusterTable(clusters, () => 0).kinds).toEqual([0, 1, 0, 2]);
});
