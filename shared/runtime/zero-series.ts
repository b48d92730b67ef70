import type { Counter } from 'prom-client';

/**
 * Makes the series of a counter for each combination of these values, from zero on: a rate of what has not happened yet is asked for, too.
 */
export function fromZero<L extends string>(
  counter: Pick<Counter<L>, 'inc'>,
  values: Readonly<Partial<Record<L, string | readonly string[]>>>,
): void {
  let all: Partial<Record<L, string>>[] = [{}];
  for (const [label, each] of Object.entries(values) as [L, string | readonly string[]][])
    all = all.flatMap((labels) => [each].flat().map((value) => ({ ...labels, [label]: value })));
  for (const labels of all) counter.inc(labels as Record<L, string>, 0);
}
