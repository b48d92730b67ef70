import { expect, test } from 'vitest';
import { failureAnnotations } from '../../../../../manager/dispatch/mirror/failure-annotations.ts';
import { ENDED_PODS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aCondition, aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const copy = {
  cluster: 'east',
  job: aHomeJob({ metadata: { annotations: { [ENDED_PODS_ANNOTATION]: '[{"pod":"sum-x","phase":"Failed","exitCode":3}]' } } }),
  deleting: false,
};

test('a Job that fails is told what its last pod ended with', () => {
  expect(failureAnnotations(JOB_KIND, {}, { conditions: [aCondition('Failed')] }, copy)).toEqual({
    [LAST_FAILURE_ANNOTATION]: '{"pod":"sum-x","cluster":"east","exitCode":3}',
  });
});

test('a Job of which one more pod has failed is told so while it runs on, once', () => {
  expect(failureAnnotations(JOB_KIND, { failed: 1 }, { failed: 2 }, copy)).toEqual({
    [LAST_FAILURE_ANNOTATION]: '{"pod":"sum-x","cluster":"east","exitCode":3}',
  });
  expect(failureAnnotations(JOB_KIND, { failed: 2 }, { failed: 2, active: 1 }, copy)).toBeUndefined();
});

test('one that completes, runs on, or of which nothing is known is told nothing', () => {
  expect(failureAnnotations(JOB_KIND, {}, { conditions: [aCondition('Complete')] }, copy)).toBeUndefined();
  expect(failureAnnotations(JOB_KIND, {}, { conditions: [aCondition('FailureTarget')] }, copy)).toBeUndefined();
  expect(failureAnnotations(JOB_KIND, {}, { conditions: [aCondition('Failed')] }, { ...copy, job: aHomeJob() })).toBeUndefined();
});
