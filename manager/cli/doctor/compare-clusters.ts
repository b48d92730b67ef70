import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, type Resource, SECRETS, SERVICE_ACCOUNTS } from '../../../shared/api/resources.ts';
import { ApiError, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { pathTo } from '../../../shared/kube/request-path.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import { carryWishOf, queueNameOf } from '../../api/job-annotations.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import { RUNTIME_CLASSES } from '../../api/runtime-class.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { note, type Check } from '../checks.ts';
import { connect, type ClusterConnection } from '../cluster-connection.ts';
import { listWork } from '../list-work.ts';
import { troubleWith } from '../trouble.ts';
import { judgeReferences, type LookedAt, nameOf, type ReferredObject, REFERRED_MAX, referredObjects } from './reference-judgements.ts';

export type ComparisonChoice = { readonly kubeconfig: string | undefined; readonly 'cluster-kubeconfig'?: string | undefined };

/** Of an object only the metadata is asked for: nothing of a Secret is read. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const ANSWER_MS = 10_000;
const CONCURRENCY = 8;

const RESOURCES: Readonly<Record<ReferredObject['kind'], Resource>> = {
  ConfigMap: CONFIG_MAPS as Resource,
  Secret: SECRETS as Resource,
  PersistentVolumeClaim: PERSISTENT_VOLUME_CLAIMS,
  ServiceAccount: SERVICE_ACCOUNTS,
  RuntimeClass: RUNTIME_CLASSES as Resource,
};

/**
 * Looks on each cluster for the objects that Jobs, and objects of other kinds, of a namespace refer to, with the rights of the user: by a
 * context that is called as the cluster.
 */
export async function compareClusters(
  connection: Pick<ClusterConnection, 'client' | 'kind' | 'kinds'>,
  namespace: string,
  choice: ComparisonChoice,
): Promise<readonly Check[]> {
  const { client } = connection;
  try {
    const [{ objects: work, by, unread }, { items: localQueues }, { items: clusterQueues }, { items: workerClusters }] = await Promise.all([
      listWork(connection, { namespace }),
      client.list(LOCAL_QUEUES, { namespace }),
      client.list(CLUSTER_QUEUES),
      client.list(WORKER_CLUSTERS),
    ]);
    const carryOf = (job: DeepReadonly<WorkObject>): readonly CarriedKind[] => {
      const wish = carryWishOf(job);
      if (wish.kind === 'Carry' && wish.kinds !== undefined) return wish.kinds;
      const localQueue = localQueues.find(({ metadata }) => metadata.name === queueNameOf(job));
      const clusterQueue = clusterQueues.find(({ metadata }) => metadata.name === localQueue?.spec.clusterQueue);
      return localQueue?.spec.carry ?? clusterQueue?.spec.carry ?? [];
    };
    const queued = work.filter((object) => queueNameOf(object) !== undefined);
    const referred = referredObjects(by.kind, queued, carryOf);
    const objects = referred.slice(0, REFERRED_MAX);
    const carried = objects.filter(({ carriedBy }) => carriedBy.length > 0);
    const needed = objects.filter(({ neededBy }) => neededBy.length > 0);
    const looks = await Promise.all([
      ...(carried.length === 0 ? [] : [look(client, 'the manager cluster', true, namespace, carried)]),
      ...workerClusters.map(({ metadata: { name }, spec }) =>
        spec.local === true ? look(client, name, false, namespace, needed) : lookByContext(name, choice, namespace, needed),
      ),
    ]);
    const more = referred.length - objects.length;
    return [
      ...judgeReferences(namespace, objects, looks),
      ...(more === 0 ? [] : [note(`namespace ${namespace}`, `${more} more objects are not compared`)]),
      ...unread.map(({ plural, why }) => note(`namespace ${namespace}`, `what ${plural} refer to is not compared: ${why}`)),
    ];
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return [note(`namespace ${namespace}`, `cannot be compared: ${error instanceof ApiError ? error.message : 'forbidden'}`)];
  }
}

async function lookByContext(
  cluster: string,
  choice: ComparisonChoice,
  namespace: string,
  objects: readonly ReferredObject[],
): Promise<LookedAt> {
  let connection;
  try {
    connection = connect({ kubeconfig: choice['cluster-kubeconfig'] ?? choice.kubeconfig, context: cluster });
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    return unseen(cluster, `there is no context of its name (${error.message})`);
  }
  try {
    return await look(connection.client, cluster, false, namespace, objects);
  } catch (error) {
    const trouble = troubleWith(`cluster ${cluster}`, connection.server, error);
    return unseen(cluster, trouble instanceof Error ? trouble.message : String(trouble));
  } finally {
    await connection.client.close();
  }
}

const unseen = (cluster: string, problem: string): LookedAt => ({
  cluster,
  isHome: false,
  problem,
  present: new Set(),
  missing: new Set(),
});

async function look(
  client: Pick<KubeClient, 'raw'>,
  cluster: string,
  isHome: boolean,
  namespace: string,
  objects: readonly ReferredObject[],
): Promise<LookedAt> {
  const [present, missing] = [new Set<string>(), new Set<string>()];
  const rest = objects.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const object of rest) {
        const exists = await isThere(client, namespace, object);
        if (exists !== undefined) (exists ? present : missing).add(nameOf(object));
      }
    }),
  );
  return { cluster, isHome, present, missing };
}

/** Undefined: it may not be read. */
async function isThere(client: Pick<KubeClient, 'raw'>, namespace: string, { kind, name }: ReferredObject): Promise<boolean | undefined> {
  const resource = RESOURCES[kind];
  const path = pathTo(resource, resource.namespaced ? namespace : undefined, name);
  try {
    await withDeadline(systemClock, ANSWER_MS, undefined, (signal) => client.raw({ method: 'GET', path, accept: METADATA_ONLY, signal }));
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
