import { expect, test } from 'vitest';
import type { JobSpec } from '../../../../shared/api/kubernetes.ts';
import { LANES, laneOf } from '../../../../worker/job/lanes.ts';
import { aHomeJob } from '../../../support/jobs.ts';

test.each<[string, Partial<JobSpec>, number]>([
  ['of one pod, as nothing is said', {}, 1],
  ['of many pods, few at a time', { completions: 10_000, parallelism: 10 }, 1],
  ['of few pods, however many might run', { completions: 3, parallelism: 500 }, 1],
  ['of many pods at once', { completions: 100, parallelism: 100 }, 0],
  ['of a work queue with many pods', { parallelism: 11 }, 0],
])('a Job %s', (_, spec, lane) => {
  const job = aHomeJob();
  const { parallelism: _parallelism, completions: _completions, ...rest } = job.spec;
  expect(laneOf({ ...job, spec: { ...rest, ...spec } })).toBe(lane);
  expect(lane).toBeLessThan(LANES);
});

test('a Job that is gone does not wait for large ones', () => {
  expect(laneOf(undefined)).toBe(1);
});
