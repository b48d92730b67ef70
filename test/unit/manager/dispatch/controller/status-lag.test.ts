import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createStatusLag } from '../../../../../manager/dispatch/controller/status-lag.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

test('the lag is from the first that was heard of a copy to the write of its Job, and none where there is nothing to write', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const { dispatch } = createManagerMetrics(registry);
  const lag = createStatusLag({ metrics: dispatch, clock });
  lag.heard('team/sum', 'east');
  await clock.advance(2_000);
  lag.heard('team/sum', 'east');
  await clock.advance(1_000);
  lag.observed('team/sum');
  lag.written('team/sum');
  lag.heard('team/idle', 'east');
  lag.observed('team/idle');
  lag.unneeded('team/idle');
  lag.written('team/idle');
  const text = await registry.metrics();
  expect(text).toContain('switchyard_status_lag_seconds_sum{cluster="east"} 3');
  expect(text).toContain('switchyard_status_lag_seconds_count{cluster="east"} 1');
});

test('what is heard while an earlier change is written is of the next write, and a write that is put off or fails loses nothing', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const { dispatch } = createManagerMetrics(registry);
  const lag = createStatusLag({ metrics: dispatch, clock });
  lag.heard('team/sum', 'east');
  lag.observed('team/sum');
  await clock.advance(1_000);
  // Not yet: its write is put off. Another change comes meanwhile.
  lag.heard('team/sum', 'east');
  lag.observed('team/sum');
  await clock.advance(1_000);
  // The write is under way.
  lag.heard('team/sum', 'east');
  await clock.advance(500);
  lag.written('team/sum');
  expect(await registry.metrics()).toContain('switchyard_status_lag_seconds_sum{cluster="east"} 2.5');
  lag.observed('team/sum');
  await clock.advance(3_000);
  lag.written('team/sum');
  const text = await registry.metrics();
  expect(text).toContain('switchyard_status_lag_seconds_sum{cluster="east"} 6');
  expect(text).toContain('switchyard_status_lag_seconds_count{cluster="east"} 2');
});
