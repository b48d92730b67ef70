import { expect, test } from 'vitest';
import { JOB_KIND } from '../../../../../../manager/work-kind/job/job-kind.ts';
import type { JobStatus } from '../../../../../../shared/api/kubernetes.ts';
import { aCondition, anAdmittedJob } from '../../../../../support/jobs.ts';
import { conditionsHome, copyOn, DISPATCHED, plan, RESERVED } from '../../../dispatch/decisions/mirror-situation.ts';

const FAILED: JobStatus = {
  startTime: '2026-01-01T00:00:10Z',
  active: 0,
  succeeded: 1,
  failed: 7,
  uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] },
  conditions: [aCondition('FailureTarget', { reason: 'BackoffLimitExceeded' }), aCondition('Failed', { reason: 'BackoffLimitExceeded' })],
};
const deletedCopy = (local = anAdmittedJob(), status = FAILED) => {
  const copy = copyOn('eu-1', local, { status, deleting: true });
  const metadata = { ...copy.job.metadata, deletionTimestamp: '2026-01-01T00:59:00Z' };
  return { ...copy, job: { ...copy.job, metadata } };
};

test('failures that the deletion of a copy has made are neither failures nor the end of its Job; what has succeeded counts', () => {
  const local = anAdmittedJob({ spec: { completions: 10 }, status: { failed: 2, conditions: [RESERVED, DISPATCHED] } });
  const { home } = plan(local, [deletedCopy(local)]);
  expect(home).toMatchObject({ kind: 'WriteStatus', urgent: false, status: { succeeded: 1, failed: 2 } });
  expect(conditionsHome({ remote: [], home }).join()).not.toMatch(/Fail/);
});

test.each([
  ['is being deleted itself', { metadata: { deletionTimestamp: '2026-01-01T00:59:00Z', finalizers: ['switchyard.dev/copies'] } }],
  ['is suspended', { spec: { suspend: true } }],
])('a Job that %s does not fail for the deletion of its copy', (_what, parts) => {
  const local = anAdmittedJob({ ...parts, status: { conditions: [RESERVED, DISPATCHED] } });
  expect(conditionsHome(plan(local, [deletedCopy(local)])).join()).not.toMatch(/Fail/);
});

test('a work queue whose last pods the deletion has taken away is not complete', () => {
  const status: JobStatus = { succeeded: 1, conditions: [aCondition('SuccessCriteriaMet'), aCondition('Complete')] };
  const local = anAdmittedJob();
  const { completions: _, ...spec } = local.spec;
  expect(JOB_KIND.copies.believed(deletedCopy(local, status).job, { ...local, spec })?.conditions).toEqual([]);
});

test('a verdict that was known before the deletion, and one of all successes, stand', () => {
  const judged = anAdmittedJob({ status: { conditions: [aCondition('FailureTarget')] } });
  expect(JOB_KIND.copies.believed(deletedCopy(judged).job, judged)).toMatchObject({ failed: 7, conditions: FAILED.conditions });
  const done = anAdmittedJob({ spec: { completions: 1 } });
  const status: JobStatus = { succeeded: 1, conditions: [aCondition('SuccessCriteriaMet'), aCondition('Complete')] };
  expect(JOB_KIND.copies.believed(deletedCopy(done, status).job, done)).toEqual(status);
});
