import { expect, test } from 'vitest';
import { isSlow } from '../support/slow.ts';
import { simulateElection } from './election.ts';

/** With SWITCHYARD_SLOW=1 more. */
/** SWITCHYARD_ELECTIONS asks for more. */
const STORIES = isSlow ? Number(process.env['SWITCHYARD_ELECTIONS'] ?? 1_500) : 12;
/** In so many a leader that is not held writes beside the next. */
const UNHELD_STORIES = 12;
const STORY_MS = 1_000;

test(
  'of candidates in a storm no two write, and in the end one does',
  async () => {
    for (let seed = 1; seed <= STORIES; seed++) expect([seed, (await simulateElection(seed)).violations]).toEqual([seed, []]);
  },
  30_000 + STORIES * STORY_MS,
);

test('a leader that goes by the end of its leadership alone is found to write beside the next', async () => {
  let found = false;
  for (let seed = 1; seed <= UNHELD_STORIES && !found; seed++)
    found = (await simulateElection(seed, undefined, true)).violations.length > 0;
  expect(found).toBe(true);
});
