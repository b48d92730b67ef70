import { expect, test } from 'vitest';
import { aborted, allOrNone, allOrThrow, onAbort, untilItWorks, withEither } from '../../../../shared/runtime/tasks.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('tasks go on until they are told to stop', async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  const task = (name: string) => async (signal: AbortSignal) => {
    await aborted(signal);
    ended.push(name);
  };
  const running = allOrNone(stop.signal, [task('a'), task('b')]);
  await Promise.resolve();
  expect(ended).toEqual([]);
  stop.abort();
  await running;
  expect(ended.toSorted()).toEqual(['a', 'b']);
});

test('when one task fails the others are stopped, and the failure is thrown once they have ended', async () => {
  const ended: string[] = [];
  const running = allOrNone(new AbortController().signal, [
    () => Promise.reject(new Error('first')),
    async (signal) => {
      await aborted(signal);
      ended.push('other');
      throw new Error('because it was stopped');
    },
  ]);
  await expect(running).rejects.toThrow('first');
  expect(ended).toEqual(['other']);
});

test('what a task throws because it was asked to stop is no failure', async () => {
  const stop = new AbortController();
  const running = allOrNone(stop.signal, [
    async (signal) => {
      await aborted(signal);
      signal.throwIfAborted();
    },
  ]);
  stop.abort(new Error('enough'));
  await expect(running).resolves.toBeUndefined();
});

test('an attempt is repeated until it works', async () => {
  const clock = new FakeClock();
  const startMs = clock.now();
  let failures = 2;
  const attempt = async (): Promise<number> => {
    if (failures-- > 0) throw new Error('not yet');
    return clock.now() - startMs;
  };
  const result = untilItWorks(attempt, { trouble: 'not yet', retryMs: 2_000, clock, log: silentLogger }, new AbortController().signal);
  await clock.advance(10_000);
  expect(await result).toBe(4_000);
});

test('attempts end with their signal', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const attempt = (): Promise<number> => Promise.reject(new Error('never'));
  const result = untilItWorks(attempt, { trouble: 'never', retryMs: 2_000, clock, log: silentLogger }, stop.signal);
  await clock.advance(3_000);
  stop.abort();
  expect(await result).toBeUndefined();
});

test('all are waited for before a failure is thrown', async () => {
  const clock = new FakeClock();
  let late = false;
  const slow = new Promise<void>((resolve) => {
    clock.schedule(() => {
      late = true;
      resolve();
    }, 100);
  });
  const all = allOrThrow([Promise.reject(new Error('one')), slow], 'calls failed');
  const outcome = expect(all).rejects.toThrow('one');
  await clock.advance(100);
  await outcome;
  expect(late).toBe(true);
});

test('several failures are thrown together, and results come in order', async () => {
  const failing = ['one', 'two'].map((message) => Promise.reject(new Error(message)));
  await expect(allOrThrow(failing, 'calls failed')).rejects.toMatchObject({
    message: '2 calls failed',
    errors: [{ message: 'one' }, { message: 'two' }],
  });
  expect(await allOrThrow([Promise.resolve(1), Promise.resolve(2)], 'calls failed')).toEqual([1, 2]);
});

test('whoever asks after the abort is told at once', async () => {
  const over = AbortSignal.abort();
  let told = 0;
  onAbort(over, () => told++);
  expect(told).toBe(1);
  await aborted(over);
});

test('a call under two signals stops with either, for the reason of that one, and leaves nothing with them', async () => {
  for (const first of [true, false]) {
    const [a, b] = [new AbortController(), new AbortController()];
    const call = withEither(a.signal, b.signal, async (either) => {
      await aborted(either);
      throw either.reason;
    });
    (first ? a : b).abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    await expect(withEither(a.signal, b.signal, async (either) => either.aborted)).resolves.toBe(true);
  }
  const [a, b] = [new AbortController(), new AbortController()];
  const over = await withEither(a.signal, b.signal, async (either) => either);
  a.abort();
  expect(over.aborted).toBe(false);
});
