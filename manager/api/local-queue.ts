import type { Static } from 'typebox';
import type { NamespacedMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { LocalQueueSpecSchema, LocalQueueStatusSchema, PriorityBoundsSchema } from './schema/local-queue.ts';

/** The queue that Jobs of one namespace name in their queue label; it points to a ClusterQueue. */
export type LocalQueue = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec: LocalQueueSpec;
  status?: LocalQueueStatus;
};
export type LocalQueueSpec = Static<typeof LocalQueueSpecSchema>;
export type PriorityBounds = Static<typeof PriorityBoundsSchema>;
export type LocalQueueStatus = Static<typeof LocalQueueStatusSchema>;

export const LOCAL_QUEUES = switchyardResource<LocalQueue>({ kind: 'LocalQueue', plural: 'localqueues', namespaced: true });
