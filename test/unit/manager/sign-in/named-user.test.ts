import { expect, test } from 'vitest';
import { isOfSystem, isUsableGroup, NAME_LENGTH_MAX, namedUser } from '../../../../manager/sign-in/named-user.ts';

test('names and groups of the system, empty groups and overlong ones do not count where others than the API server name them', () => {
  expect(['system:masters', 'system:', 'systems', 'oidc:system:masters'].map(isOfSystem)).toEqual([true, true, false, false]);
  const longest = 'g'.repeat(NAME_LENGTH_MAX);
  expect(['team', '', 'system:masters', longest, `${longest}g`].map(isUsableGroup)).toEqual([true, false, false, true, false]);
});

test('a named user is authenticated', () => {
  expect(namedUser('ann', ['team'])).toEqual({ username: 'ann', groups: ['team', 'system:authenticated'] });
});
