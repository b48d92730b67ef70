import type { DispatchMetrics } from './dispatch-metrics.ts';

/** Measures which worker clusters are ready, and for what reason the others are not. */
export interface ReadyGauge {
  /** `ready`: the condition Ready of the WorkerCluster; undefined where it has none, or is gone. */
  set(cluster: string, ready: { readonly status: string; readonly reason: string } | undefined): void;
}

export function createReadyGauge({ clusterReady, clusterNotReady }: Pick<DispatchMetrics, 'clusterReady' | 'clusterNotReady'>): ReadyGauge {
  /** The last measured reason of each cluster that is not ready. */
  const reasons = new Map<string, string>();
  return {
    set(cluster, ready) {
      clusterReady.set({ cluster }, ready?.status === 'True' ? 1 : 0);
      const reason = ready === undefined || ready.status === 'True' ? undefined : ready.reason;
      const before = reasons.get(cluster);
      if (before !== undefined && before !== reason) clusterNotReady.remove({ cluster, reason: before });
      if (reason === undefined) reasons.delete(cluster);
      else {
        reasons.set(cluster, reason);
        clusterNotReady.set({ cluster, reason }, 1);
      }
    },
  };
}
