import { CONFIG_MAPS } from '../../../shared/api/resources.ts';
import { isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';

/** The ConfigMap in which the cluster says where its manager is; all authenticated users may read it. */
export const MANAGER_ADDRESS = { namespace: 'kube-public', name: 'switchyard-manager' } as const;

/** Content of the ConfigMap: `server`, and `ca.crt` where the system does not trust the certificate. */
export type ManagerAddress = { readonly server: string; readonly ca: string | undefined };

/** What the cluster says; undefined where it says nothing. */
export async function readManagerAddress(client: Pick<ReadClient, 'get'>): Promise<ManagerAddress | undefined> {
  try {
    const { data = {} } = await client.get(CONFIG_MAPS, MANAGER_ADDRESS);
    const { server = '', 'ca.crt': ca } = data;
    return server === '' ? undefined : { server, ca: ca === '' ? undefined : ca };
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
