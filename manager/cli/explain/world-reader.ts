import { clusterStateOf, type ClusterState } from '../../admission/cluster-state.ts';
import { priorityClassesOf } from '../../admission/priority.ts';
import { workloadsOf, type World } from '../../admission/world.ts';
import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import { COHORTS } from '../../api/cohort.ts';
import { LIMIT_RANGES } from '../../api/limit-range.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import { PRIORITY_CLASSES } from '../../api/priority-class.ts';
import { RESOURCE_FLAVORS } from '../../api/resource-flavor.ts';
import { RUNTIME_CLASSES } from '../../api/runtime-class.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../api/workload-priority-class.ts';
import type { Job, KubeObject } from '../../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES, type Resource } from '../../../shared/api/resources.ts';
import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { QuantityError } from '../../../shared/kube/quantity.ts';

/** The caller may not read something that the answer depends on, or the cluster does not serve it. */
export class UnreadableWorldError extends Error {
  override readonly name = 'UnreadableWorldError';
}

/**
 * All that admission decides on, by one LIST of each kind, with Jobs that are not there yet as `added`. Throws {@link UnreadableWorldError}, which names the right that is missing.
 */
export async function readWorld(
  client: Pick<ReadClient, 'list'>,
  nowMs: number,
  added: readonly Job[] = [],
): Promise<{ readonly world: World; readonly jobs: readonly Job[] }> {
  const listAll = async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> => {
    try {
      return (await client.list(resource)).items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const kind = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
      throw new UnreadableWorldError(
        `you may not list ${kind} in all namespaces, and the answer depends on them; ask for a ClusterRole with the verb list on ${kind}`,
        { cause: error },
      );
    }
  };
  const [listed, clusterQueues, localQueues, cohorts, resourceFlavors, workerClusters, namespaces] = await Promise.all([
    listAll(JOBS),
    listAll(CLUSTER_QUEUES),
    listAll(LOCAL_QUEUES),
    listAll(COHORTS),
    listAll(RESOURCE_FLAVORS),
    listAll(WORKER_CLUSTERS),
    listAll(NAMESPACES),
  ]);
  const [workloadClasses, podClasses, limitRanges, runtimeClasses] = await Promise.all([
    listAll(WORKLOAD_PRIORITY_CLASSES),
    listAll(PRIORITY_CLASSES),
    listAll(LIMIT_RANGES),
    listAll(RUNTIME_CLASSES),
  ]);
  const jobs = [...listed, ...added];
  const overheads = new Map(runtimeClasses.map(({ metadata, overhead }) => [metadata.name, overhead?.podFixed]));
  const workloads = workloadsOf(jobs, {
    limitRanges: (namespace) => limitRanges.filter(({ metadata }) => metadata.namespace === namespace),
    overhead: (name) => overheads.get(name),
  });
  return {
    world: {
      objects: { clusterQueues, localQueues, resourceFlavors, cohorts, namespaces },
      clusters: workerClusters.flatMap(readable),
      priorityClasses: priorityClassesOf(workloadClasses, podClasses),
      workloads,
      nowMs,
    },
    jobs,
  };
}

/** A cluster whose capacity cannot be read takes no Jobs; the others do. */
function readable(cluster: WorkerCluster): ClusterState[] {
  try {
    return [clusterStateOf(cluster)];
  } catch (error) {
    if (error instanceof QuantityError) return [];
    throw error;
  }
}
