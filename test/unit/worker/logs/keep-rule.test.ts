import { describe, expect, test } from 'vitest';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { KEEP_LOGS_LABEL, ORIGIN_LABEL } from '../../../../shared/api/names.ts';
import { isCopy, keepLogsOf, otherKindOf, wantsTail } from '../../../../worker/logs/keep-rule.ts';
import { viewPod } from '../../../../worker/job/pod-view.ts';

const jobWith = (labels: Record<string, string>): Job =>
  ({ metadata: { name: 'sum', namespace: 'team', labels }, spec: { template: {} } }) as unknown as Job;
const pod = (phase: string, state: object = { terminated: { exitCode: 1 } }, nodeName = 'n') =>
  viewPod(
    {
      metadata: { name: 'p', namespace: 'team', uid: 'u' },
      spec: { nodeName, containers: [] },
      status: { phase, containerStatuses: [{ name: 'c', state }] },
    } as unknown as Pod,
    { onlyReplaceFailed: false },
  );
const NOTHING = { failed: 0, others: 0 };

test('the word of the Job goes before that of the worker, if it means anything', () => {
  expect(keepLogsOf(jobWith({ [KEEP_LOGS_LABEL]: 'All' }), 'Failed')).toBe('All');
  expect(keepLogsOf(jobWith({ [KEEP_LOGS_LABEL]: 'all' }), 'Failed')).toBe('Failed');
  expect(keepLogsOf(jobWith({}), 'All')).toBe('All');
  expect(isCopy(jobWith({}))).toBe(false);
  expect(isCopy(jobWith({ [ORIGIN_LABEL]: 'home' }))).toBe(true);
});

test('a Job is one of Kubernetes’ own group, in any version, or of a cache, which says neither', () => {
  for (const job of [{}, { kind: 'Job' }, { apiVersion: 'batch/v1', kind: 'Job' }, { apiVersion: 'batch/v2', kind: 'Job' }])
    expect(otherKindOf(job)).toBeUndefined();
  expect(otherKindOf({ apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' })).toBe('batch.volcano.sh/v1alpha1 Job');
  expect(otherKindOf({ apiVersion: 'batch/v1', kind: 'CronJob' })).toBe('batch/v1 CronJob');
});

describe('the tail is wanted', () => {
  test('of pods that failed or were stopped while they ran', () => {
    expect(wantsTail(pod('Failed'), 'Failed', NOTHING, false)).toBe(true);
    expect(wantsTail(pod('Running', { running: {} }), 'Failed', NOTHING, true)).toBe(true);
    expect(wantsTail(pod('Succeeded', { terminated: { exitCode: 0 } }), 'Failed', NOTHING, false)).toBe(false);
    expect(wantsTail(pod('Succeeded', { terminated: { exitCode: 0 } }), 'All', NOTHING, false)).toBe(true);
    expect(wantsTail(pod('Failed'), 'None', NOTHING, true)).toBe(false);
  });

  test('of none that never ran', () => {
    expect(wantsTail(pod('Failed', {}), 'All', NOTHING, true)).toBe(false);
    expect(wantsTail(pod('Failed', { terminated: { exitCode: 1 } }, ''), 'All', NOTHING, true)).toBe(false);
  });

  test('of forty that failed, and of ten more when the Job comes to its end', () => {
    expect(wantsTail(pod('Failed'), 'Failed', { failed: 40, others: 0 }, false)).toBe(false);
    expect(wantsTail(pod('Failed'), 'Failed', { failed: 40, others: 0 }, true)).toBe(true);
    expect(wantsTail(pod('Failed'), 'Failed', { failed: 50, others: 0 }, true)).toBe(false);
    expect(wantsTail(pod('Succeeded'), 'All', { failed: 0, others: 40 }, false)).toBe(false);
  });
});
