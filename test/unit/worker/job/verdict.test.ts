import { describe, expect, test } from 'vitest';
import { aJob, ago, aPod, condition, decideOn, indexedJob, onExitCodes, pods } from './situation.ts';

const verdictOf = (...args: Parameters<typeof decideOn>): string | undefined => {
  const { verdict } = decideOn(...args);
  return verdict && `${verdict.outcome} ${verdict.reason}: ${verdict.message}`;
};

describe('what was decided before stands', () => {
  test('SuccessCriteriaMet outranks a failure found now', () => {
    const conditions = [condition('SuccessCriteriaMet', 'SuccessPolicy', 'Matched rules at index 0')];
    expect(verdictOf(indexedJob(3, { backoffLimit: 0 }, { conditions, failed: 5 }))).toBe(
      'Complete SuccessPolicy: Matched rules at index 0',
    );
  });
  test('FailureTarget keeps its reason and message', () => {
    const conditions = [condition('FailureTarget', 'DeadlineExceeded', 'because')];
    expect(verdictOf(aJob({ backoffLimit: 0 }, { conditions, failed: 5 }))).toBe('Failed DeadlineExceeded: because');
  });
  test('a condition that is False decides nothing', () => {
    expect(verdictOf(aJob({}, { conditions: [condition('FailureTarget', 'r', 'm', 'False')] }))).toBeUndefined();
  });
});

describe('the limit on failed pods', () => {
  test('is exceeded above it, not at it', () => {
    expect(verdictOf(aJob({ backoffLimit: 2 }, { failed: 2 }))).toBeUndefined();
    expect(verdictOf(aJob({ backoffLimit: 2 }, { failed: 3 }))).toBe(
      'Failed BackoffLimitExceeded: Job has reached the specified backoff limit',
    );
  });
  test('counts new and uncounted failures', () => {
    const job = aJob({ backoffLimit: 2 }, { failed: 1, uncountedTerminatedPods: { failed: ['uid-x'] } });
    expect(verdictOf(job, [aPod({ phase: 'Failed', name: 'new' })])).toMatch(/^Failed BackoffLimitExceeded/);
  });
  test('a failed pod matching Ignore does not use it up', () => {
    const job = aJob({ backoffLimit: 0, podFailurePolicy: onExitCodes('Ignore', 42) });
    expect(verdictOf(job, [aPod({ phase: 'Failed', exitCode: 42 })])).toBeUndefined();
    expect(verdictOf(job, [aPod({ phase: 'Failed', exitCode: 41 })])).toMatch(/^Failed BackoffLimitExceeded/);
  });
});

describe('the limit on restarts in place', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'OnFailure', containers: [] } };
  test('is reached at the limit', () => {
    expect(verdictOf(aJob({ backoffLimit: 3, template }), [aPod({ phase: 'Running', restarts: 2 })])).toBeUndefined();
    expect(verdictOf(aJob({ backoffLimit: 3, template }), [aPod({ phase: 'Running', restarts: 3 })])).toMatch(
      /^Failed BackoffLimitExceeded/,
    );
  });
  test('of 0 allows no restart, and demands none', () => {
    expect(verdictOf(aJob({ backoffLimit: 0, template }), [aPod({ phase: 'Running', restarts: 0 })])).toBeUndefined();
    expect(verdictOf(aJob({ backoffLimit: 0, template }), [aPod({ phase: 'Running', restarts: 1 })])).toMatch(/^Failed/);
  });
  test('adds up the pods that run or wait, the terminating ones too', () => {
    const seen = [
      aPod({ name: 'a', phase: 'Running', restarts: 1 }),
      aPod({ name: 'b', phase: 'Pending', restarts: 1, deleting: true, tracked: false }),
      aPod({ name: 'c', phase: 'Succeeded', restarts: 9 }),
    ];
    expect(verdictOf(aJob({ backoffLimit: 3, completions: 5, template }), seen)).toBeUndefined();
    expect(verdictOf(aJob({ backoffLimit: 2, completions: 5, template }), seen)).toMatch(/^Failed/);
  });
  test('does not concern pods that never restart', () => {
    expect(verdictOf(aJob({ backoffLimit: 3 }), [aPod({ phase: 'Running', restarts: 99 })])).toBeUndefined();
  });
});

describe('the deadline', () => {
  test('passes at its very second', () => {
    expect(verdictOf(aJob({ activeDeadlineSeconds: 60 }, { startTime: ago(60) }))).toBe(
      'Failed DeadlineExceeded: Job was active longer than specified deadline',
    );
  });
  test('asks for a sync when it has not passed', () => {
    expect(decideOn(aJob({ activeDeadlineSeconds: 60 }, { startTime: ago(45) })).deadlineInMs).toBe(15_000);
  });
  test('of 0 fails the Job in its first sync, before any pod', () => {
    const job = aJob({ activeDeadlineSeconds: 0 });
    delete job.status!.startTime;
    expect(decideOn(job)).toMatchObject({ verdict: { reason: 'DeadlineExceeded' }, plan: { kind: 'finish', pods: [] } });
  });
  test('stands still while the Job is suspended', () => {
    const decision = decideOn(aJob({ suspend: true, activeDeadlineSeconds: 1 }, { startTime: ago(60) }));
    expect([decision.verdict, decision.deadlineInMs]).toEqual([undefined, undefined]);
  });
  test('an unreadable startTime is as good as none', () => {
    expect(decideOn(aJob({ activeDeadlineSeconds: 1 }, { startTime: 'yesterday' })).verdict).toBeUndefined();
  });
  test('the backoff limit outranks it', () => {
    expect(verdictOf(aJob({ activeDeadlineSeconds: 1, backoffLimit: 0 }, { failed: 1 }))).toMatch(/BackoffLimitExceeded/);
  });
});

describe('pod failure policy', () => {
  const job = aJob({ completions: 3, parallelism: 3, podFailurePolicy: onExitCodes('FailJob', 42) });
  test('FailJob fails the Job with the pod, code and rule in its message', () => {
    expect(verdictOf(job, [...pods(2), aPod({ name: 'bad', phase: 'Failed', exitCode: 42 })])).toBe(
      'Failed PodFailurePolicy: Container main for pod ns/bad failed with exit code 42 matching FailJob rule at index 0',
    );
  });
  test('a pod already counted can still tell', () => {
    expect(verdictOf(job, [aPod({ phase: 'Failed', exitCode: 42, tracked: false })])).toMatch(/^Failed PodFailurePolicy/);
  });
  test('a pod that only terminates is not asked', () => {
    expect(verdictOf(job, [aPod({ phase: 'Running', exitCode: 42, deleting: true })])).toBeUndefined();
  });
});

describe('indexes', () => {
  test('more than the permitted number have failed', () => {
    const job = indexedJob(6, { backoffLimitPerIndex: 0, maxFailedIndexes: 1 });
    const failed = (...indexes: number[]) => indexes.map((index) => aPod({ index, phase: 'Failed', failures: 0 }));
    expect(verdictOf(job, failed(0))).toBeUndefined();
    expect(verdictOf(job, failed(0, 1))).toBe(
      'Failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
    );
  });
  test('all are done and some have failed', () => {
    const status = { completedIndexes: '0,2', failedIndexes: '1', succeeded: 2 };
    expect(verdictOf(indexedJob(3, { backoffLimitPerIndex: 0 }, status))).toBe('Failed FailedIndexes: Job has failed indexes');
  });
  test('the success policy looks at the successes of this very sync', () => {
    const successPolicy = { rules: [{ succeededIndexes: '0,2' }] };
    const job = indexedJob(4, { successPolicy }, { completedIndexes: '0', succeeded: 1 });
    expect(verdictOf(job, [aPod({ index: 2, phase: 'Succeeded' })])).toBe('Complete SuccessPolicy: Matched rules at index 0');
  });
  test('failing comes before succeeding', () => {
    const successPolicy = { rules: [{ succeededCount: 1 }] };
    const job = indexedJob(
      4,
      { successPolicy, backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
      { completedIndexes: '0', failedIndexes: '1' },
    );
    expect(verdictOf(job)).toMatch(/^Failed MaxFailedIndexesExceeded/);
  });
});
