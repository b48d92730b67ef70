import { expect, test } from 'vitest';
import type { AccessQuestion, Authorizer } from '../../../../../shared/controlplane/auth/authorizer.ts';
import { impersonate } from '../../../../../shared/controlplane/auth/impersonation.ts';
import type { UserInfo } from '../../../../../shared/controlplane/auth/user-info.ts';

const LIST: AccessQuestion = {
  kind: 'resource',
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  subresource: '',
  namespace: 'ns',
  name: '',
};
/** Allows what is listed, each as `verb resource name`. */
const allowing = (...allowed: string[]): Authorizer => ({
  authorize: (_user, question) => {
    const asked = question.kind === 'path' ? `${question.verb} ${question.path}` : `${question.verb} ${question.resource} ${question.name}`;
    return { allowed: allowed.includes(asked.trim()), reason: '' };
  },
});
const everything: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
const alice: UserInfo = { name: 'alice', groups: ['system:authenticated'] };

test('without headers everybody speaks for themselves', () => {
  expect(impersonate(alice, {}, LIST, allowing())).toBe(alice);
});

test('who may do everything acts as anybody, with the groups that belong to the name', () => {
  const as = (headers: Record<string, string>): UserInfo => impersonate(alice, headers, LIST, everything);
  expect(as({ 'impersonate-user': 'bob', 'impersonate-group': 'devs, ops' })).toEqual({
    name: 'bob',
    groups: ['devs', 'ops', 'system:authenticated'],
  });
  expect(as({ 'impersonate-user': 'system:serviceaccount:ns:sa' }).groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  expect(as({ 'impersonate-user': 'system:node:n1' }).groups).toEqual(['system:nodes', 'system:authenticated']);
  expect(as({ 'impersonate-user': 'system:anonymous' }).groups).toEqual(['system:unauthenticated']);
  expect(as({ 'impersonate-user': 'bob', 'impersonate-uid': 'u', 'impersonate-extra-scopes%2fx': 'a, b' })).toMatchObject({
    uid: 'u',
    extra: { 'scopes/x': ['a', 'b'] },
  });
});

test('the old permission is enough, and only it gives system:masters', () => {
  const old = allowing('impersonate users bob', 'impersonate groups system:masters');
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' };
  expect(impersonate(alice, headers, LIST, old).groups).toEqual(['system:masters', 'system:authenticated']);
  const narrow = allowing(
    'impersonate-on:user-info:list configmaps',
    'impersonate:user-info users bob',
    'impersonate:user-info groups system:masters',
  );
  expect(() => impersonate(alice, headers, LIST, narrow)).toThrow('impersonating the system:masters group is not allowed');
});

test('the narrow permission is for one verb on one resource', () => {
  const narrow = allowing('impersonate-on:user-info:list configmaps', 'impersonate:user-info users bob');
  expect(impersonate(alice, { 'impersonate-user': 'bob' }, LIST, narrow).name).toBe('bob');
  expect(() => impersonate(alice, { 'impersonate-user': 'bob' }, { ...LIST, verb: 'watch' }, narrow)).toThrow(
    'configmaps is forbidden: User "alice" cannot impersonate-on:user-info:watch resource "configmaps" in API group "" in the namespace "ns"',
  );
});

test('service accounts and nodes have permissions of their own', () => {
  const refusal =
    (name: string): (() => UserInfo) =>
    () =>
      impersonate(alice, { 'impersonate-user': name }, LIST, allowing());
  expect(refusal('system:serviceaccount:ns:sa')).toThrow('cannot impersonate-on:serviceaccount:list resource "configmaps"');
  expect(refusal('system:node:n1')).toThrow('cannot impersonate-on:arbitrary-node:list resource "configmaps"');
});

test('groups, uid or extra without a user are a bad request, shown as Go prints it', () => {
  const refusal =
    (headers: Record<string, string>): (() => UserInfo) =>
    () =>
      impersonate(alice, headers, LIST, everything);
  expect(refusal({ 'impersonate-group': 'x' })).toThrow(
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
  );
  expect(refusal({ 'impersonate-uid': 'u', 'impersonate-extra-k': 'v' })).toThrow(
    'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string{"k":[]string{"v"}}} without impersonating a user name',
  );
});
