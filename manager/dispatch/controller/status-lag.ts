import type { Clock } from '../../../shared/runtime/clock.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';

/** Measures for how long a Job does not show yet what was heard of its copy: until that is written, or turns out to be nothing to write. */
export interface StatusLag {
  heard(localKey: string, cluster: string): void;
  /** What was heard until now is looked at: what becomes of it is told next. What is heard from now on is of the next look. */
  looked(localKey: string): void;
  /** There is nothing to write of what was looked at. */
  settled(localKey: string): void;
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
  /** Looked at, and not written yet: the write was put off, failed, or is under way. */
  const inHand = new Map<string, Heard>();
  return {
    // What comes later is written with it: the first counts.
    heard: (key, cluster) => {
      if (!unseen.has(key)) unseen.set(key, { cluster, ms: clock.monotonic() });
    },
    looked: (key) => {
      const first = inHand.get(key) ?? unseen.get(key);
      if (first !== undefined) inHand.set(key, first);
      unseen.delete(key);
    },
    settled: (key) => void inHand.delete(key),
    written: (key) => {
      const first = inHand.get(key);
      if (first === undefined) return;
      inHand.delete(key);
      metrics.statusLag.observe({ cluster: first.cluster }, (clock.monotonic() - first.ms) / 1000);
    },
  };
}
