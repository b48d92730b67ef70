import { expect, test } from 'vitest';
import { rightsKey, seesIt, viewerOf, type Rights } from '../../../../manager/dashboard/rights.ts';

const rights = (parts: Partial<Rights> = {}): Rights => ({ namespaces: 'All', queues: 'All', clusters: 'All', ...parts });

test('who may see the same has the same key, in whatever order it was found out', () => {
  const key = rightsKey(rights({ namespaces: new Set(['a', 'b']) }));
  expect(rightsKey(rights({ namespaces: new Set(['b', 'a']) }))).toBe(key);
  expect(rightsKey(rights({ namespaces: new Set(['a']) }))).not.toBe(key);
  expect(rightsKey(rights({ namespaces: new Map([['a', 'n1']]) }))).not.toBe(rightsKey(rights({ namespaces: new Map([['a', 'n2']]) })));
  expect(rightsKey(rights({ namespaces: new Set() }))).not.toBe(rightsKey(rights()));
  expect(rightsKey(rights({ queues: new Set(['a', 'b']), namespaces: 'All' }))).not.toBe(key);
});

test('a viewer is told how far he sees, and not what he does not see', () => {
  expect(viewerOf('ann', rights({ namespaces: new Set(['b', 'a']), queues: new Set(['q']), clusters: new Set() }), false)).toEqual({
    name: 'ann',
    namespaces: ['a', 'b'],
    queues: 'Some',
    clusters: 'None',
    actions: false,
  });
  expect([seesIt('All', 'x'), seesIt(new Set(['y']), 'x')]).toEqual([true, false]);
});
