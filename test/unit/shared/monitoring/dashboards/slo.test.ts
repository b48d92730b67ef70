import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { QUEUES } from '../../../../../shared/monitoring/dashboards/queues.ts';
import { SLO } from '../../../../../shared/monitoring/dashboards/slo.ts';

test('what is asked for "within so many seconds" is the upper bound of a bucket', () => {
  const registry = new Registry();
  createManagerMetrics(registry);
  const asked = SLO.rows.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) =>
      queries.flatMap(({ expr }) => [...expr.matchAll(/(\w+)_bucket\{[^}]*le="([^"]+)"/g)].map(([, name = '', le = '']) => ({ name, le }))),
    ),
  );
  expect(asked.map(({ name }) => name)).toContain('switchyard_dispatch_duration_seconds');
  const known = asked.filter(({ name }) => registry.getSingleMetric(name) !== undefined);
  const bounds = (name: string): readonly number[] => (registry.getSingleMetric(name) as unknown as { upperBounds: number[] }).upperBounds;
  expect(known.filter(({ name, le }) => !bounds(name).includes(Number(le)))).toEqual([]);
});

test('medians and tails are of one histogram', () => {
  for (const dashboard of [SLO, QUEUES]) {
    for (const { panels } of dashboard.rows) {
      for (const { title, queries } of panels) {
        const histograms = new Set(queries.flatMap(({ expr }) => [...expr.matchAll(/(\w+)_bucket\{/g)].map(([, name]) => name)));
        expect({ title, histograms: histograms.size }).toEqual({ title, histograms: Math.min(1, histograms.size) });
      }
    }
  }
});
