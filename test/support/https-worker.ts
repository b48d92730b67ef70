import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { createClientFactory } from '../../manager/client-factory.ts';
import { NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { ofKind, renderChart } from './helm.ts';
import { createLine, onLine, type Line } from './line.ts';

/** A worker cluster as it is in earnest: reached over HTTPS with the token of the account that the worker chart makes, under RBAC. */
export type HttpsWorker = {
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

const RELEASE_NAMESPACE = 'switchyard';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
/** Of what the chart renders, that which gives the manager its rights. */
const ACCESS_KINDS: readonly Resource[] = [
  { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  { ...RBAC, plural: 'roles', kind: 'Role', namespaced: true },
  { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
];
const ACCOUNT = 'test-switchyard-worker-manager-access';

/** `values` are of the worker chart; `namespaces` are there from the start; clusters with one `identity` are one cluster, to look at. */
export async function startHttpsWorker(options: {
  readonly namespaces: readonly string[];
  readonly values?: readonly string[];
  readonly identity: string;
}): Promise<HttpsWorker> {
  const clock = systemClock;
  const plane = await createControlPlane({
    clock,
    random: seededRandom(createHash('sha256').update(options.identity).digest().readUInt32BE()),
    log: silentLogger,
    controllers: ['garbage-collector', 'namespace'],
  });
  const client = createKubeClient(plane.transport(), { userAgent: 'test', clock });
  for (const name of [RELEASE_NAMESPACE, ...options.namespaces]) await client.create(NAMESPACES, { metadata: { name } });
  const rendered = renderChart('worker', ...(options.values ?? []));
  for (const resource of ACCESS_KINDS) {
    for (const object of ofKind(rendered, resource.kind)) {
      const namespace = object.metadata.namespace ?? '';
      await client.patch(resource, { namespace, name: object.metadata.name }, { type: 'apply', body: object }, { fieldManager: 'helm' });
    }
  }
  const { url, kubeconfig: administrators } = await plane.listen();
  const line = createLine();
  const clientOver = createClientFactory({ registry: new Registry(), clock });
  return {
    client,
    plane,
    line,
    kubeconfig: kubeconfigFor({ url, caPem: authorityOf(administrators) }, await tokenOf(client)),
    connect: (access) => clientOver(onLine(createHttpTransport(access, silentLogger), line, 'worker'), access, { qps: 0, burst: 1 }),
    close: () => plane.close(),
  };
}

async function tokenOf(client: KubeClient): Promise<string> {
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${RELEASE_NAMESPACE}/serviceaccounts/${ACCOUNT}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    contentType: 'application/json',
  });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}

function authorityOf(kubeconfig: string): string {
  const data = /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1];
  if (data === undefined) throw new Error('the kubeconfig names no certificate authority');
  return Buffer.from(data, 'base64').toString('utf8');
}
