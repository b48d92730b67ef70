import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import type { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { createAuthenticator } from '../../../../../shared/controlplane/auth/authenticator.ts';
import { createRbacAuthorizer } from '../../../../../shared/controlplane/auth/rbac-authorizer.ts';
import type { UserInfo } from '../../../../../shared/controlplane/auth/user-info.ts';
import { createCall } from '../../../../../shared/controlplane/request/call.ts';
import { parseRequest } from '../../../../../shared/controlplane/request/request.ts';
import { createStore } from '../../../../../shared/controlplane/storage/store.ts';
import { REVIEW_KINDS } from '../../../../../shared/controlplane/subresources/access-reviews.ts';
import { reviewResources } from '../../../../../shared/controlplane/subresources/review-resources.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { anObject } from '../a-served-resource.ts';

const RBAC = 'rbac.authorization.k8s.io';
/** Alice may get configmaps in `ns`; devs may get /metrics. */
function someRights() {
  const store = createStore({ clock: new FakeClock() });
  const tables = {
    roles: store.table('roles'),
    roleBindings: store.table('rolebindings'),
    clusterRoles: store.table('clusterroles'),
    clusterRoleBindings: store.table('clusterrolebindings'),
  };
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] },
    { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['known'] },
  ];
  tables.roles.put(anObject('r', { rules }));
  tables.roleBindings.put(
    anObject('b', { roleRef: { apiGroup: RBAC, kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'alice' }] }),
  );
  tables.clusterRoles.put(anObject('m', { rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }] }, { namespace: '' }));
  tables.clusterRoleBindings.put(
    anObject(
      'm',
      { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'm' }, subjects: [{ kind: 'Group', name: 'devs' }] },
      { namespace: '' },
    ),
  );
  tables.clusterRoleBindings.put(
    anObject(
      'n',
      { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'gone' }, subjects: [{ kind: 'User', name: 'bob' }] },
      { namespace: '' },
    ),
  );
  const authenticator = createAuthenticator(new Map([['secret', { name: 'alice', uid: 'a1', groups: ['devs'] }]]), new FakeClock(), {
    verify: () => ({ kind: 'unknown' }),
  });
  return { authorizer: createRbacAuthorizer(tables), authenticator };
}

const alice: UserInfo = { name: 'alice', groups: ['devs'] };
const answer = (kind: string, spec: object | undefined, user = alice, namespace = ''): AnyObject => {
  const review = REVIEW_KINDS.find((each) => each.kind === kind);
  if (review === undefined) throw new Error(`no ${kind}`);
  // Decoding leaves reviews with what the client wrote, which is no metadata.
  const object = { metadata: namespace === '' ? {} : { namespace }, ...(spec === undefined ? {} : { spec }) } as AnyObject;
  return review.answer(object, user, namespace, someRights());
};
const status = (...question: Parameters<typeof answer>): unknown => answer(...question)['status'];
const getConfigMaps = { resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'ns' } };
const getMetrics = { nonResourceAttributes: { verb: 'get', path: '/metrics' } };

describe('a SelfSubjectAccessReview', () => {
  test('tells whether and why one may', () => {
    expect(status('SelfSubjectAccessReview', getConfigMaps)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "alice"',
    });
    expect(status('SelfSubjectAccessReview', getMetrics)).toMatchObject({ allowed: true });
  });
  test('tells without a reason that nothing allows it, and with one what could not be looked up', () => {
    expect(status('SelfSubjectAccessReview', { resourceAttributes: { ...getConfigMaps.resourceAttributes, namespace: 'other' } })).toEqual({
      allowed: false,
    });
    expect(status('SelfSubjectAccessReview', getConfigMaps, { name: 'bob', groups: [] })).toEqual({
      allowed: false,
      reason: `RBAC: clusterrole.${RBAC} "gone" not found`,
    });
  });
  test('asks about the one who asks, whomever it names', () => {
    expect(status('SelfSubjectAccessReview', { ...getConfigMaps, user: 'alice' }, { name: 'carol', groups: [] })).toEqual({
      allowed: false,
    });
  });
});

describe('a SubjectAccessReview', () => {
  test('asks about a user, or about the members of a group', () => {
    expect(status('SubjectAccessReview', { ...getConfigMaps, user: 'alice' }, { name: 'carol', groups: [] })).toMatchObject({
      allowed: true,
    });
    expect(status('SubjectAccessReview', { ...getMetrics, groups: ['devs'] })).toMatchObject({ allowed: true });
    expect(status('SubjectAccessReview', { ...getMetrics, user: 'carol', uid: 'c', extra: { scopes: ['x'] } })).toEqual({ allowed: false });
  });
  test.each<[string, object | undefined, string[]]>([
    ['nobody', getConfigMaps, ['spec.user: Invalid value: "": at least one of user or group must be specified']],
    [
      'nothing',
      { user: 'alice' },
      ['spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    ],
    [
      'two things at once',
      { user: 'alice', ...getConfigMaps, ...getMetrics },
      [
        'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/metrics"}: cannot be specified in combination with resourceAttributes',
      ],
    ],
    [
      'nothing about nobody',
      undefined,
      [
        'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
        'spec.user: Invalid value: "": at least one of user or group must be specified',
      ],
    ],
    [
      'by a selector that selects nothing',
      { user: 'alice', resourceAttributes: { ...getConfigMaps.resourceAttributes, labelSelector: {} } },
      [
        'spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
      ],
    ],
    [
      'by a field without a name',
      {
        user: 'alice',
        resourceAttributes: { ...getConfigMaps.resourceAttributes, fieldSelector: { requirements: [{ operator: 'Exists' }] } },
      },
      ['spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified'],
    ],
  ])('that asks %s is refused', (_what, spec, sentences) => {
    const all = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
    expect(() => answer('SubjectAccessReview', spec)).toThrow(
      expect.objectContaining({ code: 422, reason: 'Invalid', message: `.authorization.k8s.io "" is invalid: ${all}` }) as StatusError,
    );
  });
});

test('a review is no object that is kept: it has no metadata', () => {
  const review = REVIEW_KINDS.find(({ kind }) => kind === 'SelfSubjectAccessReview');
  const named = { ...anObject('x'), metadata: { name: 'x' }, spec: getConfigMaps } as object as AnyObject;
  expect(() => review?.answer(named, alice, '', someRights())).toThrow('metadata: Invalid value: {"name":"x"}: must be empty');
});

describe('a LocalSubjectAccessReview', () => {
  const ask =
    (spec: object, namespace = 'ns') =>
    () =>
      status('LocalSubjectAccessReview', { user: 'alice', ...spec }, alice, namespace);
  test('asks about its own namespace', () => {
    expect(ask(getConfigMaps)()).toMatchObject({ allowed: true });
    expect(ask(getConfigMaps, 'other')).toThrow('spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace');
  });
  test('does not ask about paths', () => {
    expect(ask(getMetrics)).toThrow(
      'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/metrics"}: disallowed on this kind of request',
    );
  });
});

describe('a SelfSubjectRulesReview', () => {
  test('lists what one may do in a namespace, and does not repeat the question', () => {
    expect(answer('SelfSubjectRulesReview', { namespace: 'ns' })).toMatchObject({
      spec: {},
      status: {
        resourceRules: [
          { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] },
          { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['known'] },
        ],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
        incomplete: false,
      },
    });
  });
  test('tells what could not be looked up', () => {
    expect(status('SelfSubjectRulesReview', { namespace: 'ns' }, { name: 'bob', groups: [] })).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
      evaluationError: `clusterrole.${RBAC} "gone" not found`,
    });
  });
  test('needs a namespace', () => {
    expect(() => answer('SelfSubjectRulesReview', {})).toThrow('no namespace on request');
  });
});

describe('a SelfSubjectReview', () => {
  test('tells who one is, without what is empty', () => {
    expect(status('SelfSubjectReview', undefined, { name: 'alice', uid: 'a1', groups: ['devs'], extra: { scopes: ['x'] } })).toEqual({
      userInfo: { username: 'alice', uid: 'a1', groups: ['devs'], extra: { scopes: ['x'] } },
    });
    expect(status('SelfSubjectReview', undefined, { name: 'alice', uid: '', groups: [], extra: {} })).toEqual({
      userInfo: { username: 'alice' },
    });
  });
});

describe('a TokenReview', () => {
  test('tells whose token it is', () => {
    expect(status('TokenReview', { token: 'secret' })).toEqual({
      authenticated: true,
      audiences: ['https://kubernetes.default.svc'],
      user: { username: 'alice', uid: 'a1', groups: ['devs', 'system:authenticated'] },
    });
  });
  test('of a wrong token says so, of none is refused', () => {
    expect(status('TokenReview', { token: 'guess' })).toEqual({ user: {}, error: 'invalid bearer token' });
    expect(() => answer('TokenReview', {})).toThrow('token is required for TokenReview in authentication');
  });
});

describe('reviews as resources', () => {
  const resources = reviewResources(someRights());
  const post = async (resource: string, body: object, query = '') => {
    const path = `/apis/authorization.k8s.io/v1/${resource}${query}`;
    const call = createCall({ method: 'POST', path, headers: {}, body: JSON.stringify(body) }, parseRequest('POST', path), alice);
    const made = await resources.find((each) => each.resource === resource)?.methods['POST']?.(call, undefined);
    if (made?.kind !== 'whole') throw new Error('no answer');
    return { status: made.status, body: JSON.parse(String(made.body)) as unknown, warnings: call.warnings };
  };

  test('can be created and nothing else', () => {
    expect(resources.map(({ resource, methods }) => `${resource} ${Object.keys(methods).join()}`)).toEqual(
      REVIEW_KINDS.map(({ plural }) => `${plural} POST`),
    );
  });
  test('answer with themselves, their kind and the status', async () => {
    expect(await post('selfsubjectaccessreviews', { spec: getConfigMaps })).toMatchObject({
      status: 201,
      body: { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: getConfigMaps, status: { allowed: true } },
      warnings: [],
    });
  });
  test('warn of unknown fields, and refuse them where that is asked', async () => {
    const body = { spec: { ...getConfigMaps, usr: 'x' } };
    expect((await post('selfsubjectaccessreviews', body)).warnings).toEqual(['unknown field "spec.usr"']);
    await expect(post('selfsubjectaccessreviews', body, '?fieldValidation=Strict')).rejects.toThrow(/unknown field "spec.usr"/);
  });
});
