import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ActingAs } from '../../shared/kube/kube-client.ts';
import { impersonationProblem } from './tenant-client.ts';
import { actingAs } from './tenant-clients.ts';
import type { Tenant } from './tenant.ts';

/** The one request that every authenticated user may make (upstream's ClusterRole system:basic-user), and that changes nothing. */
const REVIEW = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
} as const;

/**
 * Asks the API server whether the manager may act as the ServiceAccount of a tenant, by acting as it. Resolves with why not; undefined: it
 * may, or the tenant has none. Throws where there is no answer.
 */
export async function askImpersonation(
  { as, label }: Pick<Tenant, 'as' | 'label'>,
  connect: (actAs: ActingAs) => Pick<KubeClient, 'raw'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (as === undefined) return undefined;
  try {
    await connect(actingAs(as, label)).raw({ ...REVIEW, signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return impersonationProblem(error);
  }
  return undefined;
}
