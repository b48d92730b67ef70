import type { Metric } from 'prom-client';

/**
 * Takes away all series in which `label` is one of `values`, or one that `values` has: such as those of queues that were deleted. Costs a
 * look at every series of the metrics; `between` is awaited between two metrics, so that others have a turn.
 */
export async function forgetSeries(
  metrics: Iterable<Metric>,
  label: string,
  values: { has(value: string): boolean },
  between?: () => Promise<void>,
): Promise<void> {
  for (const metric of metrics) {
    const { values: series } = await metric.get();
    const doomed = new Map<string, Labels>();
    for (const { labels } of series) {
      const value: unknown = Reflect.get(labels, label);
      if (typeof value !== 'string' || !values.has(value)) continue;
      const own = withoutBucket(labels);
      doomed.set(JSON.stringify(own), own);
    }
    for (const labels of doomed.values()) metric.remove(labels);
    await between?.();
  }
}

type Labels = Record<string, string | number>;

/** A histogram tells its buckets as series, and takes them away as one. */
const withoutBucket = (labels: object): Labels => Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'));
