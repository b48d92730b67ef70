import { describe, expect, test } from 'vitest';
import { formatIndexes } from '../../../../worker/job/indexes.ts';
import { aJob, ago, aPod, decideOn, indexedJob, onExitCodes, pods } from './situation.ts';

describe('counting pods', () => {
  test('active, ready and terminating pods are told apart', () => {
    const seen = [
      ...pods(2, { phase: 'Running', ready: true }),
      aPod({ name: 'pending' }),
      aPod({ name: 'going', phase: 'Running', ready: true, deleting: true, tracked: false }),
      aPod({ name: 'gone', phase: 'Failed', deleting: true, tracked: false }),
    ];
    const { tally } = decideOn(aJob({ completions: 5, parallelism: 5 }), seen);
    expect([tally.active.length, tally.ready, tally.terminating.length]).toEqual([3, 2, 1]);
  });

  test('stored, uncounted and new ones add up, each pod once', () => {
    const job = aJob(
      { completions: 20, parallelism: 5 },
      { succeeded: 3, failed: 2, uncountedTerminatedPods: { succeeded: ['uid-s0'], failed: ['uid-f0'] } },
    );
    const seen = [
      aPod({ name: 's0', phase: 'Succeeded' }),
      aPod({ name: 's1', phase: 'Succeeded' }),
      aPod({ name: 's2', phase: 'Succeeded', tracked: false }),
      aPod({ name: 's3', phase: 'Succeeded' }),
      aPod({ name: 'f0', phase: 'Failed' }),
      aPod({ name: 'f1', phase: 'Failed' }),
    ];
    const { tally } = decideOn(job, seen, { removalPending: ['uid-s3'] });
    expect([tally.succeeded, tally.failed]).toEqual([3 + 1 + 1, 2 + 1 + 1]);
  });

  test('a pod listed as failed when it was deleted counts as failed only, though it succeeded in the end', () => {
    const listed = { uncountedTerminatedPods: { succeeded: [], failed: ['uid-late'] } };
    const late = aPod({ name: 'late', phase: 'Succeeded', deleting: true });
    const { tally, verdict } = decideOn(aJob({ parallelism: 1 }, listed), [late]);
    expect([tally.succeeded, tally.failed]).toEqual([0, 1]);
    expect(verdict).toBeUndefined();
  });

  test('a failure that a rule ignores is not among the failed, but delays', () => {
    const { tally, backoff } = decideOn(aJob({ podFailurePolicy: onExitCodes('Ignore', 42) }), [aPod({ phase: 'Failed', exitCode: 42 })]);
    expect(tally.failed).toBe(0);
    expect(backoff.failuresAfterLastSuccess).toBe(1);
  });

  test('a terminating pod is failed at once, unless only failed ones are replaced', () => {
    const going = aPod({ phase: 'Running', deleting: true });
    expect(decideOn(aJob(), [going]).tally.failed).toBe(1);
    expect(decideOn(aJob({ podReplacementPolicy: 'Failed' }), [going]).tally.failed).toBe(0);
    expect(
      decideOn(aJob({ podFailurePolicy: onExitCodes('Count', 1), podReplacementPolicy: 'TerminatingOrFailed' }), [going]).tally.failed,
    ).toBe(0);
  });

  test('a terminating pod that succeeded is a success', () => {
    const { tally } = decideOn(aJob(), [aPod({ phase: 'Succeeded', deleting: true })]);
    expect([tally.succeeded, tally.failed]).toEqual([1, 0]);
  });

  test('an adopted pod counts as tracked before the cache shows its finalizer', () => {
    expect(decideOn(aJob(), [aPod({ name: 'a', phase: 'Succeeded', tracked: false })], { adopted: ['a'] }).tally.succeeded).toBe(1);
  });
});

describe('counting indexes', () => {
  test('each index counts once, whoever ran it and however often', () => {
    const job = indexedJob(10, {}, { succeeded: 2, completedIndexes: '0,5' });
    const seen = [
      aPod({ name: 'a', index: 5, phase: 'Succeeded' }),
      aPod({ name: 'b', index: 7, phase: 'Succeeded' }),
      aPod({ name: 'c', index: 7, phase: 'Succeeded' }),
      aPod({ name: 'd', index: 10, phase: 'Succeeded' }),
      aPod({ name: 'e', index: 'x', phase: 'Succeeded' }),
      aPod({ name: 'f', index: 8, phase: 'Succeeded', tracked: false }),
    ];
    const { tally } = decideOn(job, seen);
    expect(formatIndexes(tally.indexes!.previous)).toBe('0,5');
    expect(formatIndexes(tally.indexes!.succeeded)).toBe('0,5,7');
    expect(tally.succeeded).toBe(3);
  });

  test('a success whose finalizer is on its way out still has its index', () => {
    const { tally } = decideOn(indexedJob(3), [aPod({ index: 1, phase: 'Succeeded' })], { removalPending: ['uid-pod-1'] });
    expect(formatIndexes(tally.indexes!.succeeded)).toBe('1');
  });

  test('a failed pod without a valid index is not counted', () => {
    const seen = [
      aPod({ name: 'a', index: 9, phase: 'Failed' }),
      aPod({ name: 'b', phase: 'Failed' }),
      aPod({ index: 0, phase: 'Failed' }),
    ];
    expect(decideOn(indexedJob(3), seen).tally.failed).toBe(1);
  });

  test('scaling down forgets indexes', () => {
    const { tally } = decideOn(indexedJob(2, {}, { succeeded: 3, completedIndexes: '0,3,4' }));
    expect(tally.succeeded).toBe(1);
  });

  test('the label of a pod is not its index', () => {
    const pod = aPod({ phase: 'Succeeded', labels: { job: 'job-uid', 'batch.kubernetes.io/job-completion-index': '1' } });
    expect(decideOn(indexedJob(3), [pod]).tally.succeeded).toBe(0);
  });
});

describe('backoff limit per index', () => {
  const job = indexedJob(5, { backoffLimitPerIndex: 1 });

  test('an index has failed for good when the pod was its last try', () => {
    const seen = [aPod({ index: 0, phase: 'Failed', failures: 0 }), aPod({ index: 1, phase: 'Failed', failures: 1 })];
    const { indexes } = decideOn(job, seen).tally;
    expect(formatIndexes(indexes!.failed!)).toBe('1');
    expect([...indexes!.awaitingReplacement.keys()]).toEqual([0]);
  });

  test('FailIndex fails it at the first try, Ignore never does', () => {
    const policy = { rules: [...onExitCodes('FailIndex', 3).rules, ...onExitCodes('Ignore', 4).rules] };
    const seen = [
      aPod({ index: 0, phase: 'Failed', failures: 0, exitCode: 3 }),
      aPod({ index: 1, phase: 'Failed', failures: 1, exitCode: 4 }),
    ];
    const { indexes } = decideOn(indexedJob(5, { backoffLimitPerIndex: 1, podFailurePolicy: policy }), seen).tally;
    expect(formatIndexes(indexes!.failed!)).toBe('0');
  });

  test('an index of which one pod failed for good and another succeeded has succeeded', () => {
    const seen = [aPod({ index: 0, phase: 'Failed', failures: 1 }), aPod({ index: 0, phase: 'Succeeded' })];
    const { indexes } = decideOn(job, seen).tally;
    expect([formatIndexes(indexes!.succeeded), formatIndexes(indexes!.failed!)]).toEqual(['0', '']);
  });

  test('an index that failed for good stays failed when a second pod of it succeeds', () => {
    const spec = indexedJob(5, { backoffLimitPerIndex: 1 }, { failedIndexes: '0' });
    const { indexes } = decideOn(spec, [aPod({ index: 0, phase: 'Succeeded' })]).tally;
    expect([formatIndexes(indexes!.succeeded), formatIndexes(indexes!.failed!)]).toEqual(['', '0']);
  });

  test('failed indexes are kept and read against the completions', () => {
    const { indexes } = decideOn(indexedJob(3, { backoffLimitPerIndex: 0 }, { failedIndexes: '1,4' })).tally;
    expect(formatIndexes(indexes!.failed!)).toBe('1');
  });

  test('an unreadable failure count is 0', () => {
    const pod = aPod({ index: 0, phase: 'Failed' });
    pod.metadata.annotations!['batch.kubernetes.io/job-index-failure-count'] = '-7';
    expect(decideOn(job, [pod]).tally.indexes!.failed!.size).toBe(0);
  });

  test('of several failures of an index the latest with the most failures speaks for it', () => {
    const seen = [
      aPod({ name: 'second', index: 0, phase: 'Failed', failures: 0, ignored: 1, finishedSecondsAgo: 10 }),
      aPod({ name: 'first', index: 0, phase: 'Failed', failures: 0, finishedSecondsAgo: 30 }),
    ];
    expect(decideOn(job, seen).tally.indexes!.awaitingReplacement.get(0)?.pod.metadata.name).toBe('second');
  });

  test('an index with a running replacement waits for none', () => {
    const seen = [
      aPod({ name: 'old', index: 0, phase: 'Failed', failures: 0 }),
      aPod({ name: 'new', index: 0, phase: 'Running', failures: 1 }),
    ];
    expect(decideOn(job, seen).tally.indexes!.awaitingReplacement.size).toBe(0);
  });
});

describe('when a pod ended', () => {
  const endOf = (pod: ReturnType<typeof aPod>): number | undefined => decideOn(aJob(), [pod]).backoff.lastFailureMs;
  const withoutContainers = (pod: ReturnType<typeof aPod>) => ({ ...pod, status: { ...pod.status, containerStatuses: [] } });

  test('is the end of its last container', () => {
    expect(endOf(aPod({ phase: 'Failed', finishedSecondsAgo: 7, ready: false, readySince: ago(50) }))).toBe(Date.parse(ago(7)));
  });
  test('or, unknown, when it ceased to be ready', () => {
    expect(endOf(withoutContainers(aPod({ phase: 'Failed', ready: false, readySince: ago(50) })))).toBe(Date.parse(ago(50)));
  });
  test('or when its deletion was asked for', () => {
    expect(endOf(withoutContainers(aPod({ phase: 'Failed', deleting: true })))).toBe(Date.parse(ago(30)));
  });
  test('or when it was made', () => {
    expect(endOf(withoutContainers(aPod({ phase: 'Failed', createdSecondsAgo: 90 })))).toBe(Date.parse(ago(90)));
  });
  test('a sidecar that still runs leaves the containers without an answer', () => {
    const pod = aPod({ phase: 'Failed', finishedSecondsAgo: 7, createdSecondsAgo: 90 });
    pod.spec.initContainers = [{ name: 'sidecar', image: 'i', restartPolicy: 'Always' }];
    const sidecar = { name: 'sidecar', image: 'i', imageID: 'i', ready: true, restartCount: 0 };
    pod.status = { ...pod.status, initContainerStatuses: [{ ...sidecar, state: {} }] };
    expect(endOf(pod)).toBe(Date.parse(ago(90)));
    pod.status = { ...pod.status, initContainerStatuses: [{ ...sidecar, state: { terminated: { exitCode: 0, finishedAt: ago(3) } } }] };
    expect(endOf(pod)).toBe(Date.parse(ago(3)));
  });
});

describe('of several failed pods of one index, the replacement is told', () => {
  const job = indexedJob(1, { backoffLimitPerIndex: 9 });
  const told = (first: Parameters<typeof aPod>[0], second: Parameters<typeof aPod>[0]): string[] => {
    const seen = [first, second].map((situation, position) =>
      aPod({ index: 0, phase: 'Failed', name: position === 0 ? 'first' : 'second', ...situation }),
    );
    return [seen, seen.toReversed()].map(
      (listed) => decideOn(job, listed).tally.indexes?.awaitingReplacement.get(0)?.pod.metadata.name ?? 'nobody',
    );
  };
  test('by the one that had failed most often before', () => {
    expect(told({ failures: 1, finishedSecondsAgo: 90 }, { failures: 2, finishedSecondsAgo: 20 })).toEqual(['second', 'second']);
  });
  test('by the later one when they had failed equally often', () => {
    expect(told({ failures: 1, finishedSecondsAgo: 90 }, { failures: 1, finishedSecondsAgo: 20 })).toEqual(['second', 'second']);
  });
  test('by the one listed last when nothing tells them apart', () => {
    expect(told({ failures: 1 }, { failures: 1 })).toEqual(['second', 'first']);
  });
  test('by the one listed first when count and time say different things', () => {
    expect(told({ failures: 1, finishedSecondsAgo: 20 }, { failures: 2, finishedSecondsAgo: 90 })).toEqual(['first', 'second']);
  });
});
