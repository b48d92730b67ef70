import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { increase, parseSamples, quantileBetween, total } from '../../bench/prometheus-text.ts';

test('samples are read with their labels, quotes and braces in values included', () => {
  const text = '# HELP calls Calls\n# TYPE calls counter\ncalls{method="GET",path="/a \\"{x}\\""} 3\ncalls{method="PUT"} 4.5\nup 1\n';
  const samples = parseSamples(text);
  expect(total(samples, 'calls')).toBe(7.5);
  expect(total(samples, 'calls', { method: 'GET' })).toBe(3);
  expect(total(samples, 'up')).toBe(1);
  expect(total(samples, 'nothing')).toBe(0);
});

test('a quantile is that of what came between two readings, over all series', async () => {
  const registry = new Registry();
  const histogram = new Histogram({ name: 'took', help: 'h', labelNames: ['kind'], buckets: [1, 2, 4], registers: [registry] });
  histogram.observe({ kind: 'a' }, 3.5);
  const before = parseSamples(await registry.metrics());
  for (const value of [0.5, 0.5, 1.5]) histogram.observe({ kind: 'a' }, value);
  histogram.observe({ kind: 'b' }, 3);
  const after = parseSamples(await registry.metrics());
  expect(increase(before, after, 'took_count')).toBe(4);
  expect(quantileBetween(before, after, 'took', 0.5)).toBe(1);
  expect(quantileBetween(before, after, 'took', 0.75)).toBe(2);
  expect(quantileBetween(before, after, 'took', 1)).toBe(4);
  expect(quantileBetween(after, after, 'took', 0.5)).toBeNaN();
});
