import type { Clock } from '../../shared/runtime/clock.ts';
import type { DispatchMetrics } from '../metrics.ts';

/** Measures for how long a Job does not show yet what was heard of its copy: until that is written, or turns out to be nothing to write. */
export interface StatusLag {
  heard(localKey: string, cluster: string): void;
  /** There is nothing to write. */
  settled(localKey: string): void;
  written(localKey: string): void;
}

export function createStatusLag({
  metrics,
  clock,
}: {
  readonly metrics: Pick<DispatchMetrics, 'statusLag'>;
  readonly clock: Clock;
}): StatusLag {
  const since = new Map<string, { readonly cluster: string; readonly ms: number }>();
  return {
    // What comes later is written with it: the first counts.
    heard: (key, cluster) => {
      if (!since.has(key)) since.set(key, { cluster, ms: clock.monotonic() });
    },
    settled: (key) => void since.delete(key),
    written: (key) => {
      const first = since.get(key);
      if (first === undefined) return;
      since.delete(key);
      metrics.statusLag.observe({ cluster: first.cluster }, (clock.monotonic() - first.ms) / 1000);
    },
  };
}
