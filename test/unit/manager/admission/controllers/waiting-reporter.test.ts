import { describe, expect, test } from 'vitest';
import { waitingConditions, waitingPatch } from '../../../../../manager/admission/controllers/waiting-reporter.ts';
import { SHORT_OF_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aCondition, aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const nowMs = Date.UTC(2026, 0, 1, 0, 1, 5);
const inadmissibleReason = { reason: 'InsufficientQuota', message: 'short of 1 cpu' } as const;
const told = (parts: object) =>
  aHomeJob({
    status: { conditions: [aCondition('Suspended'), aCondition('QuotaReserved', { status: 'False', ...inadmissibleReason, ...parts })] },
  });

describe('telling a Job why it waits', () => {
  test('a Job that was told nothing is told, and shown as suspended', () => {
    const conditions = [
      {
        type: 'QuotaReserved',
        status: 'False',
        ...inadmissibleReason,
        lastProbeTime: '2026-01-01T00:01:05Z',
        lastTransitionTime: '2026-01-01T00:01:05Z',
      },
      expect.objectContaining({ type: 'Suspended', status: 'True', reason: 'JobSuspended' }) as object,
    ];
    expect(waitingConditions(JOB_KIND, aHomeJob(), inadmissibleReason, nowMs)).toEqual(conditions);
  });
  test('a Job that was told the same is left alone', () => {
    expect(waitingConditions(JOB_KIND, told({}), inadmissibleReason, nowMs)).toBeUndefined();
  });
  test('another reason is told, and the time since when it waits stays', () => {
    const conditions = waitingConditions(JOB_KIND, told({ reason: 'NoClusterFits' }), inadmissibleReason, nowMs);
    expect(conditions).toMatchObject([{ lastProbeTime: '2026-01-01T00:01:05Z', lastTransitionTime: '2026-01-01T00:01:00Z' }]);
    expect(conditions).toHaveLength(1);
  });
  test('a Job that had quota before begins to wait now', () => {
    expect(waitingConditions(JOB_KIND, told({ status: 'True' }), inadmissibleReason, nowMs)).toMatchObject([
      { lastTransitionTime: '2026-01-01T00:01:05Z' },
    ]);
  });
  test('a Job that is being evicted is not shown as suspended before its copy says so', () => {
    expect(waitingConditions(JOB_KIND, aHomeJob(), { reason: 'Evicted', message: 'evicted' }, nowMs)?.map(({ type }) => type)).toEqual([
      'QuotaReserved',
    ]);
  });
  test('one that was preempted says for whom, once, also where nothing else has changed', () => {
    const preempted = { by: 'team/train', clusterQueue: 'cq', rule: 'InClusterQueue' };
    const [condition] = waitingConditions(JOB_KIND, told({}), inadmissibleReason, nowMs, preempted) ?? [];
    expect(condition).toMatchObject({
      type: 'Preempted',
      status: 'True',
      reason: 'InClusterQueue',
      message: 'preempted by Job team/train of cluster queue cq (InClusterQueue: it goes first in the same cluster queue)',
    });
    const job = told({});
    const again = { ...job, status: { conditions: [...(job.status?.conditions ?? []), ...(condition === undefined ? [] : [condition])] } };
    expect(waitingConditions(JOB_KIND, again, inadmissibleReason, nowMs, preempted)).toBeUndefined();
    const types = waitingConditions(JOB_KIND, told({ reason: 'Evicted' }), inadmissibleReason, nowMs, preempted)?.map(({ type }) => type);
    expect(types).toEqual(['QuotaReserved', 'Preempted']);
  });
  test('what it is short of is written beside, where that changes, and taken off where it is short of nothing', () => {
    const metadataOf = (job: Parameters<typeof waitingPatch>[0], shortOf?: readonly string[]) =>
      (waitingPatch(job, [], { ...inadmissibleReason, shortOf }).body as { readonly metadata: object }).metadata;
    const short = aHomeJob({ metadata: { resourceVersion: '7', annotations: { [SHORT_OF_ANNOTATION]: 'cpu' } } });
    expect(metadataOf(short, ['cpu', 'memory'])).toEqual({ resourceVersion: '7', annotations: { [SHORT_OF_ANNOTATION]: 'cpu,memory' } });
    expect(metadataOf(short, ['cpu'])).toEqual({ resourceVersion: '7' });
    expect(metadataOf(short)).toEqual({ resourceVersion: '7', annotations: { [SHORT_OF_ANNOTATION]: null } });
  });
});
