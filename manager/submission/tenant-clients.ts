import { SUBMISSION_USER_EXTRA } from '../../shared/api/names.ts';
import type { KubeClient, ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { ActingAs } from '../../shared/kube/kube-client.ts';
import { tenantClient } from './tenant-client.ts';
import type { ServiceAccountName, Tenant } from './tenant.ts';

export type TenantClientsDeps = {
  /** The manager's own client, fenced. */
  readonly manager: ReadClient & WriteClient;
  /** Makes a client that acts as somebody else, or as the manager; absent: there is none but the manager's own. */
  readonly connect?: (actAs: ActingAs | undefined) => KubeClient;
  /** Has a client write nothing while this manager does not lead. */
  readonly fenced: (client: KubeClient) => KubeClient;
  readonly onImpersonation: (tenant: Tenant, problem: string | undefined) => void;
};

/**
 * Clients by which the Jobs of tenants are created and deleted: as their ServiceAccounts, or as the manager where a tenant has none.
 * Connections are shared.
 */
export function createTenantClients({
  manager,
  connect,
  fenced,
  onImpersonation,
}: TenantClientsDeps): (tenant: Tenant) => ReadClient & WriteClient {
  return (tenant) => {
    if (connect === undefined) {
      if (tenant.as !== undefined) throw new Error(`the submissions of ${tenant.label} cannot be created as ${tenant.as.name}`);
      return manager;
    }
    const actor = fenced(connect(tenant.as && actingAs(tenant.as, tenant.label)));
    return tenantClient({ manager, actor, onImpersonation: (problem) => onImpersonation(tenant, problem) });
  };
}

/** The groups of a ServiceAccount are given by the API server when none are asked for, so the manager needs no right to any group. */
export const actingAs = ({ namespace, name }: ServiceAccountName, queue: string): ActingAs => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  extra: { [SUBMISSION_USER_EXTRA]: queue },
});
