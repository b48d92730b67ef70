import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { PODS, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient, ListOptions } from '../../../shared/kube/client.ts';
import { note, type Check } from '../checks.ts';
import { isOfManager, judgeAbsence, judgeDeployment, type Deployment } from './deployment-judgements.ts';
import { judgeReleases, releaseOf } from './release-judgements.ts';

const DEPLOYMENTS: Resource<Deployment> = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const OURS = { labelSelector: 'app.kubernetes.io/part-of=switchyard' };

export type Programs = {
  readonly checks: readonly Check[];
  /** None of its pods is ready, so that what it would do is not done. */
  readonly isManagerDown: boolean;
  /**
   * There is no Deployment of a manager, as far as can be seen; the check says it. Undefined: there is one, or Deployments may not be
   * listed.
   */
  readonly absence: (service: string | undefined) => Promise<Check | undefined>;
};

/** How Helm's releases and the Deployments of the charts are, before anything that follows from it. */
export async function lookAtPrograms(client: KubeClient, namespace: string, nowMs: number): Promise<Programs> {
  const releases = (await listed(client, SECRETS, { namespace, labelSelector: 'owner=helm' })) ?? [];
  const deployments = await listed(client, DEPLOYMENTS, { namespace, ...OURS });
  const pods = (await listed(client, PODS, { namespace, ...OURS })) ?? [];
  const judgements = (deployments ?? []).map((each) => ({ isManager: isOfManager(each), check: judgeDeployment(each, pods, nowMs) }));
  return {
    checks: [
      ...judgeReleases(
        releases.flatMap((secret) => releaseOf(secret) ?? []),
        namespace,
      ),
      ...(deployments === undefined
        ? [note('deployments', 'cannot be looked at: you may not list them')]
        : judgements.map(({ check }) => check)),
    ],
    isManagerDown: judgements.some(({ isManager, check }) => isManager && check.result === 'wrong'),
    async absence(service) {
      if (deployments === undefined || judgements.some(({ isManager }) => isManager)) return undefined;
      const everywhere = (await listed(client, DEPLOYMENTS, OURS)) ?? [];
      return judgeAbsence(
        namespace,
        everywhere.filter(isOfManager).map(({ metadata }) => metadata.namespace ?? ''),
        service,
      );
    },
  };
}

/** Undefined where they may not be read, or are not served. */
async function listed<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  options: ListOptions,
): Promise<readonly T[] | undefined> {
  try {
    return (await client.list(resource, options)).items;
  } catch (error) {
    if (error instanceof ApiError && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  }
}
