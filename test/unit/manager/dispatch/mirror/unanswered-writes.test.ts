import { describe, expect, test } from 'vitest';
import { createUnansweredWrites, LATE_WRITE_MS } from '../../../../../manager/dispatch/mirror/unanswered-writes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const KEY = 'team/sum';
/** It was admitted long ago. */
const OLD = 0;
async function doubtsOfAge(ms: number) {
  const clock = new FakeClock();
  const doubts = createUnansweredWrites(clock, OLD);
  await clock.advance(ms);
  return { clock, doubts };
}

describe('a Job', () => {
  test('is doubtful at first, because another manager may have written before, and then is not', async () => {
    const { clock, doubts } = await doubtsOfAge(0);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Waiting', forMs: LATE_WRITE_MS });
    await clock.advance(LATE_WRITE_MS);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'None' });
  });

  test('that was admitted since then is in no doubt; of one that nobody knows when it was, nothing is known', async () => {
    const { clock, doubts } = await doubtsOfAge(0);
    expect(doubts.of(KEY, clock.now())).toEqual({ kind: 'None' });
    expect(doubts.of(KEY, undefined).kind).toBe('Waiting');
  });

  test('that was there before is not taken for one admitted since, though the clock of who admitted it was ahead', async () => {
    const clock = new FakeClock();
    const aheadMs = clock.now() + 600_000;
    const doubts = createUnansweredWrites(clock, aheadMs);
    expect(doubts.of(KEY, aheadMs)).toEqual({ kind: 'Waiting', forMs: LATE_WRITE_MS });
    expect(doubts.untouchedSinceMs(KEY)).toBeGreaterThan(aheadMs);
    await clock.advance(LATE_WRITE_MS);
    expect(doubts.of(KEY, aheadMs)).toEqual({ kind: 'None' });
    expect(doubts.untouchedSinceMs(KEY)).toBeGreaterThan(aheadMs);
  });

  test('is doubtful for that time whatever writes are answered: an earlier leader’s may come late', async () => {
    const { doubts } = await doubtsOfAge(0);
    doubts.sent(KEY);
    doubts.answered(KEY);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Waiting', forMs: LATE_WRITE_MS });
  });

  test('is untouched from the beginning until something is sent for it, and anew when it is gone', async () => {
    const { clock, doubts } = await doubtsOfAge(0);
    const bornMs = clock.now();
    expect(doubts.untouchedSinceMs(KEY)).toBe(bornMs);
    doubts.sent(KEY);
    doubts.answered(KEY);
    expect(doubts.untouchedSinceMs(KEY)).toBeUndefined();
    doubts.forget(KEY);
    expect(doubts.untouchedSinceMs(KEY)).toBe(bornMs);
  });
});

describe('a write', () => {
  test('is doubtful while it is under way, and no more once it is answered', async () => {
    const { doubts } = await doubtsOfAge(LATE_WRITE_MS);
    doubts.sent(KEY);
    expect(doubts.of(KEY, OLD).kind).toBe('Waiting');
    doubts.answered(KEY);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'None' });
  });

  test('without an answer may be carried out for a while; then the object is to be looked at', async () => {
    const { clock, doubts } = await doubtsOfAge(LATE_WRITE_MS);
    doubts.sent(KEY);
    doubts.lost(KEY);
    await clock.advance(LATE_WRITE_MS - 1);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Waiting', forMs: 1 });
    await clock.advance(1);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Look' });
    doubts.resolved(KEY);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'None' });
  });

  test('that never left has changed nothing', async () => {
    const { doubts } = await doubtsOfAge(LATE_WRITE_MS);
    const untouched = doubts.untouchedSinceMs(KEY);
    doubts.sent(KEY);
    expect(doubts.untouchedSinceMs(KEY)).toBeUndefined();
    doubts.unsent(KEY);
    expect([doubts.of(KEY, OLD), doubts.untouchedSinceMs(KEY)]).toEqual([{ kind: 'None' }, untouched]);
  });

  test('that is answered says nothing of an earlier one that was not', async () => {
    const { clock, doubts } = await doubtsOfAge(LATE_WRITE_MS);
    doubts.sent(KEY);
    doubts.lost(KEY);
    doubts.sent(KEY);
    doubts.answered(KEY);
    expect(doubts.of(KEY, OLD).kind).toBe('Waiting');
    await clock.advance(LATE_WRITE_MS);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Look' });
  });

  test('whose answer was lost a moment ago may be carried out after a look, and stays open', async () => {
    const { clock, doubts } = await doubtsOfAge(LATE_WRITE_MS);
    doubts.sent(KEY);
    doubts.lost(KEY);
    doubts.resolved(KEY);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Waiting', forMs: LATE_WRITE_MS });
    await clock.advance(LATE_WRITE_MS);
    expect(doubts.of(KEY, OLD)).toEqual({ kind: 'Look' });
  });

  test('under way keeps a look from settling anything', async () => {
    const { clock, doubts } = await doubtsOfAge(LATE_WRITE_MS);
    doubts.sent(KEY);
    doubts.lost(KEY);
    await clock.advance(LATE_WRITE_MS);
    doubts.sent(KEY);
    doubts.resolved(KEY);
    expect(doubts.of(KEY, OLD).kind).toBe('Waiting');
  });
});

test('a copy that left the list is remembered, and that nothing of a Job is there, until something is made of it', async () => {
  const { clock, doubts } = await doubtsOfAge(LATE_WRITE_MS);
  const copy = { metadata: { name: 'sum' } } as never;
  expect([doubts.absence(KEY, OLD), doubts.absence(KEY, clock.now())]).toEqual(['Open', undefined]);
  doubts.unlisted(KEY, copy);
  expect([doubts.absence(KEY, clock.now()), doubts.untouchedSinceMs(KEY), doubts.of(KEY, OLD)]).toEqual([
    'Unlisted',
    undefined,
    { kind: 'Look' },
  ]);
  doubts.absent(KEY);
  expect([doubts.absence(KEY, OLD), doubts.unlistedCopy(KEY)]).toEqual([undefined, undefined]);
  doubts.sent(KEY);
  doubts.answered(KEY, true);
  expect(doubts.absence(KEY, OLD)).toBeUndefined();
  doubts.sent(KEY);
  doubts.lost(KEY);
  expect(doubts.absence(KEY, OLD)).toBe('Open');
  doubts.unlisted(KEY, copy);
  doubts.forget(KEY);
  expect(doubts.has(KEY)).toBe(false);
});
