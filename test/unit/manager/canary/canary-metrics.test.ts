import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCanaryMetrics } from '../../../../manager/canary/canary-metrics.ts';

test('a canary is counted by cluster and outcome, and its way by stage', async () => {
  const registry = new Registry();
  const { runs, stages } = createCanaryMetrics(registry);
  runs.inc({ cluster: 'eu-1', outcome: 'complete' });
  stages.observe({ cluster: 'eu-1', stage: 'finished' }, 2);
  const text = await registry.metrics();
  expect(text).toContain('switchyard_canary_runs_total{cluster="eu-1",outcome="complete"} 1');
  expect(text).toContain('switchyard_canary_stage_seconds_bucket{le="2.5",cluster="eu-1",stage="finished"} 1');
});
