import { expect, test } from 'vitest';
import { SubmissionProblem } from '../../../../manager/api/submission-port.ts';

test('a problem keeps its code for programs, its words for people, and what it comes from', () => {
  const cause = new Error('there is another one');
  const problem = new SubmissionProblem('Conflict', 'choose another key', { cause });
  expect(problem).toMatchObject({ name: 'DoorProblem', code: 'Conflict', message: 'choose another key', cause });
});
