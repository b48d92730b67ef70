import { readFileSync } from 'node:fs';
import type { PolicyRule } from './rbac-rules.ts';

type ClusterRole = {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors: readonly { readonly matchLabels: Readonly<Record<string, string>> }[] };
};
type ClusterRoleBinding = {
  readonly metadata: ClusterRole['metadata'];
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly apiGroup?: string; readonly name: string; readonly namespace?: string }[];
};

const GROUP = 'rbac.authorization.k8s.io';
const BOOTSTRAPPING = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const AUTOUPDATE = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];

const role = (name: string, rules: PolicyRule[], labels: Record<string, string> = {}): ClusterRole => ({
  metadata: { name, labels: { ...BOOTSTRAPPING, ...labels }, annotations: AUTOUPDATE },
  rules,
});
const aggregated = (name: string, ...from: string[]): ClusterRole => ({
  metadata: {
    name,
    labels: { ...BOOTSTRAPPING, ...Object.fromEntries(from.slice(1).map((each) => [AGGREGATE + each, 'true'])) },
    annotations: AUTOUPDATE,
  },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${AGGREGATE}${from[0]}`]: 'true' } }] },
  rules: [],
});
const onResources = (verbs: string[], group: string, ...resources: string[]): PolicyRule => ({ verbs, apiGroups: [group], resources });
const onPaths = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs });

const WORKLOADS: readonly [string, string[]][] = [
  ['', ['configmaps', 'events', 'persistentvolumeclaims', 'pods', 'replicationcontrollers', 'serviceaccounts', 'services']],
  ['apps', ['daemonsets', 'deployments', 'replicasets', 'statefulsets']],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['batch', ['cronjobs', 'jobs']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
  ['policy', ['poddisruptionbudgets']],
];

// The aggregated roles are resolved one level deep, so the wider ones repeat the narrower.
const VIEWED: PolicyRule[] = [
  ...WORKLOADS.map(([group, resources]) => onResources(READ, group, ...resources)),
  onResources(READ, '', 'namespaces', 'limitranges', 'resourcequotas', 'pods/log', 'pods/status', 'namespaces/status'),
  onResources(READ, 'batch', 'jobs/status', 'cronjobs/status'),
];
const EDITED: PolicyRule[] = [
  ...VIEWED,
  ...WORKLOADS.map(([group, resources]) => onResources(WRITE, group, ...resources)),
  onResources([...READ, ...WRITE], '', 'secrets'),
  onResources(['create'], '', 'pods/eviction'),
  onResources([...READ, ...WRITE], 'coordination.k8s.io', 'leases'),
];

/** The roles of the components of a cluster, by name, and who has them; as kube-apiserver v1.36 shows them. */
type SystemRoles = {
  readonly roles: Readonly<Record<string, PolicyRule[]>>;
  readonly bindings: Readonly<Record<string, readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]>>;
};
const SYSTEM: SystemRoles = JSON.parse(readFileSync(new URL('system-roles.json', import.meta.url), 'utf8'));

/**
 * The roles for people and for everybody that a cluster has from the beginning (bootstrappolicy), as far as its kinds are served, and those
 * of its components.
 */
export const BOOTSTRAP_CLUSTER_ROLES: readonly ClusterRole[] = [
  role('cluster-admin', [onResources(['*'], '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
  role('system:discovery', [
    onPaths('/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz', '/version', '/version/'),
    onPaths('/.well-known', '/.well-known/*'),
  ]),
  role('system:monitoring', [onPaths('/healthz', '/healthz/*', '/livez', '/livez/*', '/metrics', '/metrics/slis', '/readyz', '/readyz/*')]),
  role('system:public-info-viewer', [onPaths('/healthz', '/livez', '/readyz', '/version', '/version/')]),
  role('system:basic-user', [
    onResources(['create'], 'authorization.k8s.io', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
    onResources(['create'], 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  role('system:auth-delegator', [
    onResources(['create'], 'authentication.k8s.io', 'tokenreviews'),
    onResources(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
  ]),
  aggregated('admin', 'admin'),
  aggregated('edit', 'edit', 'admin'),
  aggregated('view', 'view', 'edit'),
  role(
    'system:aggregate-to-admin',
    [
      onResources(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
      onResources([...WRITE, ...READ], GROUP, 'rolebindings', 'roles'),
      ...EDITED,
    ],
    { [`${AGGREGATE}admin`]: 'true' },
  ),
  role('system:aggregate-to-edit', EDITED, { [`${AGGREGATE}edit`]: 'true' }),
  role('system:aggregate-to-view', VIEWED, { [`${AGGREGATE}view`]: 'true' }),
  ...Object.entries(SYSTEM.roles).map(([name, rules]) => role(name, rules)),
];

const binding = (name: string, ...groups: string[]): ClusterRoleBinding => ({
  metadata: { name, labels: BOOTSTRAPPING, annotations: AUTOUPDATE },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
  subjects: groups.map((each) => ({ kind: 'Group', apiGroup: GROUP, name: each })),
});

export const BOOTSTRAP_CLUSTER_ROLE_BINDINGS: readonly ClusterRoleBinding[] = [
  binding('cluster-admin', 'system:masters'),
  binding('system:discovery', 'system:authenticated'),
  binding('system:monitoring', 'system:monitoring'),
  binding('system:public-info-viewer', 'system:authenticated', 'system:unauthenticated'),
  binding('system:basic-user', 'system:authenticated'),
  ...Object.entries(SYSTEM.bindings).map(([name, subjects]) => ({
    ...binding(name),
    subjects: subjects.map((subject) => (subject.kind === 'ServiceAccount' ? subject : { ...subject, apiGroup: GROUP })),
  })),
];
