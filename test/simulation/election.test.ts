import { expect, test } from 'vitest';
import { simulateElection } from './election.ts';

const STORIES = 12;

test('of candidates in a storm no two write, and in the end one does', async () => {
  for (let seed = 1; seed <= STORIES; seed++) expect([seed, (await simulateElection(seed)).violations]).toEqual([seed, []]);
});

test('a leader that goes by the end of its leadership alone is found to write beside the next', async () => {
  let found = false;
  for (let seed = 1; seed <= STORIES && !found; seed++) found = (await simulateElection(seed, undefined, true)).violations.length > 0;
  expect(found).toBe(true);
});
