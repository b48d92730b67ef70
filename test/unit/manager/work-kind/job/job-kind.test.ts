import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../../../shared/api/names.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../../support/jobs.ts';

describe('a Job as its kind sees it', () => {
  test('is prepared by the same fields, whether whole or as a patch', () => {
    const bare = aHomeJob({ spec: { suspend: false } });
    delete bare.spec.managedBy;
    expect(JOB_KIND.prepared(bare).spec).toMatchObject({ suspend: true, managedBy: MANAGER_CONTROLLER_NAME });
    expect(JOB_KIND.preparation(bare)).toEqual([
      { op: 'add', path: '/spec/suspend', value: true },
      { op: 'add', path: '/spec/managedBy', value: MANAGER_CONTROLLER_NAME },
    ]);
    expect(JOB_KIND.preparation(JOB_KIND.prepared(bare))).toEqual([]);
  });

  test('is released and suspended by one field, by which a release of its copy is known', () => {
    expect([JOB_KIND.suspension(true), JOB_KIND.suspension(false)]).toEqual([{ suspend: true }, { suspend: false }]);
    expect([true, false].map((suspend) => JOB_KIND.copies.resumes(JOB_KIND.suspension(suspend)))).toEqual([false, true]);
    expect([anAdmittedJob(), aHomeJob()].map((job) => JOB_KIND.isSuspended(job))).toEqual([false, true]);
  });

  test('once it rests has no pods and has not started, and keeps the conditions that are given', () => {
    const job = anAdmittedJob({ status: { startTime: '2026-01-01T00:00:00Z', active: 2, succeeded: 1 } });
    const rested = JOB_KIND.home.rested(job, [aCondition('Suspended')]);
    expect(JOB_KIND.isSuspended(rested)).toBe(true);
    expect(rested.status).toEqual({ active: 0, terminating: 0, succeeded: 1, conditions: [aCondition('Suspended')] });
  });

  test('of another controller is cached as nothing but its identity', () => {
    const job = aHomeJob({ spec: { managedBy: 'other' } });
    const cached = JOB_KIND.cache.identity(job);
    expect(JOB_KIND.controllerOf(cached)).toBe('other');
    expect(cached.metadata).not.toHaveProperty('labels');
    expect(cached.spec.template).toEqual({});
  });

  test('has a problem that is known by its cached form as well', () => {
    const cached = JOB_KIND.cache.compact(aHomeJob(), { problem: 'too large' });
    expect([JOB_KIND.cache.problem(cached), JOB_KIND.cache.problem(aHomeJob())]).toEqual(['too large', undefined]);
    expect(JOB_KIND.ruleProblems(aHomeJob(), DEFAULT_JOB_RULES)).toEqual([]);
  });
});

describe('what a cluster has dropped of a copy', () => {
  const sent = { metadata: {}, spec: { ...aHomeJob().spec, suspend: false, maxFailedIndexes: 1 } };
  const { maxFailedIndexes: _dropped, ...kept } = sent.spec;

  test('is looked for in all of a copy as it was created, and in immutable fields of an older one', () => {
    expect(JOB_KIND.copies.droppedFields(sent, aHomeJob({ spec: kept }))).toEqual(['spec.maxFailedIndexes']);
    const older = aHomeJob({ metadata: { generation: 2 }, spec: kept });
    expect(JOB_KIND.copies.droppedFields(sent, older)).toEqual([]);
  });
});
