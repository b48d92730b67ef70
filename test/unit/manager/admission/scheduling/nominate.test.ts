import { expect, test } from 'vitest';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import { addUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { parseAmount, parseRequests } from '../../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head, queueOf } from '../setup.ts';

const all = { cohortName: 'all' };
const aBusySnapshot = (closed?: string) => {
  const queues = [aClusterQueue('main', { default: '2', spot: '4' }, all), aClusterQueue('other', { default: '2', spot: '0' }, all)];
  const snapshot = aSnapshot(queues, [aCluster('eu', { capacity: { cpu: '4' }, closed })]);
  addUsage(queueOf(snapshot, 'other').node, snapshot.usage, 'default/cpu', parseAmount('cpu', '3'));
  addUsage(queueOf(snapshot, 'other').node, snapshot.usage, 'spot/cpu', parseAmount('cpu', '1'));
  return snapshot;
};
const nominated = (cpu: string, snapshot = aBusySnapshot()) => nominate(snapshot, head('main', aWorkload('a', { cpu })), 0);

test('a head that fits is nominated with its place', () => {
  expect(nominated('1')).toMatchObject({ kind: 'Fit', borrowing: 0, placement: { cluster: 'eu', flavors: [{ flavor: 'default' }] } });
});

test('one that could have its own quota back is a ReservingHead, of the flavor for which it borrows least', () => {
  expect(nominated('4')).toMatchObject({
    kind: 'ReservingHead',
    borrowing: 0,
    groups: [[{ flavor: 'spot', mode: 'Preempt', borrowing: 0 }]],
    decision: { waitsFor: 'quota', reason: 'InsufficientQuota' },
  });
});

test('one that could only borrow more is none, and neither is one that no cluster takes now', () => {
  expect(nominated('5')).toMatchObject({ kind: 'Inadmissible' });
  expect(nominated('4', aBusySnapshot('cordoned'))).toMatchObject({ kind: 'Inadmissible', waitsFor: 'quota' });
});

test('one that is larger than the nodes of every cluster has a reason of its own, and one that is short of room says of what', () => {
  const nodes = (cpu: string) => ({ nodeShapes: [{ count: 4, allocatable: parseRequests({ cpu, pods: '110' }) }] });
  const waits = (...clusters: Parameters<typeof aSnapshot>[1]) =>
    nominate(aSnapshot([aClusterQueue('main', { default: '8' })], clusters), head('main', aWorkload('a', { cpu: '4' })), 0);
  expect(waits(aCluster('eu', nodes('2')))).toMatchObject({ waitsFor: 'setup', reason: 'ExceedsNodes', shortOf: undefined });
  expect(waits(aCluster('eu', nodes('2')), aCluster('us', { ...nodes('8'), closed: 'cordoned' }))).toMatchObject({
    waitsFor: 'cluster',
    reason: 'NoClusterFits',
    shortOf: undefined,
  });
  expect(waits(aCluster('eu', { capacity: { cpu: '3' } }))).toMatchObject({ reason: 'NoClusterFits', shortOf: ['cpu'] });
  expect(waits()).toMatchObject({ reason: 'NoClusterFits', message: 'no worker cluster is known' });
});
