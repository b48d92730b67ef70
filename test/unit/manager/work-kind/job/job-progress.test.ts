import { expect, test } from 'vitest';
import { podsReady, progressOf } from '../../../../../manager/work-kind/job/job-progress.ts';

test('a Job is as far as its status says, and nowhere without one', () => {
  const status = { startTime: '2026-01-01T00:00:00Z', active: 2, terminating: 1, succeeded: 3 };
  expect(progressOf({ status })).toEqual({ ...status, completionTime: undefined, ready: 2, failed: 0 });
  expect(progressOf({})).toMatchObject({ startTime: undefined, active: 0, ready: 0, succeeded: 0 });
});

test('active pods count as ready where an API server does not count these', () => {
  expect([podsReady({ active: 2 }), podsReady({ active: 2, ready: 1 }), podsReady(undefined)]).toEqual([2, 1, 0]);
});
