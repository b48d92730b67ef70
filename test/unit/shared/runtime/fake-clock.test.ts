import { expect, test } from 'vitest';
import { sleep } from '../../../../shared/runtime/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('timers run by due time, those made on the way included, each after what the last one set off', async () => {
  const clock = new FakeClock(0);
  const log: string[] = [];
  clock.schedule(() => log.push(`b ${clock.now()}`), 20);
  clock.schedule(() => {
    log.push(`a ${clock.now()}`);
    void sleep(clock, 5).then(() => log.push(`after a ${clock.now()}`));
  }, 10);
  clock.schedule(() => log.push('never'), 10).cancel();
  await clock.advance(19);
  expect(log).toEqual(['a 10', 'after a 15']);
  expect(clock.now()).toBe(19);
  await clock.runUntilIdle();
  expect(log).toEqual(['a 10', 'after a 15', 'b 20']);
});

test('work without end is not waited for', async () => {
  const clock = new FakeClock();
  const again = (): void => void clock.schedule(again, 1000);
  again();
  await expect(clock.runUntilIdle(10_000)).rejects.toThrow('timers are still pending');
});

test('a step of the time of day makes no time pass', async () => {
  const clock = new FakeClock(0);
  const log: number[] = [];
  clock.schedule(() => log.push(clock.now()), 20);
  const before = clock.monotonic();
  clock.stepTimeOfDay(3_600_000);
  await clock.advance(19);
  expect(log).toEqual([]);
  clock.stepTimeOfDay(-3_600_000);
  await clock.advance(1);
  expect(log).toEqual([20]);
  expect(clock.monotonic() - before).toBe(20);
});

test('after a stall, what fell due runs late and in order, before anything that was ready', async () => {
  const clock = new FakeClock(0);
  const log: string[] = [];
  setImmediate(() => log.push('ready'));
  clock.schedule(() => log.push(`second ${clock.now()}`), 20);
  clock.schedule(() => log.push(`first ${clock.now()}`), 10);
  clock.schedule(() => log.push('not due'), 31);
  clock.stall(30);
  await clock.settle();
  expect(log).toEqual(['first 30', 'second 30', 'ready']);
});
