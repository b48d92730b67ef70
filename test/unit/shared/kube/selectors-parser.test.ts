import { expect, test } from 'vitest';
import { parseRequirements } from '../../../../shared/kube/selectors-parser.ts';

test('terms come out by key, the values of a set in order and once', () => {
  expect(parseRequirements('tier in (b, a, b), app=web, !canary, zone')).toEqual([
    { key: 'app', operator: 'In', values: ['web'] },
    { key: 'canary', operator: 'DoesNotExist', values: [] },
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'zone', operator: 'Exists', values: [] },
  ]);
});

test('the common case and the long way say the same', () => {
  expect(parseRequirements('app=web')).toEqual(parseRequirements(' app == web '));
});

test('what cannot be read is said as a sentence', () => {
  expect(parseRequirements('app in web')).toBe("unable to parse requirement: found 'web' expected: '('");
});
