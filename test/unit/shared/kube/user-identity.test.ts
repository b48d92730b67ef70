import { expect, test } from 'vitest';
import { digestOf, ownerOf, withoutCredential } from '../../../../shared/kube/user-identity.ts';

test('a user is counted by name, and a ServiceAccount by its namespace', () => {
  expect(ownerOf({ username: 'ann@example.com' })).toBe('ann@example.com');
  expect(ownerOf({ username: 'system:serviceaccount:team:one' })).toBe('system:serviceaccounts:team');
  expect(ownerOf({ username: 'system:serviceaccount:team:two' })).toBe('system:serviceaccounts:team');
  expect(ownerOf({ username: 'system:serviceaccount:other:one' })).toBe('system:serviceaccounts:other');
  expect(ownerOf({ username: 'system:serviceaccount:team' })).toBe('system:serviceaccount:team');
});

test('two tokens of one user are one user; what restricts a token stays', () => {
  const [first, second] = ['JTI=1', 'JTI=2'].map((id) =>
    withoutCredential({ username: 'ann', uid: 'u', groups: ['dev'], extra: { 'authentication.kubernetes.io/credential-id': [id] } }),
  );
  expect(first).toEqual(second);
  expect(first).toEqual({ username: 'ann', uid: 'u', groups: ['dev'] });
  expect(withoutCredential({ username: 'ann', extra: { scopes: ['read'] } })).toEqual({ username: 'ann', extra: { scopes: ['read'] } });
});

test('a digest tells nothing of what it is of, and two are alike where that is alike', () => {
  expect(digestOf('a-token')).toBe(digestOf('a-token'));
  expect(digestOf('a-token')).not.toBe(digestOf('b-token'));
  expect(digestOf(['ann', { verb: 'get' }])).not.toContain('ann');
});
