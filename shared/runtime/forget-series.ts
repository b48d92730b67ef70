import type { Metric } from 'prom-client';

/** Takes away all series in which `label` is `value`, such as those of a queue that was deleted. Costs a look at every series of the metrics. */
export async function forgetSeries(metrics: Iterable<Metric>, label: string, value: string): Promise<void> {
  for (const metric of metrics) {
    const { values } = await metric.get();
    const doomed = values.flatMap(({ labels }) => (Reflect.get(labels, label) === value ? [withoutBucket(labels)] : []));
    for (const labels of doomed) metric.remove(labels);
  }
}

/** A histogram tells its buckets as series, and takes them away as one. */
const withoutBucket = (labels: object): Record<string, string | number> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'));
