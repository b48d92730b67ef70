import { expect, test } from 'vitest';
import { podSetsOf } from '../../../../../manager/work-kind/job/job-pod-sets.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('a Job has one pod set, of as many pods as may run at once', () => {
  const job = aHomeJob({ spec: { parallelism: 4, completions: 3 } });
  expect(podSetsOf(job)).toEqual([{ name: 'main', count: 3, template: job.spec.template }]);
});
