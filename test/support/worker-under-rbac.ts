import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { createClientFactory } from '../../manager/process/client-factory.ts';
import { DEFAULT_LEASE_NAMESPACE } from '../../shared/api/names.ts';
import { NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import { kubeconfigFor, newToken } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { ofKind, renderChart, type Rendered } from './helm.ts';
import { createLine, onLine, type Line } from './line.ts';
import { announceWorker } from './worker-presence.ts';

/** A worker cluster on which the manager is the account that the worker chart makes, and has the rights that it gives. */
export type WorkerUnderRbac = {
  /** Of its administrator. */
  readonly client: KubeClient;
  readonly plane: ControlPlane;
  /** What the manager is given. */
  readonly kubeconfig: string;
  /** What the manager sends, and what it is forbidden. */
  readonly line: Line;
  /** The manager's way there. */
  connect(access: ClusterAccess): KubeClient;
  close(): Promise<void>;
};

export type WorkerUnderRbacOptions = {
  /** There from the start. */
  readonly namespaces: readonly string[];
  /** Of the worker chart. */
  readonly values?: readonly string[];
  /** Clusters with one identity are one cluster, to look at. */
  readonly identity: string;
};

export const RELEASE_NAMESPACE = 'switchyard';
export const ACCOUNT = 'test-switchyard-worker-manager-access';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
/** Of what a chart renders, that which gives accounts their rights. */
const ACCESS_KINDS: readonly Resource[] = [
  { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  { ...RBAC, plural: 'roles', kind: 'Role', namespaced: true },
  { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
];
/** Whom the token of an account of the release names. */
export const userOf = (account: string): { readonly name: string; readonly groups: readonly string[] } => ({
  name: `system:serviceaccount:${RELEASE_NAMESPACE}:${account}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${RELEASE_NAMESPACE}`, 'system:authenticated'],
});

/** Gives the accounts of a chart their rights, in namespaces that are there. */
export async function applyAccess(client: KubeClient, rendered: readonly Rendered[]): Promise<void> {
  for (const resource of ACCESS_KINDS) {
    for (const object of ofKind(rendered, resource.kind)) {
      const namespace = object.metadata.namespace ?? '';
      await client.patch(resource, { namespace, name: object.metadata.name }, { type: 'apply', body: object }, { fieldManager: 'helm' });
    }
  }
}

/** Reached without sockets, so that its clock may stand still. */
export async function startWorkerUnderRbac(options: WorkerUnderRbacOptions & { readonly clock: Clock }): Promise<WorkerUnderRbac> {
  const { clock, identity } = options;
  const plane = await createControlPlane({
    clock,
    random: seededRandom(createHash('sha256').update(identity).digest().readUInt32BE()),
    log: silentLogger,
    controllers: ['garbage-collector', 'namespace'],
  });
  const client = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  for (const name of [RELEASE_NAMESPACE, DEFAULT_LEASE_NAMESPACE, ...options.namespaces])
    await client.create(NAMESPACES, { metadata: { name } });
  const presence = await announceWorker(client, clock, undefined, DEFAULT_LEASE_NAMESPACE);
  await applyAccess(client, renderChart('worker', ...(options.values ?? [])));
  const line = createLine();
  const clientOver = createClientFactory({ registry: new Registry(), clock });
  return {
    client,
    plane,
    line,
    // A new one for each: two clusters of one identity are not reached in the same way.
    kubeconfig: kubeconfigFor({ url: `https://${identity}.test` }, newToken()),
    connect: (access) => clientOver(onLine(plane.transport(userOf(ACCOUNT)), line, 'worker'), access, { qps: 0, burst: 1 }),
    close: () => {
      presence.stop();
      return plane.close();
    },
  };
}
