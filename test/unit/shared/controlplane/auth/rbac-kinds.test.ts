import { describe, expect, test } from 'vitest';
import { RBAC_RESOURCES } from '../../../../../shared/controlplane/auth/rbac-kinds.ts';
import { driveKind, type KindDriver } from '../../../../support/kind-driver.ts';

const GROUP = 'rbac.authorization.k8s.io';
const resourceOf = (kind: string) => {
  const found = RBAC_RESOURCES.find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
};
const drive = (kind: string): KindDriver => driveKind(resourceOf(kind).strategy, resourceOf(kind).namespaced ? 'ns' : '');
const roles = drive('Role');
const clusterRoles = drive('ClusterRole');
const roleBindings = drive('RoleBinding');
const clusterRoleBindings = drive('ClusterRoleBinding');

const metadata = { name: 'reader' };
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const roleRef = { kind: 'ClusterRole', name: 'reader' };
const user = { kind: 'User', name: 'alice' };

test('four kinds are served: roles and bindings, in namespaces and above them', () => {
  expect(RBAC_RESOURCES.map(({ kind, plural, namespaced }) => `${kind} ${plural} ${namespaced}`)).toEqual([
    'ClusterRole clusterroles false',
    'ClusterRoleBinding clusterrolebindings false',
    'Role roles true',
    'RoleBinding rolebindings true',
  ]);
});

describe('a role', () => {
  test('may have rules about resources, and no rules at all', () => {
    expect(roles.create({ metadata, rules: [rule] }).findings).toEqual([]);
    expect(roles.create({ metadata }).findings).toEqual([]);
    expect(roles.create({ metadata, rules: null }).findings).toEqual([]);
  });

  test('has a name that may hold what a name elsewhere may not', () => {
    expect(roles.create({ metadata: { name: 'system:node-reader_1' } }).findings).toEqual([]);
    expect(roles.create({ metadata: { name: 'a/b' } }).findings).toEqual([`metadata.name | Invalid value: "a/b": may not contain '/'`]);
  });

  test.each<[string, object, string[]]>([
    ['without verbs', { ...rule, verbs: [] }, ['rules[0].verbs | Required value: verbs must contain at least one value']],
    [
      'without groups',
      { ...rule, apiGroups: [] },
      ['rules[0].apiGroups | Required value: resource rules must supply at least one api group'],
    ],
    [
      'without resources',
      { ...rule, resources: [] },
      ['rules[0].resources | Required value: resource rules must supply at least one resource'],
    ],
    [
      'about resources and paths',
      { ...rule, nonResourceURLs: ['/x'] },
      ['rules[0].nonResourceURLs | Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs'],
    ],
    [
      'about paths and names of objects',
      { verbs: ['get'], resourceNames: ['a'], nonResourceURLs: ['/x'] },
      ['rules[0].nonResourceURLs | Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs'],
    ],
    [
      'that is empty',
      {},
      [
        'rules[0].verbs | Required value: verbs must contain at least one value',
        'rules[0].apiGroups | Required value: resource rules must supply at least one api group',
        'rules[0].resources | Required value: resource rules must supply at least one resource',
      ],
    ],
  ])('has no rule %s', (_what, broken, findings) => {
    expect(clusterRoles.create({ metadata, rules: [broken] }).findings).toEqual(findings);
  });

  test('has rules about paths only above namespaces', () => {
    const paths = { verbs: ['get'], nonResourceURLs: ['/healthz'] };
    expect(clusterRoles.create({ metadata, rules: [paths] }).findings).toEqual([]);
    expect(roles.create({ metadata, rules: [rule, paths] }).findings).toEqual([
      'rules[1].nonResourceURLs | Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
    ]);
  });

  test('above namespaces may gather others, by selectors that are there and right', () => {
    const gathering = (...clusterRoleSelectors: object[]) =>
      clusterRoles.create({ metadata, aggregationRule: { clusterRoleSelectors } }).findings;
    const path = 'aggregationRule.clusterRoleSelectors';
    expect(gathering({ matchLabels: { part: 'yes' } })).toEqual([]);
    expect(gathering()).toEqual([`${path} | Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`]);
    expect(gathering({}, { matchExpressions: [{ key: 'a', operator: 'Near' }] })).toEqual([
      expect.stringContaining(`${path}[1].matchExpressions[0].operator | `),
      `${path}[1] | Invalid value: null: invalid label selector.`,
    ]);
  });

  test('is shown with the time it was created, as it is', () => {
    const { object } = roles.create({ metadata });
    expect(resourceOf('Role').strategy.table?.cells(object, 0)).toEqual(['reader', object.metadata.creationTimestamp]);
  });
});

describe('a binding', () => {
  test('gets the group of what it names: roles, users and groups, but not service accounts', () => {
    const subjects = [user, { kind: 'Group', name: 'devs', apiGroup: '' }, { kind: 'ServiceAccount', name: 'sa' }];
    const { object, findings } = roleBindings.create({ metadata, roleRef, subjects });
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      roleRef: { apiGroup: GROUP, ...roleRef },
      subjects: [
        { ...user, apiGroup: GROUP },
        { kind: 'Group', name: 'devs', apiGroup: GROUP },
        { kind: 'ServiceAccount', name: 'sa' },
      ],
    });
    expect((object['subjects'] as object[])[2]).not.toHaveProperty('apiGroup');
  });

  test('may have no subjects', () => {
    expect(roleBindings.create({ metadata, roleRef }).findings).toEqual([]);
  });

  test.each<[string, KindDriver, object, string[]]>([
    [
      'a role of no kind',
      roleBindings,
      { ...roleRef, kind: '' },
      ['roleRef.kind | Unsupported value: "": supported values: "Role", "ClusterRole"'],
    ],
    [
      'a role of a namespace from above',
      clusterRoleBindings,
      { ...roleRef, kind: 'Role' },
      ['roleRef.kind | Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [
      'a role of another group',
      roleBindings,
      { ...roleRef, apiGroup: 'apps' },
      [`roleRef.apiGroup | Unsupported value: "apps": supported values: "${GROUP}"`],
    ],
    ['a role without a name', roleBindings, { ...roleRef, name: '' }, ['roleRef.name | Required value']],
    ['a role that no path can name', roleBindings, { ...roleRef, name: '..' }, [`roleRef.name | Invalid value: "..": may not be '..'`]],
  ])('does not name %s', (_what, kind, wrong, findings) => {
    expect(kind.create({ metadata, roleRef: wrong }).findings).toEqual(findings);
  });

  test('names a role', () => {
    expect(roleBindings.create({ metadata }).findings).toEqual([
      `roleRef.apiGroup | Unsupported value: "": supported values: "${GROUP}"`,
      'roleRef.kind | Unsupported value: "": supported values: "Role", "ClusterRole"',
      'roleRef.name | Required value',
    ]);
  });

  test.each<[string, object, string[]]>([
    [
      'without a name',
      { kind: 'User' },
      ['subjects[0].name | Required value', 'subjects[0].name | Invalid value: "": user name cannot be empty'],
    ],
    [
      'of another kind',
      { kind: 'Robot', name: 'r2' },
      ['subjects[0].kind | Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    ['of another group', { ...user, apiGroup: 'apps' }, [`subjects[0].apiGroup | Unsupported value: "apps": supported values: "${GROUP}"`]],
    [
      'that is a service account with a group',
      { kind: 'ServiceAccount', name: 'sa', namespace: 'ns', apiGroup: GROUP },
      [`subjects[0].apiGroup | Unsupported value: "${GROUP}": supported values: ""`],
    ],
    ['that is a service account of no namespace', { kind: 'ServiceAccount', name: 'sa' }, ['subjects[0].namespace | Required value']],
    [
      'that is a service account with an impossible name',
      { kind: 'ServiceAccount', name: 'S A', namespace: 'ns' },
      [expect.stringMatching(/^subjects\[0\]\.name \| Invalid value: "S A": a lowercase RFC 1123 subdomain/) as string],
    ],
  ])('above namespaces has no subject %s', (_what, subject, findings) => {
    expect(clusterRoleBindings.create({ metadata, roleRef, subjects: [subject] }).findings).toEqual(findings);
  });

  test('keeps its role for ever, and changes its subjects', () => {
    const { object } = roleBindings.create({ metadata, roleRef, subjects: [user] });
    expect(roleBindings.update(object, (next) => (next['subjects'] = [])).findings).toEqual([]);
    expect(roleBindings.update(object, (next) => (next['roleRef'] = { ...roleRef, name: 'writer' })).findings).toEqual([
      `roleRef | Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"writer"}: cannot change roleRef`,
    ]);
    // Left out and written are one group.
    expect(roleBindings.update(object, (next) => (next['roleRef'] = roleRef)).findings).toEqual([]);
  });

  test('is shown with its role, its age and its subjects by kind', () => {
    const subjects = [
      user,
      { kind: 'User', name: 'bob' },
      { kind: 'Group', name: 'devs' },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'ns' },
    ];
    const { object } = roleBindings.create({ metadata, roleRef, subjects });
    const cells = resourceOf('RoleBinding').strategy.table?.cells(object, Date.parse(object.metadata.creationTimestamp) + 60_000);
    expect(cells).toEqual(['reader', 'ClusterRole/reader', '60s', 'alice, bob', 'devs', 'ns/sa']);
  });
});
