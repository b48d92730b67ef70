import { expect, test } from 'vitest';
import { createKeptAnswers } from '../../../../shared/runtime/kept-answers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

type Answer = { readonly owner: string | undefined; readonly number: number };

function aDesk(most = 100) {
  const clock = new FakeClock();
  let asked = 0;
  const answers = createKeptAnswers<Answer>({
    most,
    keptMs: ({ owner }) => (owner === undefined ? 10_000 : 60_000),
    ownerOf: ({ owner }) => owner,
    clock,
  });
  const ask = async (key: string, owner?: string): Promise<number> =>
    (await answers.of(key, async () => ({ owner, number: ++asked }))).number;
  return { clock, answers, ask };
}

test('an answer is kept for its time, and asked for anew after it', async () => {
  const { clock, ask } = aDesk();
  expect([await ask('a', 'ann'), await ask('b')]).toEqual([1, 2]);
  await clock.advance(9_999);
  expect([await ask('a', 'ann'), await ask('b')]).toEqual([1, 2]);
  await clock.advance(1);
  expect([await ask('a', 'ann'), await ask('b')]).toEqual([1, 3]);
  await clock.advance(50_000);
  expect(await ask('a', 'ann')).toBe(4);
});

test('who asks while the same is being asked gets the same answer', async () => {
  const { ask } = aDesk();
  expect(await Promise.all([ask('a', 'ann'), ask('a', 'ann')])).toEqual([1, 1]);
});

test('an answer that is over is shown to the next question', async () => {
  const { clock, answers, ask } = aDesk();
  await ask('a', 'ann');
  await clock.advance(60_000);
  const seen: (Answer | undefined)[] = [];
  await answers.of('a', async (before) => {
    seen.push(before);
    return { owner: 'ann', number: 0 };
  });
  expect(seen).toEqual([{ owner: 'ann', number: 1 }]);
});

test('a question that fails is asked anew by the next one', async () => {
  const { answers, ask } = aDesk();
  await expect(answers.of('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await ask('a', 'ann')).toBe(1);
});

test('where there are too many the owner with most of them loses the oldest, and nobody’s go first', async () => {
  const { ask } = aDesk(4);
  for (const key of ['bob', 'ann-1', 'ann-2', 'ann-3', 'ann-4']) await ask(key, key.split('-')[0]);
  expect(await ask('bob', 'bob')).toBe(1);
  expect(await ask('ann-2', 'ann')).toBe(3);
  expect(await ask('ann-1', 'ann')).toBe(6);
  await ask('bad-token');
  expect(await ask('bob', 'bob')).toBe(1);
  expect(await ask('bad-token')).toBe(8);
});
