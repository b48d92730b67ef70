import { expect, test } from 'vitest';
import { createSteadyTime, systemClock } from '../../../../shared/runtime/clock.ts';

/** A machine whose uptime, told in whole seconds, counts its sleep, and whose monotonic time does not. */
function aMachine() {
  const machine = { awakeMs: 40.5, sleptMs: 0 };
  const now = createSteadyTime(
    () => machine.awakeMs,
    () => Math.floor((86_400_000 + machine.awakeMs + machine.sleptMs) / 1000) * 1000,
  );
  return { machine, now };
}

test('steady time goes on while the machine sleeps', () => {
  const { machine, now } = aMachine();
  const startMs = now();
  machine.awakeMs += 5_000;
  expect(now() - startMs).toBe(5_000);
  machine.sleptMs += 600_000;
  machine.awakeMs += 100;
  const passedMs = now() - startMs;
  expect(Math.abs(passedMs - 605_100)).toBeLessThanOrEqual(1_000);
  machine.awakeMs += 1_000;
  expect(now() - startMs).toBe(passedMs + 1_000);
});

test('steady time takes the steps in which uptime is told for no sleep, and never goes back', () => {
  const { machine, now } = aMachine();
  const startMs = now();
  for (let passedMs = 0; passedMs < 20_000; passedMs += 70) {
    expect(now() - startMs).toBeCloseTo(passedMs, 6);
    machine.awakeMs += 70;
  }
});

test('the clock of programs goes on', () => {
  const startMs = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(startMs);
});
