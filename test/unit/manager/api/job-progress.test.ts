import { describe, expect, test } from 'vitest';
import { continued, exitCodeOf, progressLine, lifecycleLine, type JobProgress } from '../../../../manager/api/job-progress.ts';
import { formatAdmissionRecord } from '../../../../manager/api/records.ts';
import type { Job, JobCondition } from '../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../../../shared/api/names.ts';
import { aRecord } from '../../../support/jobs.ts';

const CREATED = '2026-01-01T00:00:00Z';
const aJob = (cluster: string | undefined, status: Job['status'] = {}): Job => ({
  metadata: {
    name: 'pi',
    namespace: 'team',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: CREATED,
    ...(cluster === undefined
      ? {}
      : { annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord({ ...aRecord(), cluster }, { written: CREATED, seal: '' }) } }),
  },
  spec: { template: {} },
  status,
});
const isTrue = (type: string, more: Partial<JobCondition> = {}): JobCondition => ({ type, status: 'True', ...more }) as JobCondition;
const told = (...steps: readonly (readonly [number, Job])[]): JobProgress =>
  steps.reduce<JobProgress>((story, [ms, job]) => continued(story, job, ms), { submittedMs: 0 });

test('the way of a Job is told in seconds of each part, as they were seen', () => {
  const dispatched = [isTrue('Dispatched')];
  const story = told(
    [50, aJob(undefined)],
    [200, aJob('east')],
    [500, aJob('east', { conditions: dispatched })],
    [1700, aJob('east', { conditions: dispatched, ready: 1 })],
    [2100, aJob('east', { conditions: [...dispatched, isTrue('Complete')], succeeded: 1 })],
  );
  expect(lifecycleLine(story)).toBe('finished on east in 2.1 s (queued 0.2, dispatched 0.3, pod start 1.2)');
  expect(exitCodeOf(story)).toBe(0);
});

test('what was not seen is not told', () => {
  expect(lifecycleLine(told([900, aJob(undefined, { conditions: [isTrue('Complete')] })]))).toBe('finished in 0.9 s');
});

test('a Job that moves starts anew elsewhere', () => {
  const running = { conditions: [isTrue('Dispatched'), isTrue('Started')] };
  const story = told([100, aJob('east', running)], [300, aJob('west')], [700, aJob('west', { conditions: [isTrue('Dispatched')] })]);
  expect(story).toEqual({ submittedMs: 0, admittedMs: 100, dispatchedMs: 700, cluster: 'west' });
});

describe('a Job that has failed', () => {
  test('tells what its last pod ended with, and ends with that exit code', () => {
    const job = aJob('east', { conditions: [isTrue('Failed', { reason: 'BackoffLimitExceeded', message: 'too often' })] });
    const failure = { pod: 'pi-x', cluster: 'east', exitCode: 3, reason: 'Error', lastLine: 'no such file' };
    job.metadata.annotations = { ...job.metadata.annotations, [LAST_FAILURE_ANNOTATION]: JSON.stringify(failure) };
    const story = told([1000, job]);
    expect(lifecycleLine(story)).toBe(
      'failed on east in 1.0 s (queued 1.0, dispatched 0.0): BackoffLimitExceeded, too often; pod pi-x on cluster "east" ended with exit code 3: no such file',
    );
    expect(exitCodeOf(story)).toBe(3);
  });

  const failed = (reason: string, message: string): JobProgress =>
    told([1000, aJob('east', { conditions: [isTrue('Failed', { reason, message })] })]);

  test('tells why, and its exit code where upstream says one', () => {
    const story = failed('PodFailurePolicy', 'Container main for pod team/pi-x failed with exit code 42 matching FailJob rule at index 0');
    expect(lifecycleLine(story)).toMatch(/^failed on east in 1\.0 s \(.*\): PodFailurePolicy, Container main .* exit code 42 /);
    expect(exitCodeOf(story)).toBe(42);
  });

  test('has no exit code otherwise, whatever its message says', () => {
    expect(exitCodeOf(failed('DeadlineExceeded', 'failed with exit code 3 or so'))).toBeUndefined();
    expect(exitCodeOf(failed('PodFailurePolicy', 'disrupted'))).toBeUndefined();
  });
});

test('whoever waits hears where it is', () => {
  const waits = aJob(undefined, { conditions: [{ type: 'QuotaReserved', status: 'False', message: 'short of 1 cpu' }] });
  expect(progressLine(told([1, waits]), waits)).toBe('waits: short of 1 cpu');
  expect(progressLine(told([1, aJob(undefined)]), aJob(undefined))).toBe('waits');
  expect(progressLine(told([1, aJob('east')]), aJob('east'))).toBe('goes to east');
  const running = aJob('east', { conditions: [isTrue('Started')] });
  expect(progressLine(told([1, running]), running)).toBe('runs on east');
});
