import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { type Resource, SERVICE_ACCOUNTS } from '../../../shared/api/resources.ts';

/** What a manager may do on a worker cluster, as the chart switchyard-worker grants it (templates/manager-access.yaml). */
export type AccessWish = {
  readonly namespace: string;
  readonly name: string;
  /** Where the Leases of manager and worker are: also where those of an earlier release are, while one is at work. */
  readonly leaseNamespaces: readonly string[];
  /** Empty: all. */
  readonly servedNamespaces: readonly string[];
  readonly createNamespaces: boolean;
  /** Where copies may bring ConfigMaps and Secrets along. */
  readonly carryNamespaces: readonly string[];
  /** Kinds of work beside Job whose copies it may make there, as RESOURCE.GROUP. */
  readonly kinds: readonly string[];
  /** Whether it may read the logs of pods that run, to show them in its dashboard. */
  readonly liveLogs: boolean;
};

export type Granted = {
  readonly resource: Resource;
  readonly object: Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly metadata: { readonly name: string; readonly namespace?: string } };
};
export type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

const RBAC = 'rbac.authorization.k8s.io';
const rbac = (kind: string, plural: string, namespaced: boolean): Resource => ({ group: RBAC, version: 'v1', plural, kind, namespaced });
export const ROLES = rbac('Role', 'roles', true);
export const ROLE_BINDINGS = rbac('RoleBinding', 'rolebindings', true);
const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles', false);
const CLUSTER_ROLE_BINDINGS = rbac('ClusterRoleBinding', 'clusterrolebindings', false);

/** What the names of Role and RoleBinding for objects of copies end with, after the name of the account. */
export const CARRY_SUFFIX = '-carry' as const;

const WORK: readonly Rule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['patch'] },
];
const AROUND: readonly Rule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims', 'serviceaccounts'], verbs: ['get'] },
];
/** The ends of logs that the worker keeps. */
const TAILS: Rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };
const LIVE_LOGS: readonly Rule[] = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
/** Rights for the objects that copies bring along. */
const CARRIED: readonly Rule[] = [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['create', 'patch'] }];
const LEASES: readonly Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch', 'create', 'update'] },
];

/** For copies of a described kind. */
function rulesOfKind(kind: string): readonly Rule[] {
  const [resource = '', ...group] = kind.split('.');
  const apiGroups = [group.join('.')];
  return [
    { apiGroups, resources: [resource], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups, resources: [`${resource}/status`], verbs: ['patch'] },
  ];
}

/** Rules by where they hold; '' is everywhere. */
export function rulesOf({
  namespace,
  name,
  leaseNamespaces,
  servedNamespaces,
  createNamespaces,
  carryNamespaces,
  kinds,
  liveLogs,
}: AccessWish): readonly {
  readonly where: string;
  readonly name: '' | '-leases' | '-token' | typeof CARRY_SUFFIX;
  readonly rules: readonly Rule[];
}[] {
  // Beside managers of an earlier release, which look for them there alone, the worker puts them beside copies.
  const work = [
    ...WORK,
    ...kinds.flatMap(rulesOfKind),
    ...AROUND,
    ...(leaseNamespaces.length > 1 ? [TAILS] : []),
    ...(liveLogs ? LIVE_LOGS : []),
  ];
  return [
    {
      where: '',
      name: '',
      rules: [
        { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
        ...(servedNamespaces.length === 0 ? work : []),
        ...(createNamespaces ? [{ apiGroups: [''], resources: ['namespaces'], verbs: ['create'] }] : []),
        { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
        { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: ['list', 'watch'] },
        { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], verbs: ['list', 'watch'] },
      ],
    },
    ...leaseNamespaces.map((where, index) => ({ where, name: '-leases' as const, rules: index === 0 ? [...LEASES, TAILS] : LEASES })),
    // The manager renews its own token, and no other's.
    {
      where: namespace,
      name: '-token',
      rules: [{ apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [name], verbs: ['create'] }],
    },
    ...servedNamespaces.map((where) => ({ where, name: '' as const, rules: work })),
    ...carryNamespaces.map((where) => ({ where, name: CARRY_SUFFIX, rules: CARRIED })),
  ];
}

/** Account, roles and bindings, in the order in which they are made. */
export function accessObjects(wish: AccessWish): Granted[] {
  const { namespace, name } = wish;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace },
    automountServiceAccountToken: false,
  };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const grants = rulesOf(wish).flatMap(({ where, name: suffix, rules }): Granted[] => {
    const [role, binding] = where === '' ? [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS] : [ROLES, ROLE_BINDINGS];
    const metadata = { name: `${name}${suffix}`, ...(where === '' ? {} : { namespace: where }) };
    const made = (resource: Resource, fields: object): Granted => ({
      resource,
      object: { apiVersion: `${RBAC}/v1`, kind: resource.kind, metadata, ...fields },
    });
    return [made(role, { rules }), made(binding, { roleRef: { apiGroup: RBAC, kind: role.kind, name: metadata.name }, subjects })];
  });
  return [{ resource: SERVICE_ACCOUNTS, object: account }, ...grants];
}

export type AskedRight = {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  readonly namespace: string;
  readonly name?: string;
};

/** The same, one question each. */
export const askedRights = (wish: AccessWish): AskedRight[] =>
  rulesOf(wish).flatMap(({ where, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames: [name] = [] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((each) =>
          verbs.map((verb) => {
            const [resource = '', subresource] = each.split('/');
            return {
              group,
              resource,
              verb,
              namespace: where,
              ...(subresource === undefined ? {} : { subresource }),
              ...(name === undefined ? {} : { name }),
            };
          }),
        ),
      ),
    ),
  );
