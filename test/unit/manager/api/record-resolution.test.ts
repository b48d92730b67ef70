import { expect, test } from 'vitest';
import { unresolved, type RecordWorld } from '../../../../manager/api/record-resolution.ts';
import { aRecord } from '../../../support/jobs.ts';
import { aClusterQueue } from '../admission/setup.ts';

const RECORD = aRecord({ flavors: { cpu: 'spot' } });
const queue = aClusterQueue('cq', { default: '1', spot: '1' }, { namespaceSelector: { matchLabels: { tier: 'a' } } });
const why = (parts: Partial<RecordWorld> = {}, record = RECORD): string | undefined =>
  unresolved(record, 'team', {
    clusterQueue: (name) => (name === 'cq' ? queue : undefined),
    hasFlavor: (name) => name === 'spot',
    cluster: (name) => (name === 'eu-1' ? { uid: 'uid-eu-1' } : undefined),
    namespaceLabels: (name) => (name === 'team' ? { tier: 'a' } : undefined),
    ...parts,
  });

test('an admission stands while all that it names is there and belongs together', () => {
  expect(why()).toBeUndefined();
  expect(why({}, aRecord({ flavors: {} }))).toBeUndefined();
});

test.each<[string, Partial<RecordWorld>, string]>([
  ['its ClusterQueue is gone', { clusterQueue: () => undefined }, 'cluster queue cq of its admission does not exist'],
  [
    'its namespace is no longer selected',
    { namespaceLabels: () => ({ tier: 'b' }) },
    'the namespaceSelector of cluster queue cq does not select namespace team',
  ],
  [
    'its namespace is not known',
    { namespaceLabels: () => undefined },
    'the namespaceSelector of cluster queue cq does not select namespace team',
  ],
  ['its flavor is gone', { hasFlavor: () => false }, 'ResourceFlavor "spot" of its admission does not exist'],
  [
    'its queue has another flavor',
    { clusterQueue: () => aClusterQueue('cq', { default: '1' }) },
    'cluster queue cq no longer gives cpu in flavor spot',
  ],
  ['its cluster is gone', { cluster: () => undefined }, 'WorkerCluster "eu-1" does not exist'],
])('it does not when %s', (_what, parts, problem) => {
  expect(why(parts)).toBe(problem);
});

test('it does not when the WorkerCluster of its cluster leads to another by now; a name alone, or nobody knows to which, is no contradiction', () => {
  const on = (clusterUID: string) => aRecord({ flavors: {}, clusterUID });
  expect(why({}, on('uid-eu-1'))).toBeUndefined();
  expect(why({}, on('uid-then'))).toBe('WorkerCluster "eu-1" leads to another cluster than the one of its admission (UID uid-then)');
  expect(why({ cluster: () => ({ uid: undefined }) }, on('uid-then'))).toBeUndefined();
});

test('a flavor counts for the resources of its own group only', () => {
  expect(why({}, aRecord({ flavors: { memory: 'spot' } }))).toBe('cluster queue cq no longer gives memory in flavor spot');
});
