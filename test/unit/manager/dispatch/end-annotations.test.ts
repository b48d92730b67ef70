import { expect, test } from 'vitest';
import { annotationsOfEnd } from '../../../../manager/dispatch/end-annotations.ts';
import { ENDED_PODS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../../../shared/api/names.ts';
import { aCondition, aHomeJob } from '../../../support/jobs.ts';

const copy = {
  cluster: 'east',
  job: aHomeJob({ metadata: { annotations: { [ENDED_PODS_ANNOTATION]: '[{"pod":"sum-x","phase":"Failed","exitCode":3}]' } } }),
  deleting: false,
};

test('a Job that fails is told what its last pod ended with', () => {
  expect(annotationsOfEnd({ conditions: [aCondition('Failed')] }, copy)).toEqual({
    [LAST_FAILURE_ANNOTATION]: '{"pod":"sum-x","cluster":"east","exitCode":3}',
  });
});

test('one that completes, runs on, or of which nothing is known is told nothing', () => {
  expect(annotationsOfEnd({ conditions: [aCondition('Complete')] }, copy)).toBeUndefined();
  expect(annotationsOfEnd({ conditions: [aCondition('FailureTarget')] }, copy)).toBeUndefined();
  expect(annotationsOfEnd({ conditions: [aCondition('Failed')] }, { ...copy, job: aHomeJob() })).toBeUndefined();
});
