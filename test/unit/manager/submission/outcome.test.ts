import { describe, expect, test } from 'vitest';
import { outcomeOf, outcomeOfDeleted, submissionOf } from '../../../../manager/submission/outcome.ts';
import type { Job, WorkStatus } from '../../../../shared/api/kubernetes.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { aCondition, anAdmittedJob } from '../../../support/jobs.ts';
import { FIRST_MADE, submissionAnnotations } from '../../../support/submissions.ts';

describe('the outcome of a Job', () => {
  test('is undecided while it runs, its verdict included', () => {
    expect(outcomeOf(JOB_KIND, anAdmittedJob({ status: { active: 1, conditions: [aCondition('SuccessCriteriaMet')] } }))).toBeUndefined();
  });

  test('that completed is plain JSON with what a submitter wants to know', () => {
    const status = {
      startTime: '2026-01-01T00:00:10Z',
      completionTime: '2026-01-01T00:02:00Z',
      succeeded: 3,
      completedIndexes: '0-2',
      conditions: [aCondition('SuccessCriteriaMet'), aCondition('Complete')],
    };
    expect(outcomeOf(JOB_KIND, anAdmittedJob({ status }))).toEqual({
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
    expect(outcomeOf(JOB_KIND, anAdmittedJob({ status: { conditions: [aCondition('FailureTarget'), failed] } }))).toEqual({
      kind: 'Failed',
      failure: { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit (Job team/sum on cluster "eu-1")' },
    });
  });

  test('that was deleted is how it had ended, or that it never will', () => {
    expect(outcomeOfDeleted(JOB_KIND, anAdmittedJob())).toMatchObject({ kind: 'Failed', failure: { reason: 'JobDeleted' } });
    expect(outcomeOfDeleted(JOB_KIND, anAdmittedJob({ status: { conditions: [aCondition('Complete')] } })).kind).toBe('Completed');
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

test('the outcome of an object of another kind has its kind, and the name that its API server knows', () => {
  const kinds = createKinds(JOB_KIND, [aCrewKind()]);
  const metadata = { name: 'crews.example.com:argo' };
  const crew = (status: WorkStatus): Job => aCrew({ metadata, status }) as Job;
  expect(outcomeOf(kinds, crew({ done: { oars: 3 }, conditions: [aCondition('Complete')] } as WorkStatus))).toMatchObject({
    result: { kind: 'Crew', namespace: 'team', name: 'argo', succeeded: 3, failed: 0 },
  });
  expect(outcomeOf(kinds, crew({ conditions: [aCondition('Failed', { reason: 'Storm', message: 'sunk' })] }))).toMatchObject({
    failure: { reason: 'Storm', message: 'sunk (Crew team/argo)' },
  });
  expect(outcomeOfDeleted(kinds, crew({}))).toMatchObject({
    failure: { message: 'the Crew was deleted before it had finished (Crew team/argo)' },
  });
});
