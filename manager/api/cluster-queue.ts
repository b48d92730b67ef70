import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { ClusterQueueSpecSchema, ClusterQueueStatusSchema, FlavorUsageSchema } from './schema/cluster-queue.ts';

/** A pool of quota from which the Jobs of its LocalQueues are admitted, with Kueue's field names and semantics. */
export type ClusterQueue = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: ClusterQueueSpec;
  status?: ClusterQueueStatus;
};
export type ClusterQueueSpec = Static<typeof ClusterQueueSpecSchema>;
export type PlacementPolicy = NonNullable<ClusterQueueSpec['placement']>;
export type ClusterQueueStatus = Static<typeof ClusterQueueStatusSchema>;
export type FlavorUsage = Static<typeof FlavorUsageSchema>;

export const CLUSTER_QUEUES = switchyardResource<ClusterQueue>({ kind: 'ClusterQueue', plural: 'clusterqueues', namespaced: false });
