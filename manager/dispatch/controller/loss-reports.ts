import type { Clock, Timer } from '../../../shared/runtime/clock.ts';

/** When the Jobs of lost clusters are to report the loss: one timer for each cluster, which ends when the cluster is found. */
export interface LossReports {
  /** The Jobs of this cluster are to report its loss in `inMs`. */
  lost(cluster: string, inMs: number): void;
  found(cluster: string): void;
  stop(): void;
}

export function createLossReports(clock: Clock, onDue: (cluster: string) => void): LossReports {
  const timers = new Map<string, Timer>();
  const found = (cluster: string): void => {
    timers.get(cluster)?.cancel();
    timers.delete(cluster);
  };
  return {
    found,
    lost(cluster, inMs) {
      found(cluster);
      const due = (): void => {
        timers.delete(cluster);
        onDue(cluster);
      };
      timers.set(cluster, clock.schedule(due, inMs));
    },
    stop() {
      for (const cluster of timers.keys()) found(cluster);
    },
  };
}
