import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER, WORKER_CLUSTER_FINALIZER } from '../../../shared/api/names.ts';
import { isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import type { WriteClient } from '../../../shared/kube/client.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { judgeRemoval, type RemovalJudgement, type WhatRemains } from './judge-removal.ts';

/**
 * Keeps a WorkerCluster until its Jobs have left, because without it the manager cannot reach its copies. The finalizer is added before the
 * first copy, and removed when no Job's record names the cluster.
 */
export interface ClusterRemoval {
  /** Adds the finalizer to a WorkerCluster that is about to be used. */
  retain(workerCluster: DeepReadonly<WorkerCluster>, signal: AbortSignal): Promise<void>;
  /**
   * What keeps a WorkerCluster that is being deleted; undefined when it is not being deleted, or without this finalizer. Removes the
   * finalizer when nothing keeps the WorkerCluster.
   */
  advance(
    workerCluster: DeepReadonly<WorkerCluster>,
    remains: () => WhatRemains,
    signal: AbortSignal,
  ): Promise<RemovalJudgement | undefined>;
  /** Known WorkerClusters that are being deleted: a change of a Job may let them go. */
  inFlight(): Iterable<string>;
  isUnderWay(name: string): boolean;
  forget(name: string): void;
}

export type ClusterRemovalDeps = {
  readonly home: WriteClient;
  /** The WorkerCluster in the informer's cache. */
  readonly cached: (name: string) => DeepReadonly<WorkerCluster> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

const TRIES_MAX = 10;
/** Time in which the cache usually shows a write of this manager. */
const LAG_MS = 50;

export function createClusterRemoval({ home, cached, clock, log }: ClusterRemovalDeps): ClusterRemoval {
  /** UIDs of WorkerClusters that have the finalizer, though the cache may not show it yet. */
  const retained = new Map<string, string>();
  const leaving = new Set<string>();
  const setFinalizers = async (
    { metadata: { name, uid, resourceVersion } }: DeepReadonly<WorkerCluster>,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> => {
    const body = { metadata: { uid, resourceVersion, finalizers } };
    await home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER, signal });
  };
  /** A new connection writes the status of the WorkerCluster as well, so that the cached version is likely to be stale. */
  const addFinalizer = async (workerCluster: DeepReadonly<WorkerCluster>, signal: AbortSignal): Promise<void> => {
    const { name, uid } = workerCluster.metadata;
    let current = workerCluster;
    for (let tries = 1; current.metadata.finalizers?.includes(WORKER_CLUSTER_FINALIZER) !== true; tries++) {
      try {
        return await setFinalizers(current, [...(current.metadata.finalizers ?? []), WORKER_CLUSTER_FINALIZER], signal);
      } catch (error) {
        if (!isConflict(error) || tries === TRIES_MAX) throw error;
        await sleep(clock, LAG_MS, signal);
        const newer = cached(name);
        if (signal.aborted || newer?.metadata.uid !== uid) throw error;
        current = newer;
      }
    }
  };
  return {
    async retain(workerCluster, signal) {
      const { name, uid, finalizers = [], deletionTimestamp } = workerCluster.metadata;
      // The API server accepts no new finalizer on an object that is being deleted.
      if (finalizers.includes(WORKER_CLUSTER_FINALIZER) || retained.get(name) === uid || deletionTimestamp !== undefined) return;
      await addFinalizer(workerCluster, signal);
      retained.set(name, uid);
    },
    async advance(workerCluster, remains, signal) {
      const { name, finalizers = [], deletionTimestamp } = workerCluster.metadata;
      if (deletionTimestamp === undefined || !finalizers.includes(WORKER_CLUSTER_FINALIZER)) {
        leaving.delete(name);
        return undefined;
      }
      leaving.add(name);
      const judgement = judgeRemoval(workerCluster, remains());
      if (judgement.kind === 'Stays') return judgement;
      try {
        const others = finalizers.filter((each) => each !== WORKER_CLUSTER_FINALIZER);
        await setFinalizers(workerCluster, others, signal);
        log.info('a WorkerCluster that is deleted has no Jobs any more', { cluster: name });
      } catch (error) {
        if (!isNotFound(error)) throw new Error(`let WorkerCluster ${name} go`, { cause: error });
      }
      return judgement;
    },
    inFlight: () => leaving,
    isUnderWay: (name) => leaving.has(name),
    forget(name) {
      retained.delete(name);
      leaving.delete(name);
    },
  };
}
