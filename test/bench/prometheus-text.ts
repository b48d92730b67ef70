/** Reading what a program serves at /metrics. */
export type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** The samples of an exposition in Prometheus' text format, version 0.0.4. */
export const parseSamples = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    const [, name = '', labels = '', value = ''] = match ?? [];
    return match === null
      ? []
      : [{ name, labels: parseLabels(labels), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }];
  });

const parseLabels = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]));

/** The sum over the samples of this name that carry all of these labels. */
export const total = (samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number =>
  samples.filter((sample) => sample.name === name && hasLabels(sample, labels)).reduce((sum, { value }) => sum + value, 0);

const hasLabels = (sample: Sample, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(labels).every(([name, value]) => sample.labels[name] === value);

/**
 * The `quantile` (0 to 1) of what a histogram has seen between two readings, over all its series, as Prometheus'
 * histogram_quantile works it out: linear within a bucket. NaN when it has seen nothing.
 */
export function quantileBetween(before: readonly Sample[], after: readonly Sample[], histogram: string, quantile: number): number {
  const bounds = [...new Set(after.filter(({ name }) => name === `${histogram}_bucket`).map(({ labels }) => labels['le'] ?? ''))];
  const buckets = bounds
    .map((le) => ({
      bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: increase(before, after, `${histogram}_bucket`, { le }),
    }))
    .toSorted((a, b) => a.bound - b.bound);
  const rank = (buckets.at(-1)?.count ?? 0) * quantile;
  if (rank === 0) return Number.NaN;
  let [lower, below] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= rank) return Number.isFinite(bound) ? lower + ((bound - lower) * (rank - below)) / (count - below) : lower;
    [lower, below] = [bound, count];
  }
  return Number.NaN;
}

export const increase = (
  before: readonly Sample[],
  after: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number => total(after, name, labels) - total(before, name, labels);
