import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { WorkerClusterSpecSchema, WorkerClusterStatusSchema } from './schema/worker-cluster.ts';

/** A cluster on which Jobs can run. ResourceFlavors and users select it by its labels. */
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
 * Condition types of a WorkerCluster. Reachable: its API server answers. Synced: its Jobs are known. Able: copies can be created there.
 * Ready: Jobs are placed there, for which all others must hold. WorkerAlive is Unknown where no worker has announced itself. Removing
 * exists while the object is being deleted.
 */
export const ClusterCondition = {
  Reachable: 'Reachable',
  Synced: 'Synced',
  Able: 'Able',
  Ready: 'Ready',
  WorkerAlive: 'WorkerAlive',
  Removing: 'Removing',
} as const;

/** Reasons of condition Able, besides those of failed creates. */
export const AbleReason = {
  /** The worker has stopped the copies there again and again, because it lost contact with the manager. */
  Unsteady: 'Unsteady',
  /** One Job at a time shows whether the cluster can be used again. */
  Trying: 'Trying',
} as const;

export const WORKER_CLUSTERS = switchyardResource<WorkerCluster>({ kind: 'WorkerCluster', plural: 'workerclusters', namespaced: false });
