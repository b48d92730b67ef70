import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { RawClient, WriteClient } from '../../../shared/kube/client.ts';
import { SYSTEM_NAMESPACE } from './set-up.ts';

const NAME = 'switchyard-manager';
/** Under which the manager writes: not the user of the kubeconfig that people are given. */
export const MANAGER_USERNAME = `system:serviceaccount:${SYSTEM_NAMESPACE}:${NAME}`;

/** As long as the webhook's certificate. */
const TOKEN_SECONDS = 30 * 86_400;
const RBAC = 'rbac.authorization.k8s.io';
const rbac = (kind: string, namespaced: boolean): Resource => ({
  group: RBAC,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced,
});

/**
 * Of what `helm install switchyard-manager` would do: an account for the manager, with exactly the rights that the chart gives it for a
 * shared queue whose Jobs go to the namespace `default`, for ConfigMaps that submissions bring there, and for objects that travel with Jobs
 * of that namespace. `kubeconfig` is that of an administrator; the result is the same cluster as the manager sees it. `described`: kinds
 * with a WorkKind, whose objects it dispatches.
 */
export async function createManagerAccount(
  client: WriteClient & RawClient,
  root: string,
  kubeconfig: string,
  described: readonly Resource[] = [],
): Promise<string> {
  const metadata = { namespace: SYSTEM_NAMESPACE, name: NAME };
  await client.create({ group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true }, { metadata });
  const chart = path.join(root, 'charts', 'switchyard-manager');
  const rules = parse(readFileSync(path.join(chart, 'files', 'manager-rules.yaml'), 'utf8').replaceAll('RELEASE', NAME)) as {
    cluster: readonly object[];
    creation: readonly object[];
    carry: readonly object[];
    attachments: readonly object[];
    impersonation: readonly { readonly resources: readonly string[] }[];
    namespace: readonly object[];
    clusterSecrets: readonly object[];
  };
  const { submissions } = parse(readFileSync(path.join(chart, 'values.yaml'), 'utf8')) as { submissions: { impersonate: string[] } };
  const impersonation = rules.impersonation.map((rule) =>
    rule.resources.includes('serviceaccounts') ? { ...rule, resourceNames: submissions.impersonate } : rule,
  );
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  const grant = async (namespace: string | undefined, given: unknown): Promise<void> => {
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const roleRef = { apiGroup: RBAC, kind, name: NAME };
    const where = namespace === undefined ? { name: NAME } : { namespace, name: NAME };
    const create = (resource: Resource, object: object): Promise<KubeObject> => client.create(resource, { metadata: where, ...object });
    await create(rbac(kind, namespace !== undefined), { rules: given });
    await create(rbac(`${kind}Binding`, namespace !== undefined), { roleRef, subjects });
  };
  const kinds = described.flatMap(({ group, plural }) => [
    { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch'] },
  ]);
  await grant(undefined, [...rules.cluster, ...impersonation, ...kinds]);
  await grant(SYSTEM_NAMESPACE, [...rules.namespace, ...rules.clusterSecrets]);
  await grant('default', [...rules.creation, ...rules.carry, ...rules.attachments]);
  return kubeconfigWith(kubeconfig, await tokenOf(client));
}

async function tokenOf(client: RawClient): Promise<string> {
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${SYSTEM_NAMESPACE}/serviceaccounts/${NAME}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: TOKEN_SECONDS } },
  });
  return (JSON.parse(answer) as { status: { token: string } }).status.token;
}

type Kubeconfig = { readonly contexts: { context: object }[]; readonly users: { user: object }[] };

/** The same server, as somebody else, at home in our namespace. */
function kubeconfigWith(kubeconfig: string, token: string): string {
  const config = parse(kubeconfig) as Kubeconfig;
  for (const each of config.contexts) each.context = { ...each.context, namespace: SYSTEM_NAMESPACE };
  for (const each of config.users) each.user = { token };
  return stringify(config);
}
