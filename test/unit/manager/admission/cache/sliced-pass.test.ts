import { expect, test } from 'vitest';
import { createSlicedPass } from '../../../../../manager/admission/cache/sliced-pass.ts';

const after = (calls: number) => () => --calls <= 0;

test('everybody is visited once, however many parts it takes', () => {
  const crowd = new Map(Array.from({ length: 100 }, (_, index) => [index, index]));
  const walks = createSlicedPass(() => crowd.values());
  const visited: number[] = [];
  walks.enqueue((each) => {
    crowd.set(each, each);
    visited.push(each);
  });
  expect(walks.runUntil(after(1))).toBe(true);
  expect(visited).toHaveLength(32);
  expect(walks.runUntil(after(2))).toBe(true);
  expect(visited).toHaveLength(96);
  expect(walks.runUntil(after(2))).toBe(false);
  expect(visited).toEqual([...crowd.keys()]);
  expect(walks.runUntil(() => true)).toBe(false);
});

test('that a walk begins is told, though nobody is there', () => {
  const told: string[] = [];
  const walks = createSlicedPass(() => [1].values());
  const nobody = createSlicedPass(() => [].values());
  for (const each of [walks, nobody]) {
    each.enqueue(
      () => told.push('visited'),
      () => told.push('begun'),
    );
    expect(each.runUntil(() => false)).toBe(false);
  }
  expect(told).toEqual(['begun', 'visited', 'begun']);
});

test('whoever goes before his turn is not visited, and what is asked for later comes later', () => {
  const crowd = new Set(['a', 'b', 'c']);
  const walks = createSlicedPass(() => crowd.values());
  const visited: string[] = [];
  walks.enqueue((each) => {
    crowd.delete('b');
    visited.push(`first ${each}`);
  });
  walks.enqueue((each) => visited.push(`second ${each}`));
  expect(walks.runUntil(() => false)).toBe(false);
  expect(visited).toEqual(['first a', 'first c', 'second a', 'second c']);
});
