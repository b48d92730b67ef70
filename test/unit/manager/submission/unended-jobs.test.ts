import { expect, test } from 'vitest';
import { countUnendedJobs } from '../../../../manager/submission/unended-jobs.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { SUBMISSION_SEAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { aCondition, aHomeJob, TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { submissionAnnotations, testSeal } from '../../../support/submissions.ts';

const ofTenant = (name: string, tenant: string, sealedFor = tenant, status: Job['status'] = {}): Job => {
  const { namespace } = aHomeJob().metadata;
  const seal = testSeal({ namespace, name }, { id: name, tenant: sealedFor });
  const annotations = { ...submissionAnnotations({ id: name, tenant }), [SUBMISSION_SEAL_ANNOTATION]: seal };
  return aHomeJob({ metadata: { name, uid: `uid-${name}`, annotations }, status });
};
const COMPLETE = { conditions: [aCondition('Complete')] };

test('the Jobs of a tenant count until they end or are deleted, each once', () => {
  let ended = 0;
  const unended = countUnendedJobs(TEST_RECORD_KEYS, () => ended++);
  const { added, updated, deleted } = unended.handler;
  added?.(ofTenant('a', 't1'), true);
  added?.(ofTenant('b', 't1'), true);
  added?.(ofTenant('c', 't2'), true);
  added?.(ofTenant('done', 't1', 't1', COMPLETE), true);
  expect([unended.of('t1'), unended.of('t2'), unended.of('t3')]).toEqual([2, 1, 0]);
  updated?.(ofTenant('a', 't1'), ofTenant('a', 't1'));
  updated?.(ofTenant('a', 't1', 't1', COMPLETE), ofTenant('a', 't1'));
  updated?.(ofTenant('a', 't1', 't1', COMPLETE), ofTenant('a', 't1', 't1', COMPLETE));
  deleted?.(ofTenant('a', 't1', 't1', COMPLETE), false);
  expect([unended.of('t1'), ended]).toEqual([1, 1]);
  deleted?.(ofTenant('b', 't1'), false);
  expect([unended.of('t1'), ended]).toEqual([0, 2]);
});

test('a Job that merely says that it is of a tenant takes nothing of its limit, nor does what is written on one later', () => {
  const unended = countUnendedJobs(TEST_RECORD_KEYS, () => undefined);
  const { added, updated, deleted } = unended.handler;
  added?.(ofTenant('forged', 'rich', 'poor'), false);
  expect(unended.of('rich')).toBe(0);
  added?.(ofTenant('a', 't1'), false);
  updated?.(ofTenant('a', 'rich', 't1'), ofTenant('a', 't1'));
  deleted?.(ofTenant('a', 'rich', 't1'), false);
  expect([unended.of('t1'), unended.of('rich')]).toEqual([0, 0]);
});
