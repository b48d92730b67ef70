import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../shared/controlplane/admission/admission-request.ts';
import { preventEscalation } from '../../../../../shared/controlplane/admission/escalation.ts';
import type { RbacAuthorizer } from '../../../../../shared/controlplane/auth/rbac-authorizer.ts';
import { type PolicyRule, ruleAllows } from '../../../../../shared/controlplane/auth/rbac-rules.ts';

/** An authorizer that grants everybody the same rules; role `strong` holds more. */
const granting = (...rules: PolicyRule[]): RbacAuthorizer => ({
  authorize: (_user, question) => ({ allowed: rules.some((rule) => ruleAllows(rule, question)), reason: '' }),
  rulesFor: () => ({ granted: rules.map((rule) => ({ rule, because: '' })), errors: [] }),
  rulesOfRole: ({ name }) => (name === 'strong' ? [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] : undefined),
});
const request = (resource: string, content: object, groups: string[] = ['devs']): AdmissionRequest => ({
  operation: 'CREATE',
  kind: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: '' },
  resource: { group: 'rbac.authorization.k8s.io', version: 'v1', resource },
  subresource: '',
  name: 'r',
  namespace: 'ns',
  object: { metadata: { name: 'r', uid: '', resourceVersion: '', creationTimestamp: '' }, ...content },
  oldObject: undefined,
  options: {},
  dryRun: false,
  user: { name: 'alice', groups },
  warn: () => undefined,
});
const readPods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

test('whoever holds a rule may grant it, also in parts', () => {
  const guard = preventEscalation(granting(readPods));
  expect(guard.mutate(request('roles', { rules: [{ ...readPods, verbs: ['get'] }] }))).toBeUndefined();
});

test('nobody grants more than they hold', () => {
  const guard = preventEscalation(granting(readPods));
  expect(() => guard.mutate(request('roles', { rules: [{ ...readPods, verbs: ['get', 'delete', 'patch'] }] }))).toThrow(
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "alice" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}',
  );
});

test('binding a role is granting it, unless one may bind', () => {
  const binding = request('rolebindings', { roleRef: { kind: 'Role', name: 'strong' }, subjects: [] });
  expect(() => preventEscalation(granting(readPods)).mutate(binding)).toThrow('not currently held');
  const mayBind = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'] };
  expect(preventEscalation(granting(readPods, mayBind)).mutate(binding)).toBeUndefined();
  const toNothing = request('rolebindings', { roleRef: { kind: 'Role', name: 'none' }, subjects: [] });
  expect(() => preventEscalation(granting(readPods)).mutate(toNothing)).toThrow('rolebindings.rbac.authorization.k8s.io "none" not found');
});

test('masters and holders of escalate grant what they like', () => {
  const everything = request('clusterroles', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, ['system:masters']);
  expect(preventEscalation(granting()).mutate(everything)).toBeUndefined();
  const mayEscalate = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['escalate'] };
  expect(preventEscalation(granting(mayEscalate)).mutate({ ...everything, user: { name: 'alice', groups: [] } })).toBeUndefined();
});

test('whoever may not grant a role may not change its labels either, only let it be collected', () => {
  const strong = request('roles', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
  const object = strong.object ?? { metadata: { name: 'r', uid: '', resourceVersion: '', creationTimestamp: '' } };
  const changed = (metadata: object): AdmissionRequest => ({
    ...strong,
    operation: 'UPDATE',
    oldObject: object,
    object: { ...object, metadata: { ...object.metadata, ...metadata } },
  });
  const guard = preventEscalation(granting(readPods));
  expect(() => guard.mutate(changed({ labels: { a: 'b' } }))).toThrow('not currently held');
  expect(guard.mutate(changed({ finalizers: ['e.com/x'] }))).toBeUndefined();
});

test('an aggregated role takes everything there is', () => {
  const aggregated = request('clusterroles', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } });
  expect(() => preventEscalation(granting(readPods)).mutate(aggregated)).toThrow(
    'clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  );
  const all: PolicyRule[] = [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ];
  expect(preventEscalation(granting(...all)).mutate(aggregated)).toBeUndefined();
});
