import { expect, test } from 'vitest';
import { createInvertedIndex } from '../../../../shared/runtime/inverted-index.ts';

test('a key is found under each of its terms, and under no other', () => {
  const index = createInvertedIndex();
  index.set('team/a', ['eu-1', 'us-2']);
  index.set('team/b', ['eu-1']);
  expect([index.of('eu-1'), index.of('us-2'), index.of('us-3')]).toEqual([['team/a', 'team/b'], ['team/a'], []]);
  expect([index.has('us-2'), index.has('us-3'), [...index.keys()]]).toEqual([true, false, ['team/a', 'team/b']]);
});

test('the terms of a key are replaced, and the key is forgotten once it has none', () => {
  const index = createInvertedIndex();
  index.set('team/a', ['eu-1', 'us-2']);
  index.set('team/a', ['us-2', 'us-3']);
  expect([index.of('eu-1'), index.of('us-2'), index.of('us-3')]).toEqual([[], ['team/a'], ['team/a']]);
  index.set('team/a', []);
  expect([index.of('us-2'), index.of('us-3')]).toEqual([[], []]);
  expect([index.has('us-2'), [...index.keys()]]).toEqual([false, []]);
});
