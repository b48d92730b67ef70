import type { Registry } from 'prom-client';

export type DescribedMetric = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram; empty for the others. */
  readonly buckets: readonly number[];
};

/** The metrics of a registry by name, whether there are series or not. */
export async function describedMetrics(registry: Registry): Promise<readonly DescribedMetric[]> {
  const described = registry.getMetricsAsArray().map(async ({ name }) => {
    const metric = registry.getSingleMetric(name);
    if (metric === undefined) throw new Error(`${name} is not registered`);
    const { type, help } = await metric.get();
    return { name, type: String(type), help, labels: namesOf(metric), buckets: boundsOf(metric) };
  });
  return (await Promise.all(described)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The library keeps both where its types do not show them. */
const namesOf = (metric: object): string[] => listOf(metric, 'labelNames').map(String);
const boundsOf = (metric: object): number[] => listOf(metric, 'upperBounds').map(Number);
const listOf = (metric: object, field: string): unknown[] => {
  const list: unknown = Reflect.get(metric, field);
  return Array.isArray(list) ? list : [];
};
