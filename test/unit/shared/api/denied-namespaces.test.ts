import { expect, test } from 'vitest';
import { DENIED_NAMESPACE_PATTERN, deniedBy, SYSTEM_NAMESPACES } from '../../../../shared/api/denied-namespaces.ts';

test.each<[readonly string[], string, string | undefined]>([
  [SYSTEM_NAMESPACES, 'kube-system', 'kube-*'],
  [SYSTEM_NAMESPACES, 'kube-', 'kube-*'],
  [SYSTEM_NAMESPACES, 'kube', undefined],
  [SYSTEM_NAMESPACES, 'my-kube-system', undefined],
  [['kube-*', 'vault'], 'vault', 'vault'],
  [['vault'], 'vault-2', undefined],
  [['a*', 'ab*'], 'abc', 'a*'],
  [[], 'kube-system', undefined],
])('of the list %j, namespace %s falls under %s', (denied, namespace, entry) => {
  expect(deniedBy(denied, namespace)).toBe(entry);
});

test('an entry is a name or a beginning of names, and never all of them', () => {
  const is = (entry: string): boolean => new RegExp(DENIED_NAMESPACE_PATTERN).test(entry);
  expect(['a', 'vault', 'kube-*', 'a*', `${'x'.repeat(62)}*`].map(is)).toEqual([true, true, true, true, true]);
  expect(['', '*', '-a', 'a-', 'a*b', '*-system', 'A', 'a b', 'x'.repeat(64)].map(is)).toEqual(Array.from({ length: 9 }, () => false));
});
