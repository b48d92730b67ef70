import type { WorldObjects } from '../../insight/world/world-objects.ts';
import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import { COHORTS } from '../../api/cohort.ts';
import { LIMIT_RANGES } from '../../api/limit-range.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import { PRIORITY_CLASSES } from '../../api/priority-class.ts';
import { RESOURCE_FLAVORS } from '../../api/resource-flavor.ts';
import { RUNTIME_CLASSES } from '../../api/runtime-class.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../api/workload-priority-class.ts';
import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES, type Resource } from '../../../shared/api/resources.ts';

/** A kind that admission looks at. */
export type ChangeKind = { readonly resource: Resource; readonly list: keyof WorldObjects; readonly title: string };

export const CHANGE_KINDS: readonly ChangeKind[] = [
  { resource: CLUSTER_QUEUES, list: 'clusterQueues', title: 'cluster queue' },
  { resource: LOCAL_QUEUES, list: 'localQueues', title: 'local queue' },
  { resource: COHORTS, list: 'cohorts', title: 'cohort' },
  { resource: RESOURCE_FLAVORS, list: 'resourceFlavors', title: 'resource flavor' },
  { resource: WORKER_CLUSTERS, list: 'workerClusters', title: 'worker cluster' },
  { resource: WORKLOAD_PRIORITY_CLASSES, list: 'workloadPriorityClasses', title: 'workload priority class' },
  { resource: NAMESPACES, list: 'namespaces', title: 'namespace' },
  { resource: LIMIT_RANGES, list: 'limitRanges', title: 'limit range' },
  { resource: PRIORITY_CLASSES, list: 'priorityClasses', title: 'priority class' },
  { resource: RUNTIME_CLASSES, list: 'runtimeClasses', title: 'runtime class' },
  { resource: JOBS, list: 'jobs', title: 'job' },
];

/** An object of any of these kinds, as JSON. */
export type AnyObject = DeepReadonly<KubeObject> & { readonly [field: string]: unknown };

/** The objects of a kind as JSON. The compiler cannot tell that a kind and its list belong together. */
export const objectsOf = (objects: WorldObjects, { list }: ChangeKind): readonly AnyObject[] =>
  objects[list] as readonly KubeObject[] as readonly AnyObject[];

/** The world with other objects of one kind. */
export const withObjects = (objects: WorldObjects, { list }: ChangeKind, next: readonly AnyObject[]): WorldObjects => ({
  ...objects,
  [list]: next,
});

/** By the plural or the singular that kubectl takes, or the kind. */
export function kindNamed(word: string): ChangeKind | undefined {
  const wanted = word.toLowerCase();
  const short: Readonly<Record<string, string>> = { cluster: 'workercluster', flavor: 'resourceflavor', queue: 'clusterqueue' };
  return CHANGE_KINDS.find(({ resource: { kind, plural } }) => [plural, kind.toLowerCase()].includes(short[wanted] ?? wanted));
}
