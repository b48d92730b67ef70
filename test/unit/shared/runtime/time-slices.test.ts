import { expect, test } from 'vitest';
import { createTimeSlices } from '../../../../shared/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('others have a turn once a slice is over, and not before', async () => {
  const clock = new FakeClock();
  const slices = createTimeSlices(clock, 10);
  let turns = 0;
  const goOn = (): void => void slices.nextWhenOver().then(() => turns++);
  goOn();
  await clock.settle();
  expect([turns, slices.hasEnded()]).toEqual([1, false]);
  await clock.advance(10);
  expect(slices.hasEnded()).toBe(true);
  clock.schedule(() => expect(turns).toBe(1), 0);
  goOn();
  await clock.advance(0);
  expect([turns, slices.hasEnded()]).toEqual([2, false]);
});

test('whoever is told to stop is not kept waiting', async () => {
  const clock = new FakeClock();
  const slices = createTimeSlices(clock, 10);
  await slices.next(AbortSignal.abort());
  expect(slices.hasEnded()).toBe(false);
});
