import { expect, test } from 'vitest';
import { createLossReports, type LossReports } from '../../../../../manager/dispatch/controller/loss-reports.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

function reports(): { readonly clock: FakeClock; readonly due: string[]; readonly losses: LossReports } {
  const clock = new FakeClock();
  const due: string[] = [];
  return { clock, due, losses: createLossReports(clock, (cluster) => due.push(cluster)) };
}

test('each lost cluster is due once, when its time has come', async () => {
  const { clock, due, losses } = reports();
  losses.lost('eu-1', 60_000);
  losses.lost('us-2', 61_000);
  await clock.advance(59_999);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual(['eu-1']);
  await clock.advance(120_000);
  expect(due).toEqual(['eu-1', 'us-2']);
});

test('a cluster that is found in time is not due, and one that is lost again waits from then on', async () => {
  const { clock, due, losses } = reports();
  losses.lost('eu-1', 60_000);
  await clock.advance(50_000);
  losses.found('eu-1');
  losses.lost('eu-1', 60_000);
  await clock.advance(59_000);
  expect(due).toEqual([]);
  losses.found('us-2');
  await clock.advance(1_000);
  expect(due).toEqual(['eu-1']);
});

test('nothing is due after the stop', async () => {
  const { clock, due, losses } = reports();
  losses.lost('eu-1', 60_000);
  losses.lost('us-2', 60_000);
  losses.stop();
  await clock.advance(120_000);
  expect(due).toEqual([]);
});
