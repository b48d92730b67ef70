import { expect, test } from 'vitest';
import { progressOf, transitionLine } from '../../../../manager/submission/progress.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const NONE = { active: 0, succeeded: 0, failed: 0 };
const waiting = aCondition('QuotaReserved', { status: 'False', reason: 'InsufficientQuota' });

test('a Job that waits says for what, once it is known', () => {
  expect(progressOf(JOB_KIND, aHomeJob())).toEqual({ phase: 'Queued', ...NONE });
  expect(progressOf(JOB_KIND, aHomeJob({ status: { conditions: [waiting] } }))).toEqual({
    phase: 'Queued',
    reason: 'InsufficientQuota',
    ...NONE,
  });
});

test('a Job that waits for its admission checks is queued, although its quota is reserved', () => {
  expect(progressOf(JOB_KIND, anAdmittedJob({ spec: { suspend: true } }, { evicted: true, checks: ['budget'] }))).toEqual({
    phase: 'Queued',
    ...NONE,
  });
});

test('an admitted Job names its cluster, and runs from its first pod on', () => {
  const { cluster } = progressOf(JOB_KIND, anAdmittedJob());
  expect(cluster).toBeTypeOf('string');
  expect(progressOf(JOB_KIND, anAdmittedJob())).toEqual({ phase: 'Admitted', cluster, ...NONE });
  expect(progressOf(JOB_KIND, anAdmittedJob({ status: { active: 2, failed: 1 } }))).toEqual({
    phase: 'Running',
    cluster,
    ...NONE,
    active: 2,
    failed: 1,
  });
  expect(progressOf(JOB_KIND, anAdmittedJob({ status: { startTime: '2026-01-01T00:00:00Z', succeeded: 3 } }))).toMatchObject({
    phase: 'Running',
    succeeded: 3,
  });
});

test('a Job that was stopped is suspended, and says why', () => {
  const job = anAdmittedJob({ spec: { suspend: true }, status: { succeeded: 1, conditions: [waiting] } }, { evicted: true });
  expect(progressOf(JOB_KIND, job)).toMatchObject({ phase: 'Suspended', reason: 'InsufficientQuota', succeeded: 1 });
});

test('a Job that has ended says how', () => {
  const ended = (type: string, reason?: string) =>
    progressOf(
      JOB_KIND,
      anAdmittedJob({ status: { succeeded: 1, conditions: [aCondition(type, reason === undefined ? {} : { reason })] } }),
    );
  expect(ended('Complete')).toMatchObject({ phase: 'Finished', reason: 'Complete', succeeded: 1 });
  expect(ended('Failed', 'DeadlineExceeded')).toMatchObject({ phase: 'Finished', reason: 'DeadlineExceeded' });
});

test('the log has a line when something but numbers has changed', () => {
  const queued = { phase: 'Queued', ...NONE } as const;
  const ran = { phase: 'Running', cluster: 'west', ...NONE, active: 1 } as const;
  expect(transitionLine(undefined, queued, 'T')).toBe('T Queued');
  expect(transitionLine(queued, { ...queued, reason: 'InsufficientQuota' }, 'T')).toBe('T Queued: InsufficientQuota');
  expect(transitionLine(queued, ran, 'T')).toBe('T Running on west');
  expect(transitionLine(ran, { ...ran, cluster: 'east' }, 'T')).toBe('T Running on east');
  expect(transitionLine(ran, { ...ran, active: 0, succeeded: 1 }, 'T')).toBeUndefined();
});
