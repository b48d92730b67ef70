import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createSpanMetrics } from '../../../../shared/runtime/span-metrics.ts';

test('spans are counted from zero on', async () => {
  const registry = new Registry();
  const count = createSpanMetrics(registry);
  const values = async (): Promise<unknown> => (await registry.getSingleMetric('switchyard_trace_spans_total')?.get())?.values;
  expect(await values()).toMatchObject([
    { labels: { result: 'exported' }, value: 0 },
    { labels: { result: 'dropped' }, value: 0 },
  ]);
  count('dropped', 3);
  expect(await values()).toMatchObject([{ value: 0 }, { value: 3 }]);
});
