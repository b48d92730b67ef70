import { expect, test } from 'vitest';
import { runToEnd } from '../../../../../manager/admission/cache/sliced-work.ts';

test('work in steps is done to its end', () => {
  const done: number[] = [];
  function* work(): Generator<undefined, string> {
    for (const step of [1, 2, 3]) {
      done.push(step);
      yield;
    }
    return 'done';
  }
  expect([runToEnd(work()), done]).toEqual(['done', [1, 2, 3]]);
});
