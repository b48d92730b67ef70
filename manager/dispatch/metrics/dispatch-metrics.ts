import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WorkqueueMeters } from '../../../shared/kube/workqueue-metrics.ts';
import { LATENCY_BUCKETS } from '../../../shared/runtime/latency-buckets.ts';

export type DispatchMetrics = ReturnType<typeof createDispatchMetrics> & { readonly workqueues: WorkqueueMeters };

/** Registers the metrics of dispatch. Call once for each registry: a second call throws. */
export function createDispatchMetrics(registers: Registry[]) {
  return {
    ...createWriteMetrics(registers),
    ...createClusterMetrics(registers),
    orphansDeleted: new Counter({
      name: 'switchyard_orphans_deleted_total',
      help: 'Copies deleted because their Job is gone.',
      labelNames: ['cluster'],
      registers,
    }),
  };
}

function createWriteMetrics(registers: Registry[]) {
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
      help: 'Time from a change of a copy to the write of its Job.',
      labelNames: ['cluster'],
      buckets: LATENCY_BUCKETS,
      registers,
    }),
  };
}

function createClusterMetrics(registers: Registry[]) {
  return {
    watchRestarts: new Counter({
      name: 'switchyard_watch_restarts_total',
      help: 'Times a watch was reopened.',
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
      help: 'When the token for a worker cluster expires, in seconds since 1970.',
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
      help: 'Unusable answers of a cluster, by reason.',
      labelNames: ['cluster', 'reason'],
      registers,
    }),
    homeRestored: new Gauge({
      name: 'switchyard_home_restored_clusters_missing',
      help: 'Worker clusters that have not been listed since the manager cluster was restored.',
      registers,
    }),
    clusterRestores: new Counter({
      name: 'switchyard_cluster_restores_total',
      help: 'Times a cluster was restored from a backup.',
      labelNames: ['cluster'],
      registers,
    }),
  };
}
