import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

/** Somebody with a token of the cluster. */
export type Viewer = { readonly name: string; readonly token: string };

export const TENANTS = 9;
export const tenantName = (index: number): string => `tenant-${index}`;

const RBAC = 'rbac.authorization.k8s.io';
const ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
const rbac = (kind: string, namespaced: boolean): Resource => ({
  group: RBAC,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced,
});

/** An operator, who sees all, and tenants, each of whom sees the Jobs of his namespace. */
export async function createViewers(client: KubeClient): Promise<readonly Viewer[]> {
  const create = (resource: Resource, object: object): Promise<KubeObject> => client.create(resource, object as never);
  const account = async (namespace: string, name: string): Promise<Viewer> => {
    await create(ACCOUNTS, { metadata: { namespace, name } });
    const answer = await client.raw({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } },
    });
    return { name: `${namespace}/${name}`, token: (JSON.parse(answer) as { status: { token: string } }).status.token };
  };
  const grant = async (
    kind: 'ClusterRole' | 'Role',
    metadata: { readonly name: string; readonly namespace?: string },
    rules: readonly object[],
    subject: object,
  ) => {
    await create(rbac(kind, kind === 'Role'), { metadata, rules });
    const binding = {
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', ...subject }],
    };
    await create(rbac(`${kind}Binding`, kind === 'Role'), binding);
  };
  const toRead = (group: string, ...resources: readonly string[]): object => ({ apiGroups: [group], resources, verbs: ['get', 'list'] });
  const viewers: Viewer[] = [await account('default', 'operator')];
  const all = [toRead('batch', 'jobs'), toRead('switchyard.dev', '*')];
  await grant('ClusterRole', { name: 'operator' }, all, { namespace: 'default', name: 'operator' });
  for (let index = 0; index < TENANTS; index++) {
    const namespace = tenantName(index);
    viewers.push(await account(namespace, 'tenant'));
    await grant('Role', { namespace, name: 'tenant' }, [toRead('batch', 'jobs')], { namespace, name: 'tenant' });
  }
  return viewers;
}
