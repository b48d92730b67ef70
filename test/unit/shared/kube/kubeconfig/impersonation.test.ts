import { expect, test } from 'vitest';
import { impersonationHeaders } from '../../../../../shared/kube/kubeconfig/impersonation.ts';

test('user, UID, groups and extra fields become headers, several values several headers', () => {
  const extra = new Map([['scopes', ['view', 'edit']]]);
  expect(impersonationHeaders({ user: 'boss', uid: '7', groups: ['a', 'b'], extra })).toEqual({
    'impersonate-user': 'boss',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-scopes': ['view', 'edit'],
  });
});

test('the key of an extra field is percent-encoded where a header may not hold it', () => {
  const headers = impersonationHeaders({ user: 'u', uid: undefined, groups: [], extra: new Map([['example.com/a b%', ['x']]]) });
  expect(Object.keys(headers)).toEqual(['impersonate-user', 'impersonate-extra-example.com%2fa%20b%25']);
});
