import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { forgetSeries } from '../../../../shared/runtime/forget-series.ts';

test('all series of one name go, of counters, gauges and histograms, and those of others stay', async () => {
  const registers = [new Registry()];
  const counter = new Counter({ name: 'a_total', help: 'a', labelNames: ['cluster', 'verb'], registers });
  const gauge = new Gauge({ name: 'b', help: 'b', labelNames: ['cluster'], registers });
  const histogram = new Histogram({ name: 'c_seconds', help: 'c', labelNames: ['cluster'], buckets: [1], registers });
  for (const cluster of ['east', 'hostile"\n{}']) {
    counter.inc({ cluster, verb: 'create' });
    counter.inc({ cluster, verb: 'delete' });
    gauge.set({ cluster }, 1);
    histogram.observe({ cluster }, 0.5);
  }
  await forgetSeries([counter, gauge, histogram], 'cluster', new Set(['hostile"\n{}']));
  const told = (await registers[0]?.metrics())?.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(told).toEqual([
    'a_total{cluster="east",verb="create"} 1',
    'a_total{cluster="east",verb="delete"} 1',
    'b{cluster="east"} 1',
    'c_seconds_bucket{le="1",cluster="east"} 1',
    'c_seconds_bucket{le="+Inf",cluster="east"} 1',
    'c_seconds_sum{cluster="east"} 0.5',
    'c_seconds_count{cluster="east"} 1',
  ]);
});

test('a metric without the label is left alone', async () => {
  const gauge = new Gauge({ name: 'd', help: 'd', registers: [] });
  gauge.set(7);
  await forgetSeries([gauge], 'cluster', new Set(['east']));
  expect((await gauge.get()).values).toEqual([{ value: 7, labels: {} }]);
});
