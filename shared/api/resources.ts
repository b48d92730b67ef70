import type {
  ConfigMap,
  CoreEvent,
  CronJob,
  Deployment,
  Job,
  KubeObject,
  Lease,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  Secret,
} from './kubernetes.ts';

/** Where a kind lives in the API. `T` is the type of its objects; it exists for the compiler only. */
export type Resource<T extends KubeObject = KubeObject> = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly object?: T;
};

export const JOBS: Resource<Job> = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
export const CRON_JOBS: Resource<CronJob> = { group: 'batch', version: 'v1', plural: 'cronjobs', kind: 'CronJob', namespaced: true };
export const DEPLOYMENTS: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
export const REPLICA_SETS: Resource<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
};
export const PODS: Resource<Pod> = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
export const NAMESPACES: Resource<Namespace> = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const NODES: Resource<Node> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const SECRETS: Resource<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
export const CONFIG_MAPS: Resource<ConfigMap> = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
export const SERVICE_ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
export const PERSISTENT_VOLUME_CLAIMS: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
};
export const EVENTS: Resource<CoreEvent> = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
export const LEASES: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true };

export const CUSTOM_RESOURCE_DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** The field selector of pods that have not ended. */
export const UNENDED_PODS = 'status.phase!=Succeeded,status.phase!=Failed';

/** `v1`, `batch/v1`: the apiVersion of a resource's objects. */
export const apiVersionOf = (resource: Resource): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;

/** Whether an object, or a reference to one, is of this kind, in any version. Several groups have a kind of one name, such as Job. */
export function isOfKind<T extends { readonly apiVersion?: unknown; readonly kind?: unknown }>(
  { group, kind }: Pick<Resource, 'group' | 'kind'>,
  object: T | undefined,
): object is T {
  const apiVersion = object?.apiVersion;
  if (object?.kind !== kind || typeof apiVersion !== 'string') return false;
  return apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/'))) === group;
}
