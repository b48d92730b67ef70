import { expect, test } from 'vitest';
import { combineFlavors, type Combinable } from '../../../../../manager/admission/flavors/flavor-combination.ts';

type Flavor = Combinable & { readonly name: string };
const flavor = (name: string, nodeLabels: Record<string, string> = {}, terms = -1n): Flavor => ({ name, clusters: [], nodeLabels, terms });
const combined = (groups: readonly (readonly Flavor[])[], offered: (name: string) => boolean = () => true) =>
  combineFlavors(groups, ({ name }) => offered(name))?.map(({ name }) => name);

test('of each group the first that is offered', () => {
  const groups = [[flavor('a'), flavor('b')], [flavor('x')]];
  expect(combined(groups)).toEqual(['a', 'x']);
  expect(combined(groups, (name) => name !== 'a')).toEqual(['b', 'x']);
  expect(combined(groups, (name) => name !== 'x')).toBeUndefined();
  expect(combined([])).toEqual([]);
});

test('pods get the labels of all their flavors, so no two may say different things', () => {
  const zone = (name: string, value: string) => flavor(name, { zone: value });
  expect(combined([[zone('cpu-a', 'a'), zone('cpu-b', 'b')], [zone('gpu-b', 'b')]])).toEqual(['cpu-b', 'gpu-b']);
  expect(combined([[zone('cpu-a', 'a'), zone('cpu-b', 'b')], [flavor('gpu')]])).toEqual(['cpu-a', 'gpu']);
  expect(combined([[zone('cpu-a', 'a')], [zone('gpu-b', 'b')]])).toBeUndefined();
});

test('an earlier group has its wish first, and gives way only to make it possible at all', () => {
  const zones = (...names: string[]) => names.map((name) => flavor(name, { zone: name.slice(-1) }));
  expect(combined([zones('cpu-a', 'cpu-b'), zones('gpu-b', 'gpu-a')])).toEqual(['cpu-a', 'gpu-a']);
  expect(combined([zones('cpu-a', 'cpu-b'), zones('gpu-b', 'gpu-a'), zones('net-b')])).toEqual(['cpu-b', 'gpu-b', 'net-b']);
  expect(combined([zones('cpu-a', 'cpu-b'), zones('gpu-b', 'gpu-a')], (name) => name !== 'gpu-a')).toEqual(['cpu-b', 'gpu-b']);
});

test('one alternative of the affinity must allow all of them', () => {
  const groups = [[flavor('cpu-x', {}, 0b01n), flavor('cpu-y', {}, 0b11n)], [flavor('gpu', {}, 0b10n)]];
  expect(combined(groups)).toEqual(['cpu-y', 'gpu']);
  expect(combined([[flavor('cpu-x', {}, 0b01n)], [flavor('gpu', {}, 0b10n)]])).toBeUndefined();
  expect(combined([[flavor('a', {}, 0b011n)], [flavor('b', {}, 0b101n)], [flavor('c', {}, 0b110n)]])).toBeUndefined();
});
