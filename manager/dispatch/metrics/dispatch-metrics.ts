import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WorkqueueMeters } from '../../../shared/kube/workqueue-metrics.ts';
import { LATENCY_BUCKETS } from '../../../shared/runtime/latency-buckets.ts';

export type DispatchMetrics = ReturnType<typeof createDispatchMetrics> & { readonly workqueues: WorkqueueMeters };

/** Registers the metrics of dispatch. Call once for each registry: a second call throws. */
export function createDispatchMetrics(registers: Registry[]) {
  return {
    dispatched: new Counter({
      name: 'switchyard_dispatched_workloads_total',
      help: 'Copies created on a cluster.',
      labelNames: ['cluster_queue', 'cluster'],
      registers,
    }),
    dispatchDuration: new Histogram({
      name: 'switchyard_dispatch_duration_seconds',
      help: 'Time from admission to the creation of the copy.',
      labelNames: ['cluster'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    dispatchFailures: new Counter({
      name: 'switchyard_dispatch_failures_total',
      help: 'Writes to a cluster that failed, by verb and reason.',
      labelNames: ['cluster', 'verb', 'reason'],
      registers,
    }),
    statusWrites: new Counter({
      name: 'switchyard_status_writes_total',
      help: 'Writes of a status home, by whether it was terminal.',
      labelNames: ['cluster', 'terminal'],
      registers,
    }),
    statusLag: new Histogram({
      name: 'switchyard_status_lag_seconds',
      help: 'Time from when a change of a copy was heard of to when it was written to its Job.',
      labelNames: ['cluster'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    watchRestarts: new Counter({
      name: 'switchyard_watch_restarts_total',
      help: 'Times a watch was reopened: it timed out (after four to eight minutes), it broke, or the server no longer had its position.',
      labelNames: ['cluster', 'resource'],
      registers,
    }),
    copies: new Gauge({
      name: 'switchyard_remote_copies',
      help: 'Copies of ours on a cluster.',
      labelNames: ['cluster'],
      registers,
    }),
    tokenExpires: new Gauge({
      name: 'switchyard_worker_token_expires_seconds',
      help: 'When the token ends by which a worker cluster is reached, in seconds since 1970; absent where it does not say.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterReady: new Gauge({
      name: 'switchyard_cluster_ready',
      help: '1 when Jobs are placed on the cluster (its condition Ready is True), else 0.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterNotReady: new Gauge({
      name: 'switchyard_cluster_not_ready',
      help: '1 for the reason for which a cluster is not ready now.',
      labelNames: ['cluster', 'reason'],
      registers,
    }),
    reconnects: new Counter({
      name: 'switchyard_cluster_reconnects_total',
      help: 'Times a connection to a cluster was established again.',
      labelNames: ['cluster'],
      registers,
    }),
    clusterFaults: new Counter({
      name: 'switchyard_cluster_faults_total',
      help: 'Answers of a cluster to lists and watches that could not be used, by reason.',
      labelNames: ['cluster', 'reason'],
      registers,
    }),
    homeRestored: new Gauge({
      name: 'switchyard_home_restored_clusters_missing',
      help: 'Worker clusters that have not shown what runs there since the manager cluster was restored; while there are any, nothing is set going.',
      registers,
    }),
    clusterRestores: new Counter({
      name: 'switchyard_cluster_restores_total',
      help: 'Times a cluster went back in time, as one that is restored from an older backup.',
      labelNames: ['cluster'],
      registers,
    }),
    orphansDeleted: new Counter({
      name: 'switchyard_orphans_deleted_total',
      help: 'Copies deleted because their Job is gone.',
      labelNames: ['cluster'],
      registers,
    }),
  };
}
