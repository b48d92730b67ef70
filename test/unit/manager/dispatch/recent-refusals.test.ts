import { expect, test } from 'vitest';
import { createRecentRefusals } from '../../../../manager/dispatch/recent-refusals.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('those of a shape that were on their way when one was refused are held back for a minute, and no longer', async () => {
  const clock = new FakeClock();
  const refusals = createRecentRefusals(clock);
  const admittedAt = toWireTime(clock.now());
  await clock.advance(1_000);
  refusals.note('eu-1', 'S');
  expect(refusals.holdMs('eu-1', 'S', admittedAt)).toBe(60_000);
  await clock.advance(59_999);
  expect(refusals.holdMs('eu-1', 'S', admittedAt)).toBe(1);
  await clock.advance(1);
  expect(refusals.holdMs('eu-1', 'S', admittedAt)).toBe(0);
});

test('others are not: of another shape, on another cluster, or admitted since', async () => {
  const clock = new FakeClock();
  const refusals = createRecentRefusals(clock);
  const admittedAt = toWireTime(clock.now());
  refusals.note('eu-1', 'S');
  await clock.advance(2_000);
  expect(refusals.holdMs('eu-1', 'T', admittedAt)).toBe(0);
  expect(refusals.holdMs('us-2', 'S', admittedAt)).toBe(0);
  expect(refusals.holdMs('eu-1', 'S', toWireTime(clock.now()))).toBe(0);
});
