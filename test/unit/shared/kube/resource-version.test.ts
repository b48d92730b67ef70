import { expect, test } from 'vitest';
import { isOlder, isResourceVersion } from '../../../../shared/kube/resource-version.ts';

test.each([
  ['9', '10'],
  ['19', '20'],
  ['99999999999999999998', '99999999999999999999'],
])('%s is older than %s, and not the other way round', (a, b) => {
  expect(isOlder(a, b)).toBe(true);
  expect(isOlder(b, a)).toBe(false);
});

test('a version is not older than itself', () => {
  expect(isOlder('7', '7')).toBe(false);
});

test.each(['', '0', '07', '-1', '1.5', 'abc'])('%j compares with nothing', (text) => {
  expect(isResourceVersion(text)).toBe(false);
  expect(isOlder(text, '8')).toBe(false);
  expect(isOlder('8', text)).toBe(false);
});
