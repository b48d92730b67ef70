import type { World } from '../../insight/world/world.ts';
import { worldOf, type ManagerFlags, type WorldObjects } from '../../insight/world/world-objects.ts';
import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import { COHORTS } from '../../api/cohort.ts';
import { LIMIT_RANGES } from '../../api/limit-range.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import { PRIORITY_CLASSES } from '../../api/priority-class.ts';
import { RESOURCE_FLAVORS } from '../../api/resource-flavor.ts';
import { RUNTIME_CLASSES } from '../../api/runtime-class.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../api/workload-priority-class.ts';
import type { Job, KubeObject } from '../../../shared/api/kubernetes.ts';
import { NAMESPACES, type Resource } from '../../../shared/api/resources.ts';
import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';

import type { WorkKind } from '../../work-kind/work-kind.ts';

/** The caller may not read something that the answer depends on, or the cluster does not serve it. */
export class UnreadableWorldError extends Error {
  override readonly name = 'UnreadableWorldError';
}

export type WorldOptions = {
  /** Flags of the manager, which it does not tell. */
  readonly flags?: ManagerFlags;
  /** Jobs that nobody has created yet. */
  readonly added?: readonly Job[];
};

/** All that admission decides on, by one LIST of each kind. Throws {@link UnreadableWorldError}, which names the right that is missing. */
export async function readWorld(
  { client, kind }: { readonly client: Pick<ReadClient, 'list'>; readonly kind: WorkKind<Job> },
  nowMs: number,
  { flags = {}, added = [] }: WorldOptions = {},
): Promise<{ readonly objects: WorldObjects; readonly world: World; readonly jobs: readonly Job[] }> {
  const listAll = async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> => {
    try {
      return (await client.list(resource)).items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const rights = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
      throw new UnreadableWorldError(
        `you may not list ${rights} in all namespaces, and the answer depends on them; ask for a ClusterRole with the verb list on ${rights}`,
        { cause: error },
      );
    }
  };
  const ofAllKinds = Promise.all([kind.resource, ...kind.others.map(({ resource }) => resource as Resource<Job>)].map(listAll<Job>));
  const [listed, clusterQueues, localQueues, cohorts, resourceFlavors, workerClusters, namespaces] = await Promise.all([
    ofAllKinds,
    listAll(CLUSTER_QUEUES),
    listAll(LOCAL_QUEUES),
    listAll(COHORTS),
    listAll(RESOURCE_FLAVORS),
    listAll(WORKER_CLUSTERS),
    listAll(NAMESPACES),
  ]);
  const [workloadPriorityClasses, priorityClasses, limitRanges, runtimeClasses] = await Promise.all([
    listAll(WORKLOAD_PRIORITY_CLASSES),
    listAll(PRIORITY_CLASSES),
    listAll(LIMIT_RANGES),
    listAll(RUNTIME_CLASSES),
  ]);
  const jobs = [...listed.flat(), ...added];
  const objects = {
    clusterQueues,
    localQueues,
    resourceFlavors,
    cohorts,
    namespaces,
    jobs,
    workerClusters,
    workloadPriorityClasses,
    priorityClasses,
    limitRanges,
    runtimeClasses,
  };
  return { objects, world: worldOf(kind, objects, flags, nowMs), jobs };
}
