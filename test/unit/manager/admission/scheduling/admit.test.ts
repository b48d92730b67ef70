import { expect, test } from 'vitest';
import { admit, type Cycle } from '../../../../../manager/admission/scheduling/admit.ts';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import type { Snapshot } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { aCluster, aClusterQueue, aSnapshot, aWorkload, head } from '../setup.ts';

const aCycle = (snapshot: Snapshot, hasStanding = false): Cycle => ({
  snapshot: { ...snapshot, usage: snapshot.usage.fork() },
  unclaimed: snapshot.usage,
  claims: new Map(),
  rooms: new Map(),
  reserving: new Set(),
  displaced: new Set(),
  preemptors: new Set(),
  admittedTo: new Set(),
  hasEarlierClaims: hasStanding,
  nowMs: 0,
});
const fitting = (snapshot: Snapshot, name: string) => {
  const nominee = nominate(snapshot, head('main', aWorkload(name, { cpu: '1' })), 0);
  if (nominee.kind !== 'Fit') throw new Error(`${name} does not fit`);
  return nominee;
};

test('another cluster is taken where the first choice is full by now', () => {
  const snapshot = aSnapshot(
    [aClusterQueue('main', { default: '9' })],
    [aCluster('eu', { capacity: { cpu: '1' } }), aCluster('us', { capacity: { cpu: '1' } })],
  );
  const cycle = aCycle(snapshot);
  const nominees = ['a', 'b', 'c'].map((name) => fitting(snapshot, name));
  expect(nominees.map((nominee) => admit(cycle, nominee))).toMatchObject([
    { kind: 'Admit', record: { cluster: 'eu' } },
    { kind: 'Admit', record: { cluster: 'us' } },
    { kind: 'Requeue' },
  ]);
});

test('both views of usage hold what was admitted', () => {
  const snapshot = aSnapshot([aClusterQueue('main', { default: '9' })], [aCluster('eu')]);
  const cycle = aCycle(snapshot);
  // A claim makes the cell of the upper one its own.
  cycle.snapshot.usage.set('ClusterQueue/main', 'default/cpu', parseAmount('cpu', '2'));
  admit(cycle, fitting(snapshot, 'a'));
  const used = ({ get }: Snapshot['usage']) => get('ClusterQueue/main', 'default/cpu');
  expect([used(cycle.snapshot.usage), used(cycle.unclaimed)]).toEqual([3000, 1000]);
});

test('where only what is kept stands in the way, a later flavor is tried', () => {
  const snapshot = aSnapshot([aClusterQueue('main', { default: '1', spot: '1' })], [aCluster('eu')]);
  const cycle = aCycle(snapshot, true);
  const nominee = fitting(snapshot, 'a');
  cycle.snapshot.usage.set('ClusterQueue/main', 'default/cpu', parseAmount('cpu', '1'));
  expect(admit(cycle, nominee)).toMatchObject({ kind: 'Admit', record: { flavors: { cpu: 'spot' } } });
  const next = fitting(aSnapshot([aClusterQueue('main', { default: '1' })], [aCluster('eu')]), 'b');
  expect(admit(cycle, { ...next, queue: nominee.queue })).toMatchObject({
    kind: 'Inadmissible',
    waitsFor: 'quota',
    reason: 'BehindOtherQueues',
  });
});

test('one for which another flavor has quota waits for room that is kept there, though the quota of its flavor is kept as well', () => {
  const snapshot = aSnapshot([aClusterQueue('main', { default: '1', spot: '1' })], [aCluster('eu', { capacity: { cpu: '1' } })]);
  const cycle = aCycle(snapshot, true);
  const nominee = fitting(snapshot, 'a');
  for (const [holder, key] of [
    ['ClusterQueue/main', 'default/cpu'],
    ['WorkerCluster/eu', 'cpu'],
  ] as const)
    cycle.snapshot.usage.set(holder, key, parseAmount('cpu', '1'));
  expect(admit(cycle, nominee)).toMatchObject({ kind: 'Inadmissible', waitsFor: 'cluster', reason: 'BehindOtherQueues' });
});
