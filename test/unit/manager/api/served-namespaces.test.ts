import { expect, test } from 'vitest';
import { servesNamespace } from '../../../../manager/api/served-namespaces.ts';

test('a cluster serves the namespaces that it names, and all when it names none', () => {
  expect([servesNamespace(undefined, 'a'), servesNamespace(['a', 'b'], 'b'), servesNamespace(['a', 'b'], 'ab')]).toEqual([
    true,
    true,
    false,
  ]);
});
