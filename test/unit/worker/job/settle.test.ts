import { describe, expect, test } from 'vitest';
import { settle } from '../../../../worker/job/settle.ts';
import { aJob, ago, aPod, condition, indexedJob, NOW, observe, pods, sync, told } from './situation.ts';

describe('once the finalizers are gone', () => {
  test('the counters rise in the write that empties the lists', () => {
    const { settled } = sync(aJob({ completions: 5, parallelism: 2 }), [
      aPod({ name: 's', phase: 'Succeeded' }),
      aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 60 }),
    ]);
    expect(settled).toMatchObject({
      changed: true,
      finished: undefined,
      status: { succeeded: 1, failed: 1, uncountedTerminatedPods: { succeeded: [], failed: [] } },
    });
  });

  test('nothing to count, nothing to write', () => {
    expect(sync(aJob({ completions: 2, parallelism: 2 }, { active: 2 }), pods(2)).settled.changed).toBe(false);
  });

  test('a pod that keeps its finalizer keeps its place in the list', () => {
    const job = aJob({ completions: 2, parallelism: 2 });
    const { ledger } = sync(job, pods(2, { phase: 'Succeeded' }));
    const settled = settle(observe(job, []).job, ledger, new Set(['uid-Succeeded-0']), NOW);
    expect(settled.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: { succeeded: ['uid-Succeeded-1'], failed: [] } });
    expect(settled.finished).toBeUndefined();
  });
});

describe('the terminal condition', () => {
  test('Complete follows SuccessCriteriaMet, with the completion time', () => {
    const { settled } = sync(aJob(), [aPod({ phase: 'Succeeded' })]);
    expect(told(settled.status.conditions)).toEqual(['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached']);
    expect(settled.status).toMatchObject({ succeeded: 1, completionTime: ago(0) });
    expect(settled.finished?.type).toBe('Complete');
  });

  test('a Job whose clock was set back since it began ends when it began', () => {
    const { settled } = sync(aJob({}, { startTime: ago(-3600) }), [aPod({ phase: 'Succeeded' })]);
    expect(settled.status).toMatchObject({ startTime: ago(-3600), completionTime: ago(-3600) });
  });

  test('Failed follows FailureTarget, without one', () => {
    const { settled } = sync(aJob({ backoffLimit: 0 }), [aPod({ phase: 'Failed' })]);
    expect(told(settled.status.conditions)).toEqual(['FailureTarget=True BackoffLimitExceeded', 'Failed=True BackoffLimitExceeded']);
    expect(settled.status.completionTime).toBeUndefined();
  });

  test('waits until nothing terminates', () => {
    const first = sync(aJob({ backoffLimit: 0, completions: 2, parallelism: 2 }), [
      aPod({ name: 'f', phase: 'Failed' }),
      aPod({ name: 'r', phase: 'Running', ready: true }),
    ]);
    expect(told(first.settled.status.conditions)).toEqual(['FailureTarget=True BackoffLimitExceeded']);
    expect(first.settled.status).toMatchObject({ failed: 2, terminating: 1 });
    const conditions = [condition('FailureTarget', 'BackoffLimitExceeded', 'm')];
    const later = sync(aJob({ backoffLimit: 0, completions: 2, parallelism: 2 }, { conditions, failed: 2, terminating: 1 }), [
      aPod({ name: 'r', phase: 'Failed', deleting: true, tracked: false }),
    ]);
    expect(told(later.settled.status.conditions)).toEqual(['FailureTarget=True BackoffLimitExceeded', 'Failed=True BackoffLimitExceeded']);
  });

  test('waits until more than one status can carry is counted', () => {
    const { settled } = sync(aJob({ completions: 600, parallelism: 600 }), pods(600, { phase: 'Succeeded' }));
    expect(settled.status.succeeded).toBe(500);
    expect(settled.finished).toBeUndefined();
  });

  test('waits for the resume when a suspended Job fails: a finished Job must have a startTime', () => {
    const conditions = [condition('Suspended', 'JobSuspended', 'Job suspended'), condition('FailureTarget', 'PodFailurePolicy', 'm')];
    const suspended = sync(aJob({ suspend: true }, { conditions, failed: 1 }), []);
    expect([suspended.ledger.flush, suspended.settled.changed]).toEqual([false, false]);
    const resumed = sync(aJob({ suspend: false }, { conditions, failed: 1 }), []);
    expect(told(resumed.settled.status.conditions)).toContain('Failed=True PodFailurePolicy');
  });

  test('an Indexed Job with failed indexes keeps both lists', () => {
    const job = indexedJob(2, { backoffLimitPerIndex: 0 }, { completedIndexes: '0', succeeded: 1, failedIndexes: '' });
    const { settled } = sync(job, [aPod({ index: 1, phase: 'Failed', failures: 0 })]);
    expect(settled.status).toMatchObject({ completedIndexes: '0', failedIndexes: '1', succeeded: 1, failed: 1 });
    expect(settled.finished?.reason).toBe('FailedIndexes');
  });
});
