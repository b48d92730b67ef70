import type { Clock } from '../../../shared/runtime/clock.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';

/** Measures the time from a change of a copy to the status write of its Job, or to the decision that no write is needed. */
export interface StatusLag {
  heard(localKey: string, cluster: string): void;
  /** A reconcile observes the changes so far, and their result follows. Later changes belong to the next reconcile. */
  observed(localKey: string): void;
  /** The observed changes need no write. */
  unneeded(localKey: string): void;
  written(localKey: string): void;
}

type Heard = { readonly cluster: string; readonly ms: number };

export function createStatusLag({
  metrics,
  clock,
}: {
  readonly metrics: Pick<DispatchMetrics, 'statusLag'>;
  readonly clock: Clock;
}): StatusLag {
  const unseen = new Map<string, Heard>();
  /** Observed changes whose write was postponed, failed, or is in flight. */
  const unwritten = new Map<string, Heard>();
  return {
    // A later change is written together with the first, from which the time counts.
    heard: (key, cluster) => {
      if (!unseen.has(key)) unseen.set(key, { cluster, ms: clock.monotonic() });
    },
    observed: (key) => {
      const first = unwritten.get(key) ?? unseen.get(key);
      if (first !== undefined) unwritten.set(key, first);
      unseen.delete(key);
    },
    unneeded: (key) => void unwritten.delete(key),
    written: (key) => {
      const first = unwritten.get(key);
      if (first === undefined) return;
      unwritten.delete(key);
      metrics.statusLag.observe({ cluster: first.cluster }, (clock.monotonic() - first.ms) / 1000);
    },
  };
}
