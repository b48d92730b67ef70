import { describe, expect, test } from 'vitest';
import { ruleAllows, type PolicyRule } from '../../../../../shared/controlplane/auth/rbac-rules.ts';
import { BOOTSTRAP_CLUSTER_ROLE_BINDINGS, BOOTSTRAP_CLUSTER_ROLES } from '../../../../../shared/controlplane/auth/bootstrap-roles.ts';
import { RBAC_RESOURCES } from '../../../../../shared/controlplane/auth/rbac-kinds.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { matchesSelectorObject } from '../../../../../shared/kube/selectors.ts';

const roleOf = (name: string) => {
  const found = BOOTSTRAP_CLUSTER_ROLES.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no role ${name}`);
  return found;
};
/** The rules of a role, those that it gathers from others included. */
const rulesOf = (name: string): readonly PolicyRule[] => {
  const { rules = [], aggregationRule } = roleOf(name);
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  const gathered = BOOTSTRAP_CLUSTER_ROLES.filter(({ metadata }) =>
    selectors.some((selector) => matchesSelectorObject(selector, metadata.labels)),
  );
  return [...rules, ...gathered.flatMap((role) => role.rules ?? [])];
};
const may = (role: string, verb: string, group: string, resource: string, subresource = ''): boolean =>
  rulesOf(role).some((rule) =>
    ruleAllows(rule, { kind: 'resource', verb, group, version: 'v1', resource, subresource, namespace: 'ns', name: '' }),
  );
const mayGet = (role: string, path: string): boolean => rulesOf(role).some((rule) => ruleAllows(rule, { kind: 'path', verb: 'get', path }));

describe('the roles for people', () => {
  test.each<[string, [verb: string, group: string, resource: string, subresource?: string], string]>([
    ['read Jobs', ['list', 'batch', 'jobs'], 'view edit admin'],
    ['read the log of a pod', ['get', '', 'pods', 'log'], 'view edit admin'],
    ['read the status of a Job', ['get', 'batch', 'jobs', 'status'], 'view edit admin'],
    ['create Jobs', ['create', 'batch', 'jobs'], 'edit admin'],
    ['evict a pod', ['create', '', 'pods', 'eviction'], 'edit admin'],
    ['read secrets', ['get', '', 'secrets'], 'edit admin'],
    ['grant roles', ['create', 'rbac.authorization.k8s.io', 'rolebindings'], 'admin'],
    ['ask what others may do', ['create', 'authorization.k8s.io', 'localsubjectaccessreviews'], 'admin'],
    ['grant cluster roles', ['create', 'rbac.authorization.k8s.io', 'clusterrolebindings'], ''],
    ['write the status of a Job', ['update', 'batch', 'jobs', 'status'], ''],
    ['change namespaces', ['update', '', 'namespaces'], ''],
    ['read nodes', ['get', '', 'nodes'], ''],
  ])('who may %s: %j', (_what, [verb, group, resource, subresource], roles) => {
    expect(['view', 'edit', 'admin'].filter((role) => may(role, verb, group, resource, subresource)).join(' ')).toBe(roles);
  });

  test('are gathered from labelled roles, so that a custom resource can add its own', () => {
    for (const name of ['admin', 'edit', 'view']) {
      expect(roleOf(name)).toMatchObject({
        rules: [],
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' } }] },
      });
    }
  });

  test('what is granted to a narrower role is in the wider ones', () => {
    const held = (role: string) =>
      rulesOf(role).flatMap(({ verbs = [], apiGroups = [], resources = [] }) =>
        apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
      );
    const beyond = (narrow: string, wide: string) => held(narrow).filter((each) => !held(wide).includes(each));
    expect([beyond('view', 'edit'), beyond('edit', 'admin')]).toEqual([[], []]);
  });
});

describe('the roles for everybody', () => {
  test('an administrator may do everything', () => {
    expect(may('cluster-admin', 'escalate', 'any.example.com', 'things', 'status')).toBe(true);
    expect(mayGet('cluster-admin', '/anything')).toBe(true);
  });

  test.each([
    ['/healthz', ['system:discovery', 'system:monitoring', 'system:public-info-viewer']],
    ['/version', ['system:discovery', 'system:public-info-viewer']],
    ['/openapi/v3', ['system:discovery']],
    ['/apis/batch/v1', ['system:discovery']],
    ['/metrics', ['system:monitoring']],
    ['/readyz/etcd', ['system:monitoring']],
    ['/logs', []],
  ])('%s is read by %j', (path, roles) => {
    expect(
      ['system:discovery', 'system:monitoring', 'system:public-info-viewer', 'system:basic-user'].filter((role) => mayGet(role, path)),
    ).toEqual(roles);
  });

  test('who is authenticated may discover, and ask about himself; who is not may see that the server lives', () => {
    const rolesOf = (group: string) =>
      BOOTSTRAP_CLUSTER_ROLE_BINDINGS.filter(({ subjects }) => subjects.some(({ name }) => name === group)).map(
        ({ roleRef }) => roleRef.name,
      );
    expect(rolesOf('system:masters')).toEqual(['cluster-admin']);
    expect(rolesOf('system:authenticated')).toEqual(['system:discovery', 'system:public-info-viewer', 'system:basic-user']);
    expect(rolesOf('system:unauthenticated')).toEqual(['system:public-info-viewer']);
    expect(may('system:basic-user', 'create', 'authorization.k8s.io', 'selfsubjectaccessreviews')).toBe(true);
    expect(may('system:basic-user', 'create', 'authorization.k8s.io', 'subjectaccessreviews')).toBe(false);
  });
});

test('the server would let them in as they are, and every binding leads to a role', () => {
  const findings = (kind: string, object: object): string[] => {
    const validate = RBAC_RESOURCES.find((resource) => resource.kind === kind)?.strategy.validateCreate;
    return (validate?.(structuredClone(object) as AnyObject) ?? []).map(({ field, body }) => `${field}: ${body}`);
  };
  expect(BOOTSTRAP_CLUSTER_ROLES.flatMap((role) => findings('ClusterRole', role))).toEqual([]);
  expect(BOOTSTRAP_CLUSTER_ROLE_BINDINGS.flatMap((binding) => findings('ClusterRoleBinding', binding))).toEqual([]);
  for (const { roleRef } of BOOTSTRAP_CLUSTER_ROLE_BINDINGS) expect(roleOf(roleRef.name)).toBeDefined();
});
