import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { WorkerClusterSpecSchema, WorkerClusterStatusSchema } from './schema/worker-cluster.ts';

/** A cluster on which Jobs can run. Its labels are what ResourceFlavors and users select it by. */
export type WorkerCluster = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: WorkerClusterSpec;
  status?: WorkerClusterStatus;
};
export type WorkerClusterSpec = Static<typeof WorkerClusterSpecSchema>;
export type WorkerClusterStatus = Static<typeof WorkerClusterStatusSchema>;

/**
 * Condition types of a WorkerCluster. Reachable: its API server answers. Synced: what it has is known. Able: copies can be made there. Ready: Jobs are
 * placed there, for which all must hold. WorkerAlive is
 * Unknown where no worker has announced itself. Removing is there while the object is being deleted.
 */
export const ClusterCondition = {
  Reachable: 'Reachable',
  Synced: 'Synced',
  Able: 'Able',
  Ready: 'Ready',
  WorkerAlive: 'WorkerAlive',
  Removing: 'Removing',
} as const;

/** Why condition Able is not True, beside what creates have failed for. */
export const AbleReason = {
  /** Its worker has stopped the copies there again and again, because it did not hear of the manager. */
  Unsteady: 'Unsteady',
  /** One Job after the other shows whether it can be used again. */
  Trying: 'Trying',
} as const;

export const WORKER_CLUSTERS = switchyardResource<WorkerCluster>({ kind: 'WorkerCluster', plural: 'workerclusters', namespaced: false });
