import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CARRY_SUFFIX, ROLE_BINDINGS, ROLES } from './access-rights.ts';

/** What has become of the rights by which Jobs could bring ConfigMaps and Secrets to a cluster. */
export type RemovedCarryGrants = {
  /** Namespaces whose Role and RoleBinding are deleted, sorted. */
  readonly removed: readonly string[];
  /** What is still there, and how an administrator deletes it. */
  readonly left: readonly { readonly why: string; readonly command: string }[];
};

type Binding = KubeObject & {
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[];
};

/**
 * Deletes the Roles and RoleBindings of `clusters join --carry-namespaces`, in all namespaces. They are found by their name. Where the
 * RoleBinding names other accounts as well, or instead, both stay.
 *
 * @throws {ApiError} when the cluster fails a call for another reason than a missing right.
 */
export async function removeCarryGrants(
  client: Pick<KubeClient, 'list' | 'delete'>,
  account: { readonly namespace: string; readonly name: string },
  context: string,
): Promise<RemovedCarryGrants> {
  const name = `${account.name}${CARRY_SUFFIX}`;
  const kubectl = `kubectl --context ${context} delete rolebindings,roles`;
  const fieldSelector = `metadata.name=${name}`;
  let found: readonly [readonly Binding[], readonly KubeObject[]];
  try {
    const [bindings, roles] = await Promise.all([
      client.list(ROLE_BINDINGS as Resource<Binding>, { fieldSelector }),
      client.list(ROLES, { fieldSelector }),
    ]);
    found = [bindings.items, roles.items];
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const why = `the rights of --carry-namespaces may be there: this account may not list Roles and RoleBindings of all namespaces`;
    return { removed: [], left: [{ why, command: `${kubectl} --all-namespaces --field-selector ${fieldSelector}` }] };
  }
  const bindings = new Map(found[0].map((binding) => [namespaceOf(binding), binding]));
  const namespaces = [...new Set([...found[0], ...found[1]].map(namespaceOf))].toSorted();
  const removed: string[] = [];
  const left: { readonly why: string; readonly command: string }[] = [];
  for (const namespace of namespaces) {
    const command = `${kubectl} ${name} --namespace ${namespace}`;
    const binding = bindings.get(namespace);
    if (binding !== undefined && !isOfAccount(binding, account))
      left.push({ why: `RoleBinding ${namespace}/${name} names other accounts`, command });
    else if (await areDeleted(client, { namespace, name })) removed.push(namespace);
    else left.push({ why: `this account may not delete Role and RoleBinding ${namespace}/${name}`, command });
  }
  return { removed, left };
}

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';

const isOfAccount = ({ subjects = [] }: Binding, account: { readonly namespace: string; readonly name: string }): boolean =>
  subjects.every(({ kind, namespace, name }) => kind === 'ServiceAccount' && namespace === account.namespace && name === account.name);

/** The RoleBinding first, because it is what grants. False: a right is missing. */
async function areDeleted(
  client: Pick<KubeClient, 'delete'>,
  key: { readonly namespace: string; readonly name: string },
): Promise<boolean> {
  for (const resource of [ROLE_BINDINGS, ROLES]) {
    try {
      await client.delete(resource, key);
    } catch (error) {
      if (isForbidden(error)) return false;
      if (!isNotFound(error)) throw error;
    }
  }
  return true;
}
