import { CLUSTER_QUEUES } from './cluster-queue.ts';
import { COHORTS } from './cohort.ts';
import type { KindDefinition } from './kind-definition.ts';
import { LOCAL_QUEUES } from './local-queue.ts';
import { RESOURCE_FLAVORS } from './resource-flavor.ts';
import { SUBMISSION_QUEUES } from './submission-queue.ts';
import { WORKER_CLUSTERS } from './worker-cluster.ts';
import { WORK_KINDS } from './work-kind.ts';
import { WORKLOAD_PRIORITY_CLASSES } from './workload-priority-class.ts';
import { CLUSTER_QUEUE_SCHEMA } from './schema/cluster-queue.ts';
import { COHORT_SCHEMA } from './schema/cohort.ts';
import { LOCAL_QUEUE_SCHEMA } from './schema/local-queue.ts';
import { RESOURCE_FLAVOR_SCHEMA } from './schema/resource-flavor.ts';
import { SUBMISSION_QUEUE_SCHEMA } from './schema/submission-queue.ts';
import { WORKER_CLUSTER_SCHEMA } from './schema/worker-cluster.ts';
import { WORK_KIND_SCHEMA } from './schema/work-kind.ts';
import { WORKLOAD_PRIORITY_CLASS_SCHEMA } from './schema/workload-priority-class.ts';

/** Every kind that the chart installs. */
export const SWITCHYARD_KINDS: readonly KindDefinition[] = [
  { resource: WORKER_CLUSTERS, ...WORKER_CLUSTER_SCHEMA },
  { resource: RESOURCE_FLAVORS, ...RESOURCE_FLAVOR_SCHEMA },
  { resource: CLUSTER_QUEUES, ...CLUSTER_QUEUE_SCHEMA },
  { resource: LOCAL_QUEUES, ...LOCAL_QUEUE_SCHEMA },
  { resource: COHORTS, ...COHORT_SCHEMA },
  { resource: WORKLOAD_PRIORITY_CLASSES, ...WORKLOAD_PRIORITY_CLASS_SCHEMA },
  { resource: SUBMISSION_QUEUES, ...SUBMISSION_QUEUE_SCHEMA },
  { resource: WORK_KINDS, ...WORK_KIND_SCHEMA },
];
