import { expect, test } from 'vitest';
import { createDisplacements, type Displacer } from '../../../../../manager/admission/preemption/displacements.ts';
import type { Victim } from '../../../../../manager/admission/preemption/preemption.ts';
import { admittedOf, type Holding } from './preemption-world.ts';

const one: Displacer = { key: 'team/one', uid: 'one', clusterQueue: 'main' };
const two: Displacer = { key: 'team/two', uid: 'two', clusterQueue: 'main' };
const victim = (name: string, parts: Partial<Holding> = {}): Victim => ({
  admitted: admittedOf({ name, queue: 'main', requests: { cpu: '1' }, ...parts }),
  rule: 'InClusterQueue',
});

test('one decision replaces the one before for the same Workload, and tells who stays and who goes', () => {
  const all = createDisplacements();
  expect(all.replace(one, [victim('a'), victim('b')])).toEqual(['team/a', 'team/b']);
  expect(all.replace(two, [victim('c')])).toEqual(['team/c']);
  expect(all.replace(one, [victim('b', { leaving: true })])).toEqual(['team/a']);
  expect([...all.all()].map(([key, { by }]) => `${key} for ${by.key}`)).toEqual(['team/b for team/one', 'team/c for team/two']);
  expect(all.replace(one, [])).toEqual(['team/b']);
  expect(all.of('team/b')).toBeUndefined();
});

test('one that leaves for another already goes on doing so for that one', () => {
  const all = createDisplacements();
  all.replace(one, [victim('a')]);
  all.replace(two, [victim('a', { leaving: true })]);
  expect(all.of('team/a')?.by).toBe(one);
});

test('nobody goes for one that does not wait any more', () => {
  const all = createDisplacements();
  all.replace(one, [victim('a')]);
  all.replace(two, [victim('b')]);
  expect(all.withdraw(({ key }) => key === two.key)).toEqual(['team/a']);
  expect([all.of('team/a'), all.of('team/b')?.rule]).toEqual([undefined, 'InClusterQueue']);
});

test('what was decided of one admission says nothing of the next', () => {
  const all = createDisplacements();
  const { admitted, ...rest } = victim('a');
  const { record } = admitted.reservation;
  all.replace(one, [{ admitted, ...rest }]);
  all.keepIfSame('team/a', { ...record, evicted: true });
  expect(all.of('team/a')).toBeDefined();
  all.keepIfSame('team/a', { ...record, since: '2026-01-01T00:00:09Z' });
  expect(all.of('team/a')).toBeUndefined();
  all.forget('team/a');
  expect([...all.all()]).toEqual([]);
});
