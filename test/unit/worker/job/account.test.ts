import { describe, expect, test } from 'vitest';
import { account } from '../../../../worker/job/account.ts';
import { decide } from '../../../../worker/job/decide.ts';
import { aJob, ago, aPod, carriedOut, condition, indexedJob, NOW, observe, onExitCodes, pods, sync, told } from './situation.ts';

const removed = ({ ledger }: ReturnType<typeof sync>): string[] => ledger.removals.map(({ pod }) => pod.metadata.name);

describe('the first write', () => {
  test('lists what ended before its finalizer may go', () => {
    const result = sync(aJob({ completions: 5, parallelism: 3 }), [
      aPod({ name: 's', phase: 'Succeeded' }),
      aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 60 }),
      aPod({ name: 'r', phase: 'Running' }),
    ]);
    expect(result.ledger.flush).toBe(true);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-s'], failed: ['uid-f'] });
    expect(result.ledger.status.succeeded ?? 0).toBe(0);
    expect(removed(result)).toEqual(['s', 'f']);
  });

  test('is left out when nothing differs', () => {
    const { ledger } = sync(aJob({ completions: 2, parallelism: 2 }, { active: 2 }), pods(2));
    expect([ledger.flush, ledger.removals]).toEqual([false, []]);
  });

  test('tells that a pod terminates, though nothing else differs', () => {
    const seen = [aPod({ name: 'runs', phase: 'Running', ready: true }), aPod({ name: 'goes', phase: 'Running', deleting: true })];
    const spec = { completions: 2, parallelism: 2, podReplacementPolicy: 'Failed' };
    const job = aJob(spec, { active: 1, ready: 1, terminating: 0 });
    const { ledger } = sync(job, seen);
    expect([ledger.flush, ledger.status.terminating]).toEqual([true, 1]);
    expect(sync({ ...job, status: { ...job.status, terminating: 1 } }, seen).ledger.flush).toBe(false);
  });

  test('of a new Job tells ready 0, because null and 0 differ', () => {
    const job = aJob({ completions: 2, parallelism: 0 });
    job.status = {};
    const { ledger } = sync(job, []);
    expect(ledger.flush).toBe(true);
    expect(ledger.status).toMatchObject({ active: 0, ready: 0, terminating: 0, startTime: ago(0) });
  });

  test('counts a listed pod whose finalizer is gone, and one that is gone itself', () => {
    const job = aJob(
      { completions: 5 },
      { succeeded: 1, failed: 1, uncountedTerminatedPods: { succeeded: ['uid-s', 'uid-t'], failed: ['uid-x'] } },
    );
    const { ledger } = sync(job, [aPod({ name: 's', phase: 'Succeeded', tracked: false }), aPod({ name: 't', phase: 'Succeeded' })]);
    expect(ledger.status).toMatchObject({ succeeded: 2, failed: 2, uncountedTerminatedPods: { succeeded: ['uid-t'], failed: [] } });
  });

  test('does not list a pod twice', () => {
    const job = aJob({ completions: 5 }, { uncountedTerminatedPods: { succeeded: ['uid-s'], failed: ['uid-f'] } });
    const result = sync(job, [aPod({ name: 's', phase: 'Succeeded' }), aPod({ name: 'f', phase: 'Failed' })]);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-s'], failed: ['uid-f'] });
    expect(removed(result)).toEqual(['s', 'f']);
  });

  test('a pod listed as failed stays failed, even if it succeeded after all', () => {
    const job = aJob({ completions: 5 }, { uncountedTerminatedPods: { failed: ['uid-p'] } });
    const { ledger, settled } = sync(job, [aPod({ name: 'p', phase: 'Succeeded' })]);
    expect(ledger.status.uncountedTerminatedPods).toEqual({ succeeded: [], failed: ['uid-p'] });
    expect([settled.status.succeeded ?? 0, settled.status.failed]).toEqual([0, 1]);
  });

  test('a pod whose removal is on its way is not touched again', () => {
    expect(removed(sync(aJob({ completions: 5 }), [aPod({ name: 's', phase: 'Succeeded' })], { removalPending: ['uid-s'] }))).toEqual([]);
  });

  test('an ignored failure loses its finalizer and is listed nowhere', () => {
    const result = sync(aJob({ podFailurePolicy: onExitCodes('Ignore', 42) }), [aPod({ name: 'i', phase: 'Failed', exitCode: 42 })]);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: [], failed: [] });
    expect(removed(result)).toEqual(['i']);
    expect(result.ledger.policyActions).toEqual(['Ignore']);
  });

  test('six hundred ended pods are counted five hundred at a time', () => {
    const { ledger } = sync(aJob({ completions: 600, parallelism: 600 }), pods(600, { phase: 'Succeeded' }));
    expect(ledger.removals).toHaveLength(500);
    expect(ledger.status.uncountedTerminatedPods?.succeeded).toHaveLength(500);
    expect(ledger.capped).toBe(true);
  });
});

describe('an Indexed Job', () => {
  test('writes its indexes instead of UIDs, in order', () => {
    const seen = [4, 1, 3].map((index) => aPod({ index, phase: 'Succeeded' }));
    const result = sync(indexedJob(6, {}, { completedIndexes: '0', succeeded: 1 }), seen);
    expect(result.ledger.status).toMatchObject({
      completedIndexes: '0,1,3,4',
      succeeded: 4,
      uncountedTerminatedPods: { succeeded: [], failed: [] },
    });
    expect(removed(result)).toEqual(['pod-1', 'pod-3', 'pod-4']);
  });

  test('lists failed pods by UID, but none without a valid index', () => {
    const result = sync(indexedJob(2), [aPod({ index: 0, phase: 'Failed' }), aPod({ index: 7, phase: 'Failed' })]);
    expect(result.ledger.status.uncountedTerminatedPods?.failed).toEqual(['uid-pod-0']);
    expect(removed(result)).toEqual(['pod-0', 'pod-7']);
  });

  test('scaled down, forgets indexes and never failures', () => {
    const { ledger } = sync(indexedJob(2, {}, { completedIndexes: '0,3', succeeded: 2, failed: 4 }), []);
    expect(ledger.status).toMatchObject({ completedIndexes: '0', succeeded: 1, failed: 4 });
    expect(ledger.flush).toBe(true);
  });

  test('with a limit per index writes failedIndexes, if only an empty text', () => {
    expect(sync(indexedJob(2, { backoffLimitPerIndex: 1 }), []).ledger.status.failedIndexes).toBe('');
    expect(sync(indexedJob(2), []).ledger.status.failedIndexes).toBeUndefined();
  });

  test('does not count a failed index before its replacement exists', () => {
    const job = indexedJob(2, { backoffLimitPerIndex: 1 });
    const failed = aPod({ name: 'old', index: 0, phase: 'Failed', failures: 0 });
    expect(removed(sync(job, [failed, aPod({ index: 1 })]))).toEqual([]);
    const withReplacement = sync(job, [failed, aPod({ name: 'new', index: 0, failures: 1 }), aPod({ index: 1 })]);
    expect(removed(withReplacement)).toEqual(['old']);
    expect(withReplacement.ledger.status.uncountedTerminatedPods?.failed).toEqual(['uid-old']);
  });

  test('two pods of one index add it once', () => {
    const seen = [aPod({ name: 'a', index: 0, phase: 'Succeeded' }), aPod({ name: 'b', index: 0, phase: 'Succeeded' })];
    const result = sync(indexedJob(2), seen);
    expect(result.ledger.status).toMatchObject({ completedIndexes: '0', succeeded: 1 });
    expect(removed(result)).toHaveLength(2);
  });

  test('a corrupted list of indexes is put right', () => {
    const { ledger } = sync(indexedJob(5, {}, { completedIndexes: '3,0,x,3', succeeded: 9 }), []);
    expect(ledger.status).toMatchObject({ completedIndexes: '0,3', succeeded: 2 });
  });
});

describe('at the end', () => {
  test('the last success brings SuccessCriteriaMet before any finalizer goes', () => {
    const { ledger } = sync(aJob(), [aPod({ phase: 'Succeeded' })]);
    expect(told(ledger.status.conditions)).toEqual(['SuccessCriteriaMet=True CompletionsReached']);
    expect(ledger.flush).toBe(true);
  });

  test('a failing Job counts what runs and what terminates as failed', () => {
    const result = sync(aJob({ backoffLimit: 0, completions: 4, parallelism: 4 }), [
      aPod({ name: 'bad', phase: 'Failed' }),
      aPod({ name: 'runs', phase: 'Running', ready: true }),
      aPod({ name: 'goes', phase: 'Running', deleting: true }),
      aPod({ name: 'done', phase: 'Succeeded' }),
    ]);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-done'], failed: ['uid-bad', 'uid-runs', 'uid-goes'] });
    expect(result.ledger.status).toMatchObject({ active: 0, ready: 0, terminating: 2 });
    expect(told(result.ledger.status.conditions)).toEqual(['FailureTarget=True BackoffLimitExceeded']);
  });

  test('a Job that succeeds by policy drops the rest without counting', () => {
    const job = indexedJob(3, { successPolicy: { rules: [{ succeededCount: 1 }] } });
    const result = sync(job, [aPod({ index: 0, phase: 'Succeeded' }), aPod({ index: 1, phase: 'Running' }), aPod({ index: 2 })]);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: [], failed: [] });
    expect(removed(result)).toHaveLength(3);
  });

  test.each([
    ['when a pod could not be deleted, and says already which end it is', 1, true, ['FailureTarget=True BackoffLimitExceeded']],
    ['when no deletion was answered, and says already which end it is', 0, true, ['FailureTarget=True BackoffLimitExceeded']],
    ['when all deletions were refused, and says nothing yet', 0, false, []],
  ] as const)('waits for another sync %s', (_, deleted, mayHaveDeleted, expected) => {
    const observation = observe(aJob({ backoffLimit: 0, completions: 3, parallelism: 3 }, { failed: 1 }), pods(2));
    const decision = decide(observation, NOW);
    const ledger = account(observation, decision, { active: 2 - deleted, deleted, deletedReady: 0, mayHaveDeleted }, NOW);
    expect(ledger.verdict).toBeUndefined();
    expect(told(ledger.status.conditions)).toEqual(expected);
    expect(ledger.removals).toEqual([]);
  });

  test('waits for another sync when a pod may be missing from the cache', () => {
    expect(sync(aJob({ backoffLimit: 0 }, { failed: 1 }), [], { satisfied: false }).ledger.verdict).toBeUndefined();
  });

  test('completions 0 are reached at once, also when suspended', () => {
    expect(told(sync(aJob({ completions: 0 }), []).settled.status.conditions)).toContain('Complete=True CompletionsReached');
    expect(told(sync(aJob({ completions: 0, suspend: true }), []).settled.status.conditions)).toContain('Complete=True CompletionsReached');
  });

  test('a work queue is complete with its last pod, not with its first success', () => {
    expect(sync(aJob({ parallelism: 2 }, { succeeded: 1 }), [aPod()]).ledger.verdict).toBeUndefined();
    expect(sync(aJob({ parallelism: 2 }, { succeeded: 1 }), []).ledger.verdict?.reason).toBe('CompletionsReached');
  });
});

describe('suspend and resume', () => {
  test('suspending takes back startTime and tells the condition', () => {
    const job = aJob({ suspend: true, completions: 2 }, { active: 1, startTime: ago(60) });
    const { ledger } = sync(job, [aPod({ phase: 'Running', ready: true })]);
    expect(ledger.suspension).toBe('Suspended');
    expect(ledger.status.startTime).toBeUndefined();
    expect(ledger.status).toMatchObject({ active: 0, ready: 0, terminating: 1 });
    expect(told(ledger.status.conditions)).toEqual(['Suspended=True JobSuspended']);
  });

  test('resuming sets it anew', () => {
    const { ledger } = sync(
      aJob({ completions: 2 }, { conditions: [condition('Suspended', 'JobSuspended', 'Job suspended')], startTime: ago(9) }),
      [],
    );
    expect(ledger.suspension).toBe('Resumed');
    expect(ledger.status.startTime).toBe(ago(0));
    expect(told(ledger.status.conditions)).toEqual(['Suspended=False JobResumed']);
  });

  test('a Job never suspended gets no condition to say so', () => {
    expect(sync(aJob(), []).ledger.status.conditions).toEqual([]);
  });

  test('nothing is told while the pods cannot be touched', () => {
    expect(sync(aJob({ suspend: true }), [aPod()], { satisfied: false }).ledger.suspension).toBeUndefined();
  });

  test('what a suspension deletes is never counted', () => {
    const result = sync(aJob({ suspend: true, completions: 2 }), [aPod({ phase: 'Running' })]);
    expect(result.ledger.status.uncountedTerminatedPods).toEqual({ succeeded: [], failed: [] });
    expect(removed(result)).toEqual([]);
  });
});

describe('in back-off', () => {
  const job = aJob({ completions: 4, parallelism: 3 }, { active: 3 });
  test('active is told as 0, as upstream does, and the failure is counted', () => {
    const { ledger } = sync(job, [aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 1 }), ...pods(2)]);
    expect(ledger.status.active).toBe(0);
    expect([ledger.flush, ledger.held, ledger.removals.length]).toEqual([true, false, 1]);
  });
  test('with a ready pod the write would be refused, so it is held until the back-off ends', () => {
    const seen = [aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 1 }), ...pods(2, { phase: 'Running', ready: true })];
    expect(sync(job, seen).ledger.held).toBe(true);
  });
});

describe('a Job being deleted', () => {
  test('lets go of all its pods and counts only those that ended', () => {
    const job = { ...aJob({ completions: 3, parallelism: 3 }), metadata: { ...aJob().metadata, deletionTimestamp: ago(1) } };
    const observation = observe(job, [aPod({ name: 'r', phase: 'Running' }), aPod({ name: 's', phase: 'Succeeded' })]);
    const decision = decide(observation, NOW);
    const ledger = account(observation, decision, carriedOut(decision), NOW);
    expect(ledger.removals.map(({ pod }) => pod.metadata.name)).toEqual(['r', 's']);
    expect(ledger.status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-s'], failed: [] });
  });
});

describe('an index that the status lists as completed', () => {
  const job = indexedJob(2, {}, { completedIndexes: '0', succeeded: 1, active: 1 });
  const seen = [aPod({ index: 0, phase: 'Succeeded' }), aPod({ index: 1, phase: 'Running' })];

  test('costs no further write while its pod is to lose its finalizer still', () => {
    const result = sync(job, seen);
    expect(result.ledger.flush).toBe(false);
    expect(removed(result)).toEqual(['pod-0']);
    expect(result.ledger.status).toMatchObject({ completedIndexes: '0', succeeded: 1 });
  });
});

test('an index that the status lists as failed stays so, whatever another pod of it comes to', () => {
  const job = indexedJob(2, { backoffLimitPerIndex: 0 }, { failedIndexes: '0', failed: 1, active: 1 });
  const result = sync(job, [aPod({ index: 0, phase: 'Succeeded' }), aPod({ index: 1, phase: 'Running' })]);
  expect(result.ledger.status).toMatchObject({ completedIndexes: '', failedIndexes: '0', succeeded: 0 });
  expect(removed(result)).toEqual(['pod-0']);
});
