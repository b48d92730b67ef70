import { describe, expect, test } from 'vitest';
import { outcomeOf, outcomeOfDeleted, submissionOf } from '../../../../manager/submission/outcome.ts';
import { aCondition, anAdmittedJob } from '../../../support/jobs.ts';
import { FIRST_MADE, submissionAnnotations } from '../../../support/submissions.ts';

describe('the outcome of a Job', () => {
  test('is undecided while it runs, its verdict included', () => {
    expect(outcomeOf(anAdmittedJob({ status: { active: 1, conditions: [aCondition('SuccessCriteriaMet')] } }))).toBeUndefined();
  });

  test('that completed is plain JSON with what a submitter wants to know', () => {
    const status = {
      startTime: '2026-01-01T00:00:10Z',
      completionTime: '2026-01-01T00:02:00Z',
      succeeded: 3,
      completedIndexes: '0-2',
      conditions: [aCondition('SuccessCriteriaMet'), aCondition('Complete')],
    };
    expect(outcomeOf(anAdmittedJob({ status }))).toEqual({
      kind: 'Completed',
      result: {
        namespace: 'team',
        name: 'sum',
        uid: 'uid-home-1',
        cluster: 'eu-1',
        succeeded: 3,
        failed: 0,
        startTime: '2026-01-01T00:00:10Z',
        completionTime: '2026-01-01T00:02:00Z',
        completedIndexes: '0-2',
      },
    });
  });

  test('that failed says why, and which Job on which cluster', () => {
    const failed = aCondition('Failed', { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' });
    expect(outcomeOf(anAdmittedJob({ status: { conditions: [aCondition('FailureTarget'), failed] } }))).toEqual({
      kind: 'Failed',
      failure: { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit (Job team/sum on cluster "eu-1")' },
    });
  });

  test('that was deleted is how it had ended, or that it never will', () => {
    expect(outcomeOfDeleted(anAdmittedJob())).toMatchObject({ kind: 'Failed', failure: { reason: 'JobDeleted' } });
    expect(outcomeOfDeleted(anAdmittedJob({ status: { conditions: [aCondition('Complete')] } })).kind).toBe('Completed');
  });
});

test('a Job says which submission it came from, if it came from one', () => {
  const annotations = submissionAnnotations({ id: 'a/b', submittedAt: 12 });
  const of = { key: 'a/b', id: 'a/b', submittedAt: 12, tenant: 'shared', made: FIRST_MADE };
  expect(submissionOf(anAdmittedJob({ metadata: { annotations } }))).toEqual(of);
  for (const name of Object.keys(annotations)) {
    const { [name]: _left, ...others } = annotations;
    expect(submissionOf(anAdmittedJob({ metadata: { annotations: others } })), name).toBeUndefined();
  }
  expect(submissionOf(anAdmittedJob())).toBeUndefined();
});
