import { CLUSTER_QUEUE_KIND } from './cluster-queue.ts';
import { COHORT_KIND } from './cohort.ts';
import type { KindDefinition } from './kind-definition.ts';
import { LOCAL_QUEUE_KIND } from './local-queue.ts';
import { RESOURCE_FLAVOR_KIND } from './resource-flavor.ts';
import { WORKER_CLUSTER_KIND } from './worker-cluster.ts';

/** Every kind that the chart installs. */
export const SWITCHYARD_KINDS: readonly KindDefinition[] = [
  WORKER_CLUSTER_KIND,
  RESOURCE_FLAVOR_KIND,
  CLUSTER_QUEUE_KIND,
  LOCAL_QUEUE_KIND,
  COHORT_KIND,
];
