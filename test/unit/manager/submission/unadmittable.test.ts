import { expect, test } from 'vitest';
import { QuotaReservedReason } from '../../../../manager/api/reasons.ts';
import { steadyMs, unadmittable, unadmittableOutcome } from '../../../../manager/submission/unadmittable.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';

const waiting = (reason: string, parts: Partial<Job['metadata']> = {}): Job =>
  aHomeJob({
    metadata: parts,
    status: { conditions: [aCondition('QuotaReserved', { status: 'False', reason, message: 'as it is' })] },
  });

test('what asks for more than there ever is, or for what there is not, is never admitted as things are', () => {
  expect(unadmittable(waiting('ExceedsQuota'))).toBe('ExceedsQuota: as it is');
  const never = Object.values(QuotaReservedReason).filter((reason) => unadmittable(waiting(reason)) !== undefined);
  expect(never.toSorted()).toEqual([
    'ClusterQueueNotFound',
    'ExceedsQuota',
    'ForbiddenByLimitRange',
    'InvalidJob',
    'LocalQueueNotFound',
    'NamespaceNotAllowed',
    'NoMatchingFlavor',
    'PriorityClassNotFound',
    'PriorityNotAllowed',
  ]);
});

test('what has been admitted, has ended, is being deleted or was not looked at yet is not given up', () => {
  expect(unadmittable(aHomeJob())).toBeUndefined();
  expect(unadmittable(anAdmittedJob())).toBeUndefined();
  expect(unadmittable(waiting('ExceedsQuota', { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBeUndefined();
  expect(unadmittable(waiting('ExceedsQuota', { annotations: { 'switchyard.dev/admission': '{}' } }))).toBeUndefined();
});

test('a Job that has waited for long is given up later than a new one', () => {
  const job = waiting('ExceedsQuota', { creationTimestamp: '2026-01-01T00:00:00Z' });
  const createdMs = Date.UTC(2026, 0, 1);
  expect(steadyMs(job, createdMs + 1_000)).toBe(60_000);
  expect(steadyMs(job, createdMs + 3_600_000)).toBe(1_800_000);
});

test('its submission is rejected, with the reason and the Job', () => {
  expect(unadmittableOutcome(JOB_KIND, aHomeJob({ metadata: { name: 'sum' } }), 'ExceedsQuota: x')).toMatchObject({
    kind: 'Failed',
    failure: { reason: 'Rejected', message: expect.stringMatching(/^Unadmittable: ExceedsQuota: x \(Job .*\/sum\)$/) as string },
  });
});
