import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, PODS, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient, ListOptions } from '../../../shared/kube/client.ts';
import { note, type Check } from '../checks.ts';
import { isOfManager, judgeAbsence, judgeDeployment, referencesOf, type Deployment, type Reference } from './deployment-judgements.ts';
import { judgeReleases, releaseOf } from './release-judgements.ts';

const DEPLOYMENTS: Resource<Deployment> = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const OURS = { labelSelector: 'app.kubernetes.io/part-of=switchyard' };

export type Programs = {
  readonly releases: readonly Check[];
  readonly deployments: readonly Check[];
  /** There are Deployments, and none of a manager. */
  readonly hasWorkerAlone: boolean;
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
  const judgements = await Promise.all(
    (deployments ?? []).map(async (each) => ({
      isManager: isOfManager(each),
      check: judgeDeployment(each, pods, nowMs, await missingOf(client, each)),
    })),
  );
  return {
    releases: judgeReleases(
      releases.flatMap((secret) => releaseOf(secret) ?? []),
      namespace,
    ),
    deployments:
      deployments === undefined
        ? [note('deployments', 'cannot be looked at: you may not list them')]
        : judgements.map(({ check }) => check),
    hasWorkerAlone: judgements.length > 0 && judgements.every(({ isManager }) => !isManager),
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

/** What its pods refer to and what does not exist, where not all of them are ready. */
async function missingOf(client: KubeClient, deployment: Deployment): Promise<readonly Reference[]> {
  const { metadata, spec, status } = deployment;
  if ((status?.readyReplicas ?? 0) >= (spec.replicas ?? 1)) return [];
  const looked = referencesOf(deployment).map(async (reference) => {
    const resource = reference.kind === 'Secret' ? SECRETS : CONFIG_MAPS;
    try {
      await client.get<KubeObject>(resource, { namespace: metadata.namespace ?? '', name: reference.name });
      return [];
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return [reference];
      if (error instanceof ApiError && error.code === 403) return [];
      throw error;
    }
  });
  return (await Promise.all(looked)).flat();
}

/** Undefined where they may not be read, or are not served. */
export async function listed<T extends KubeObject>(
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
