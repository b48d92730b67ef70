import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createStatusLag } from '../../../../manager/dispatch/status-lag.ts';
import { createManagerMetrics } from '../../../../manager/metrics.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('the lag is from the first that was heard of a copy to the write of its Job, and none where there is nothing to write', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const { dispatch } = createManagerMetrics(registry);
  const lag = createStatusLag({ metrics: dispatch, clock });
  lag.heard('team/sum', 'east');
  await clock.advance(2_000);
  lag.heard('team/sum', 'east');
  await clock.advance(1_000);
  lag.written('team/sum');
  lag.heard('team/idle', 'east');
  lag.settled('team/idle');
  lag.written('team/idle');
  const text = await registry.metrics();
  expect(text).toContain('switchyard_status_lag_seconds_sum{cluster="east"} 3');
  expect(text).toContain('switchyard_status_lag_seconds_count{cluster="east"} 1');
});
