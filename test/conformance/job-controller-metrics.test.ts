/**
 * Goal: whoever has dashboards for kube-controller-manager's Job controller (v1.36) finds every series under the same name, with the same
 * labels and buckets.
 */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createJobMetrics } from '../../worker/job/metrics.ts';
import upstream from './job-controller-metrics/upstream.json' with { type: 'json' };

const registry = new Registry();
createJobMetrics(registry);
const ours = registry.getMetricsAsArray();

test('there are the metrics that upstream has, and no others with its prefix', () => {
  expect(ours.map(({ name }) => name).toSorted()).toEqual(upstream.map(({ name }) => `job_controller_${name}`).toSorted());
});

test.each(upstream)('$name is a $type with the labels $labels', async ({ name, type, labels, buckets }) => {
  const metric = registry.getSingleMetric(`job_controller_${name}`);
  expect((await metric?.get())?.type).toBe(type);
  expect(metric && Reflect.get(metric, 'labelNames')).toEqual(labels);
  expect(metric && Reflect.get(metric, 'upperBounds')).toEqual(buckets);
});
