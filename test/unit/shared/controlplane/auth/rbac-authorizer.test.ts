import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../../../../../shared/controlplane/auth/authenticator.ts';
import { type AccessQuestion, forbiddenSentence } from '../../../../../shared/controlplane/auth/authorizer.ts';
import { createRbacAuthorizer, type RbacAuthorizer } from '../../../../../shared/controlplane/auth/rbac-authorizer.ts';
import { createStore } from '../../../../../shared/controlplane/storage/store.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';

const object = (name: string, content: object, namespace?: string) => ({
  metadata: { name, ...omitUndefined({ namespace }), uid: name, resourceVersion: '', creationTimestamp: '' },
  ...content,
});

/** RBAC with a role in `ns` for alice, an aggregated cluster role for devs and a binding to nothing for bob. */
function anAuthorizer(): RbacAuthorizer {
  const store = createStore({ clock: new FakeClock() });
  const tables = {
    roles: store.table('roles'),
    roleBindings: store.table('rolebindings'),
    clusterRoles: store.table('clusterroles'),
    clusterRoleBindings: store.table('clusterrolebindings'),
  };
  const roleRef = (kind: string, name: string) => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name } });
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
    { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['known'], verbs: ['get'] },
  ];
  tables.roles.put(object('r', { rules }, 'ns'));
  tables.roleBindings.put(
    object(
      'b',
      {
        ...roleRef('Role', 'r'),
        subjects: [
          { kind: 'User', name: 'alice' },
          { kind: 'ServiceAccount', name: 'sa' },
        ],
      },
      'ns',
    ),
  );
  tables.clusterRoles.put(object('all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }, rules: [] }));
  const part = object('part', {
    rules: [
      { nonResourceURLs: ['/logs/*'], verbs: ['get'] },
      { apiGroups: ['*'], resources: ['*/scale'], verbs: ['*'] },
    ],
  });
  tables.clusterRoles.put({ ...part, metadata: { ...part.metadata, labels: { part: 'yes' } } });
  tables.clusterRoleBindings.put(object('d', { ...roleRef('ClusterRole', 'all'), subjects: [{ kind: 'Group', name: 'devs' }] }));
  tables.clusterRoleBindings.put(object('n', { ...roleRef('ClusterRole', 'none'), subjects: [{ kind: 'User', name: 'bob' }] }));
  return createRbacAuthorizer(tables);
}

const may = (user: string, groups: string[], question: Partial<AccessQuestion> & object) =>
  anAuthorizer().authorize({ name: user, groups }, {
    kind: 'resource',
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: 'ns',
    name: '',
    ...question,
  } as AccessQuestion);

describe('role based access', () => {
  test('is granted by a binding in the namespace, and says so', () => {
    expect(may('alice', [], {})).toEqual({ allowed: true, reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "alice"' });
    expect(may('system:serviceaccount:ns:sa', [], {}).reason).toBe(
      'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "sa/ns"',
    );
  });

  test('ends at the namespace, the verb, the subresource and the name', () => {
    expect(may('alice', [], { namespace: 'other' }).allowed).toBe(false);
    expect(may('alice', [], { verb: 'watch' }).allowed).toBe(false);
    expect(may('alice', [], { verb: 'patch', group: 'batch', resource: 'jobs' }).allowed).toBe(false);
    expect(may('alice', [], { verb: 'patch', group: 'batch', resource: 'jobs', subresource: 'status' }).allowed).toBe(true);
    expect(may('alice', [], { resource: 'secrets', name: 'known' }).allowed).toBe(true);
    expect(may('alice', [], { resource: 'secrets' }).allowed).toBe(false);
  });

  test('follows aggregated cluster roles, wildcards and paths', () => {
    expect(may('eve', ['devs'], { group: 'apps', resource: 'deployments', subresource: 'scale' }).allowed).toBe(true);
    expect(may('eve', ['devs'], { kind: 'path', path: '/logs/today' }).allowed).toBe(true);
    expect(may('eve', ['devs'], { kind: 'path', path: '/metrics' }).allowed).toBe(false);
  });

  test('names a role that is not there', () => {
    expect(may('bob', [], {})).toEqual({ allowed: false, reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "none" not found' });
  });

  test('does not bind the masters', () => {
    expect(may('root', ['system:masters'], { verb: 'delete', resource: 'nodes' })).toEqual({ allowed: true, reason: '' });
  });

  test('is refused in upstream words', () => {
    const question = {
      kind: 'resource',
      verb: 'patch',
      group: 'batch',
      version: 'v1',
      resource: 'jobs',
      subresource: 'status',
      namespace: 'ns',
      name: 'j',
    } as const;
    expect(forbiddenSentence({ name: 'alice', groups: [] }, question, '')).toBe(
      'User "alice" cannot patch resource "jobs/status" in API group "batch" in the namespace "ns"',
    );
  });
});

describe('who speaks', () => {
  const authenticator = createAuthenticator(new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]), new FakeClock(), {
    verify: () => ({ kind: 'unknown' }),
  });

  test('a bearer token, a client certificate, nobody, or somebody unknown', () => {
    expect(authenticator.authenticate({ authorization: 'Bearer secret' })).toEqual({
      name: 'admin',
      groups: ['system:masters', 'system:authenticated'],
    });
    expect(authenticator.authenticate({ clientCertificate: { commonName: 'alice', organizations: ['devs'] } })?.groups).toEqual([
      'devs',
      'system:authenticated',
    ]);
    expect(authenticator.authenticate({})).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] });
    expect(authenticator.authenticate({ authorization: 'Bearer wrong' })).toBeUndefined();
  });
});

test('a static token is for the API alone, whatever audiences a review asks for', () => {
  const authenticator = createAuthenticator(new Map([['secret', { name: 'admin', groups: [] }]]), new FakeClock(), {
    verify: () => ({ kind: 'unknown' }),
  });
  expect(authenticator.reviewToken('secret', ['vault'])).toEqual({ kind: 'unknown' });
  expect(authenticator.reviewToken('secret', ['vault', 'https://kubernetes.default.svc'])).toMatchObject({
    kind: 'known',
    audiences: ['https://kubernetes.default.svc'],
  });
});
