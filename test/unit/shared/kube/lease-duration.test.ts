import { expect, test } from 'vitest';
import { createLeaseDuration, leaseDurationFor } from '../../../../shared/kube/lease-duration.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test.each([
  [3_000, 0, 3_000],
  [3_000, 500, 3_000],
  [3_000, 600, 4_000],
  [3_000, 4_000, 14_000],
  [3_000, 2_000, 8_000],
  [3_000, 60_000, 15_000],
  [2_500, 0, 3_000],
  [20_000, 0, 20_000],
  [20_000, 9_000, 20_000],
])('a Lease of %i ms is, where an answer took %i ms, one of %i ms', (leastMs, slowMs, expectedMs) => {
  expect(leaseDurationFor(leastMs, slowMs)).toBe(expectedMs);
});

test('an answer that took long makes the Lease longer for half a minute, also where it failed', async () => {
  const clock = new FakeClock();
  const duration = createLeaseDuration(clock, 3_000);
  const failed = duration.timed(async () => {
    await new Promise<void>((resolve) => clock.schedule(resolve, 2_500));
    throw new Error('no answer');
  });
  await Promise.all([expect(failed).rejects.toThrow('no answer'), clock.advance(2_500)]);
  expect(duration.ms()).toBe(9_000);
  await clock.advance(29_999);
  expect(duration.ms()).toBe(9_000);
  await clock.advance(1);
  expect(duration.ms()).toBe(3_000);
});

test('the slowest of late counts, whatever is faster after it', async () => {
  const clock = new FakeClock();
  const duration = createLeaseDuration(clock, 3_000);
  for (const ms of [1_500, 100]) {
    const answered = duration.timed(() => new Promise<void>((resolve) => clock.schedule(resolve, ms)));
    await clock.advance(ms);
    await answered;
  }
  expect(duration.ms()).toBe(6_000);
});

test('a timer that comes late, as where the machine slept, makes it longer; one in time does not', async () => {
  const clock = new FakeClock();
  const duration = createLeaseDuration(clock, 3_000);
  const inTime = duration.pause(500, new AbortController().signal);
  await clock.advance(500);
  await inTime;
  expect(duration.ms()).toBe(3_000);
  const late = duration.pause(500, new AbortController().signal);
  clock.sleepMachine(1_000);
  await clock.advance(500);
  await late;
  expect(duration.ms()).toBe(5_000);
});
