import { beforeEach, expect, test } from 'vitest';
import { createFairScheduler, foundInTurn, type FairScheduler } from '../../../../manager/dashboard/fair-scheduler.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let clock: FakeClock;
let turns: FairScheduler;
let begun: string[];
beforeEach(() => {
  [clock, begun] = [new FakeClock(), []];
  turns = createFairScheduler({ clock, waitingMax: 2 });
});
/** Takes a second. */
const take = (name: string, what: string): Promise<string> | undefined =>
  turns.take(name, async () => {
    begun.push(what);
    await new Promise<void>((resolve) => void clock.schedule(resolve, 1_000));
    if (what === 'broken') throw new Error('it broke');
    return what;
  });

test('one is done after another, with a rest between them as long as the work was', async () => {
  const [first, second] = [take('ann', 'first'), take('ann', 'second')];
  expect(begun).toEqual([]);
  await clock.advance(1_500);
  expect([await first, begun]).toEqual(['first', ['first']]);
  await clock.advance(1_500);
  expect([await second, begun]).toEqual(['second', ['first', 'second']]);
});

test('whoever asks much waits behind himself, and what is too much of his is not taken', async () => {
  expect(['a', 'b', 'c'].map((what) => take('noisy', what) === undefined)).toEqual([false, false, true]);
  const other = take('quiet', 'q');
  await clock.advance(3_500);
  expect([await other, begun]).toEqual(['q', ['a', 'q']]);
  await clock.advance(2_000);
  expect(begun).toEqual(['a', 'q', 'b']);
});

test('what fails fails for whoever asked, and holds up nobody', async () => {
  const [broken, next] = [take('ann', 'broken'), take('bob', 'next')];
  const failed = expect(broken).rejects.toThrow('it broke');
  await clock.advance(4_000);
  await failed;
  expect(await next).toBe('next');
});

test('what had no turn is told as such', () => {
  expect(foundInTurn({ total: 1 })).toEqual({ kind: 'Found', value: { total: 1 } });
  expect(foundInTurn(undefined)).toMatchObject({ kind: 'Refused', status: 503, why: expect.stringContaining('try again') });
});
