import { describe, expect, test } from 'vitest';
import { carryOutVerdict, toLocalStatus } from '../../../../../../manager/work-kind/job/status-home/to-local-status.ts';
import type { Job, JobStatus } from '../../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob, type JobParts } from '../../../../../support/jobs.ts';
import type { OwnCondition } from '../../../../../../manager/work-kind/work-kind.ts';

const NOW = Date.parse('2026-01-01T01:00:00.750Z');
const home = (local: Job, remote: JobStatus | undefined, own: OwnCondition[] = []): JobStatus =>
  toLocalStatus({ local, remote, own, nowMs: NOW });
const running = (status: JobStatus, parts: JobParts = {}): Job => anAdmittedJob({ ...parts, status });
const types = (status: JobStatus): string[] => (status.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`);

const COMPLETE: JobStatus = {
  startTime: '2026-01-01T00:00:10Z',
  completionTime: '2026-01-01T00:02:00Z',
  succeeded: 1,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
  conditions: [
    aCondition('SuccessCriteriaMet', { reason: 'CompletionsReached' }),
    aCondition('Complete', { reason: 'CompletionsReached' }),
  ],
};

describe('a running copy', () => {
  test('brings its counters, times and fields unknown to us', () => {
    const remote = { startTime: '2026-01-01T00:00:10Z', active: 2, ready: 1, terminating: 0, fieldOfTomorrow: [1] };
    expect(home(running({}), remote)).toEqual({ ...remote, conditions: [] });
  });

  test('never makes a counter fall: a copy made anew counts from zero (S23, S24)', () => {
    expect(home(running({ failed: 3, succeeded: 2 }), { failed: 1, active: 1 })).toMatchObject({ failed: 3, succeeded: 2, active: 1 });
  });

  test('of an elastic Indexed Job may count fewer successes after it shrank', () => {
    const local = running(
      { succeeded: 4, completedIndexes: '0-3' },
      { spec: { completionMode: 'Indexed', completions: 2, parallelism: 2 } },
    );
    expect(home(local, { succeeded: 2, completedIndexes: '0,1' })).toMatchObject({ succeeded: 2, completedIndexes: '0,1' });
  });

  test('whose indexes no API server would take brings all else (S13, S14, S17)', () => {
    const spec: JobParts['spec'] = { completionMode: 'Indexed', completions: 4, parallelism: 1, backoffLimitPerIndex: 0 };
    const local = running({ completedIndexes: '0', failedIndexes: '1' }, { spec });
    const lists = (remote: JobStatus): unknown => {
      const { completedIndexes, failedIndexes, active } = home(local, { ...remote, active: 1 });
      return [completedIndexes, failedIndexes, active];
    };
    expect(lists({ completedIndexes: '0,2', failedIndexes: '1' })).toEqual(['0,2', '1', 1]);
    expect(lists({ completedIndexes: '0,9', failedIndexes: '1' })).toEqual(['0', '1', 1]);
    expect(lists({ completedIndexes: '2,0', failedIndexes: '1' })).toEqual(['0', '1', 1]);
    expect(lists({ completedIndexes: '0-2', failedIndexes: '1' })).toEqual(['0', '1', 1]);
  });

  test('does not change the start of a Job that is not suspended (S26)', () => {
    expect(home(running({ startTime: '2026-01-01T00:00:05Z' }), { startTime: '2026-01-01T00:00:10Z' }).startTime).toBe(
      '2026-01-01T00:00:05Z',
    );
    expect(home(running({ startTime: '2026-01-01T00:00:05Z' }), {}).startTime).toBe('2026-01-01T00:00:05Z');
  });

  test('changes the start when the Job resumes in the same write (S26)', () => {
    const local = running({ startTime: '2026-01-01T00:00:05Z', conditions: [aCondition('Suspended')] });
    const remote = { startTime: '2026-01-01T00:30:00Z', conditions: [aCondition('Suspended', { status: 'False', reason: 'JobResumed' })] };
    expect(home(local, remote).startTime).toBe('2026-01-01T00:30:00Z');
  });

  test('that was made anew does not know that its Job resumed, so that is said for it', () => {
    const status = home(running({ conditions: [aCondition('Suspended')] }), { startTime: '2026-01-01T00:30:00Z', active: 1 });
    expect(status.conditions).toEqual([
      aCondition('Suspended', {
        status: 'False',
        reason: 'JobResumed',
        message: 'Job resumed',
        lastProbeTime: '2026-01-01T01:00:00Z',
        lastTransitionTime: '2026-01-01T01:00:00Z',
      }),
    ]);
    expect(status.startTime).toBe('2026-01-01T00:30:00Z');
  });

  test('announces its verdict before it ends', () => {
    const status = home(running({}), { active: 1, conditions: [aCondition('FailureTarget', { reason: 'BackoffLimitExceeded' })] });
    expect(types(status)).toEqual(['FailureTarget=True']);
  });

  test('cannot overturn a verdict that stands at home (S22, S27)', () => {
    const local = running({ startTime: '2026-01-01T00:00:05Z', conditions: [aCondition('FailureTarget', { reason: 'DeadlineExceeded' })] });
    expect(types(home(local, { active: 1 }))).toEqual(['FailureTarget=True']);
    const status = home(local, COMPLETE);
    expect(types(status)).toEqual(['FailureTarget=True', 'Failed=True']);
    expect(status.conditions?.[1]?.reason).toBe('DeadlineExceeded');
    expect(status).not.toHaveProperty('completionTime');
  });

  test('under an API server that polices nothing is brought in line (S15, S16, S19)', () => {
    const status = home(running({}), { active: 1, ready: 3, completedIndexes: '0', failedIndexes: '' });
    expect(status).toEqual({ active: 1, ready: 1, conditions: [] });
  });
});

describe('a suspended copy', () => {
  test('takes the start away from a suspended Job', () => {
    const local = aHomeJob({ status: { startTime: '2026-01-01T00:00:05Z', active: 1 } });
    const remote = { ready: 0, terminating: 1, conditions: [aCondition('Suspended', { reason: 'JobSuspended' })] };
    expect(home(local, remote)).toEqual(remote);
  });
});

describe('a finished copy', () => {
  test('finishes the Job with exactly its status', () => {
    expect(home(running({ startTime: '2026-01-01T00:00:10Z', active: 1, ready: 1 }), COMPLETE)).toEqual(COMPLETE);
  });

  test('leaves nothing active, terminating or uncounted (S10, S12, S18)', () => {
    const remote = { ...COMPLETE, active: 1, ready: 1, terminating: 2, uncountedTerminatedPods: { failed: ['x'] } };
    expect(home(running({}), remote)).toEqual(COMPLETE);
  });

  test('under a controller without interim conditions gets them from the terminal one (S8, S9)', () => {
    const complete = { ...COMPLETE, conditions: [aCondition('Complete', { reason: 'CompletionsReached' })] };
    expect(home(running({}), complete).conditions).toEqual(COMPLETE.conditions);
    const failed = { startTime: '2026-01-01T00:00:10Z', failed: 1, conditions: [aCondition('Failed')] };
    expect(types(home(running({}), failed))).toEqual(['FailureTarget=True', 'Failed=True']);
  });

  test('does not end before the start that another cluster told (S7)', () => {
    const status = home(running({ startTime: '2026-01-01T00:09:00Z' }), COMPLETE);
    expect(status).toMatchObject({ startTime: '2026-01-01T00:09:00Z', completionTime: '2026-01-01T00:09:00Z' });
  });

  test('has times even when the copy has none (S6, S11)', () => {
    const status = home(running({}), { conditions: [aCondition('Complete')] });
    expect(status).toMatchObject({ startTime: '2026-01-01T00:01:00Z', completionTime: '2026-01-01T00:01:00Z' });
  });

  test('does not touch a Job that has finished already', () => {
    const local = running(COMPLETE);
    expect(home(local, { active: 1, failed: 9 })).toEqual(COMPLETE);
  });
});

describe('conditions of ours', () => {
  test('stay, and change their transition time only with their status', () => {
    const local = running({
      conditions: [aCondition('QuotaReserved', { status: 'False' }), aCondition('Dispatched', { status: 'False' })],
    });
    const own: OwnCondition[] = [{ type: 'Dispatched', status: 'False', reason: 'Refused', message: 'why' }];
    expect(
      home(local, { active: 1, conditions: [aCondition('Dispatched', { message: 'not the worker’s to say' })] }, own).conditions,
    ).toEqual([
      aCondition('QuotaReserved', { status: 'False' }),
      aCondition('Dispatched', { status: 'False', reason: 'Refused', message: 'why' }),
    ]);
    const dispatched = home(local, {}, [{ type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'there' }]);
    expect(dispatched.conditions?.[1]?.lastTransitionTime).toBe('2026-01-01T01:00:00Z');
  });
});

describe('a copy that is gone', () => {
  test('runs nothing, and what was counted stays counted', () => {
    const local = running({ startTime: '2026-01-01T00:00:05Z', active: 2, ready: 2, failed: 1 });
    expect(home(local, undefined)).toEqual({ startTime: '2026-01-01T00:00:05Z', failed: 1, conditions: [] });
  });

  test('leaves a suspended Job suspended', () => {
    const status = home(aHomeJob({ status: { startTime: '2026-01-01T00:00:05Z', active: 2 } }), undefined);
    expect(types(status)).toEqual(['Suspended=True']);
    expect(status).not.toHaveProperty('startTime');
  });

  test('leaves its verdict to be carried out', () => {
    const local = running({ startTime: '2026-01-01T00:00:05Z', active: 1, ready: 1, failed: 1, conditions: [aCondition('FailureTarget')] });
    const status = carryOutVerdict(local, NOW);
    expect(types(status)).toEqual(['FailureTarget=True', 'Failed=True']);
    expect(status).toMatchObject({ failed: 1, ready: 0 });
    const met = running({ startTime: '2026-01-01T00:00:05Z', conditions: [aCondition('SuccessCriteriaMet')] });
    expect(carryOutVerdict(met, NOW).completionTime).toBe('2026-01-01T01:00:00Z');
  });
});
