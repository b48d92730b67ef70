import { expect, test } from 'vitest';
import { DEFAULT_JOB_RULES, PODS_AT_ONCE_MAX, ruleProblems } from '../../../../manager/api/job-rules.ts';
import type { Job, JobSpec } from '../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const fields = (job: Job): string[] => ruleProblems(job, DEFAULT_JOB_RULES).map(({ field }) => field);
const aJob = (spec: Partial<JobSpec>): Job => aHomeJob({ spec });

test('a Job has as many pods at once as a cluster may bear, and no more', () => {
  const [most, more] = [PODS_AT_ONCE_MAX, PODS_AT_ONCE_MAX + 1];
  expect(fields(aJob({ parallelism: most, completions: more }))).toEqual([]);
  expect(fields(aJob({ parallelism: more, completions: more }))).toEqual(['spec.parallelism']);
  expect(fields(aJob({ parallelism: more, completions: 5 }))).toEqual([]);
});

test('a Job that is too large says so', () => {
  expect(fields(aJob({ template: { spec: { containers: [{ name: 'main', args: ['x'.repeat(DEFAULT_JOB_RULES.bytesMax)] }] } } }))).toEqual([
    'job',
  ]);
});
