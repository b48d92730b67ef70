import { expect, test } from 'vitest';
import { createWakeUp, type WakeUp } from '../../../../shared/runtime/wake-up.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A loop whose rounds are counted; each takes `roundMs`. */
function aLoop({ gatherMs, roundMs = 0 }: { readonly gatherMs?: number; readonly roundMs?: number }) {
  const clock = new FakeClock();
  const wakeUp: WakeUp = createWakeUp(clock, gatherMs);
  const stop = new AbortController();
  const rounds: number[] = [];
  const startMs = clock.now();
  const ended = wakeUp.run(async () => {
    rounds.push(clock.now() - startMs);
    if (roundMs > 0) await new Promise<void>((resolve) => clock.schedule(resolve, roundMs));
  }, stop.signal);
  return { clock, wakeUp, rounds, ended, stop: () => stop.abort() };
}

test('the first round needs no change, and without one no other follows', async () => {
  const { clock, rounds } = aLoop({});
  await clock.advance(60_000);
  expect(rounds).toEqual([0]);
});

test('many changes lead to one round', async () => {
  const { clock, wakeUp, rounds } = aLoop({});
  await clock.advance(10);
  wakeUp.wake();
  wakeUp.wake();
  await clock.advance(60_000);
  expect(rounds).toEqual([0, 10]);
});

test('a change during a round leads to another', async () => {
  const { clock, wakeUp, rounds } = aLoop({ roundMs: 100 });
  await clock.advance(50);
  wakeUp.wake();
  await clock.advance(60_000);
  expect(rounds).toEqual([0, 100]);
});

test('changes that come while others are gathered join their round', async () => {
  const { clock, wakeUp, rounds } = aLoop({ gatherMs: 1_000 });
  await clock.advance(500);
  wakeUp.wake();
  await clock.advance(60_000);
  expect(rounds).toEqual([1_000]);
  wakeUp.wake();
  await clock.advance(999);
  expect(rounds).toEqual([1_000]);
  await clock.advance(1);
  expect(rounds).toEqual([1_000, 61_500]);
});

test('a loop that waits, gathers or works ends when it is told to, without a further round', async () => {
  const idle = aLoop({});
  await idle.clock.settle();
  idle.stop();
  await idle.ended;
  expect(idle.rounds).toEqual([0]);

  const gathering = aLoop({ gatherMs: 1_000 });
  await gathering.clock.settle();
  gathering.stop();
  await gathering.ended;
  expect(gathering.rounds).toEqual([]);

  const working = aLoop({ roundMs: 100 });
  await working.clock.settle();
  working.wakeUp.wake();
  working.stop();
  await working.clock.advance(100);
  await working.ended;
  expect(working.rounds).toEqual([0]);
});

test('a round that fails ends the loop with its error', async () => {
  const wakeUp = createWakeUp(new FakeClock());
  const failing = wakeUp.run(() => Promise.reject(new Error('broken')), new AbortController().signal);
  await expect(failing).rejects.toThrow('broken');
});
