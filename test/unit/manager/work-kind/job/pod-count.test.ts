import { expect, test } from 'vitest';
import { podsAtOnce } from '../../../../../manager/work-kind/job/pod-count.ts';

test.each([
  [{}, 1],
  [{ completions: 4 }, 1],
  [{ parallelism: 3 }, 3],
  [{ parallelism: 3, completions: 2 }, 2],
  [{ parallelism: 2, completions: 5 }, 2],
  [{ parallelism: 0, completions: 5 }, 0],
  [{ parallelism: 4, completions: 0 }, 0],
])('a Job with %j may have %i pods at once', (counts, pods) => {
  expect(podsAtOnce({ spec: { ...counts, template: {} } })).toBe(pods);
});

test('what is completed already makes no difference', () => {
  const job = { spec: { parallelism: 2, completions: 2, template: {} }, status: { succeeded: 2 } };
  expect(podsAtOnce(job)).toBe(2);
});
