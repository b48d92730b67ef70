import { describe, expect, test } from 'vitest';
import { aJob, ago, aPod, decideOn, indexedJob, NOW, onExitCodes, pods } from './situation.ts';

const planOf = (...args: Parameters<typeof decideOn>) => {
  const { plan } = decideOn(...args);
  switch (plan.kind) {
    case 'create':
      return `create ${plan.slots.map(({ index }) => index ?? '*').join(' ')}`;
    case 'remove':
    case 'finish':
      return `${plan.kind} ${plan.pods.map(({ pod }) => pod.metadata.name).join(' ')}`;
    case 'wait':
      return `wait ${plan.forMs}`;
    default:
      return plan.kind;
  }
};

describe('how many pods a Job should have', () => {
  test('as many as its parallelism', () => expect(planOf(aJob({ completions: 10, parallelism: 3 }))).toBe('create * * *'));
  test('but not more than completions are missing', () =>
    expect(planOf(aJob({ completions: 5, parallelism: 4 }, { succeeded: 3 }), [aPod()])).toBe('create *'));
  test('enough is enough', () => expect(planOf(aJob({ completions: 5, parallelism: 2 }), pods(2))).toBe('keep'));
  test('parallelism 0 wants none', () => expect(planOf(aJob({ completions: 2, parallelism: 0 }))).toBe('keep'));
  test('a work queue that has seen no success keeps its parallelism', () =>
    expect(planOf(aJob({ parallelism: 3 }), pods(1))).toBe('create * *'));
  test('a work queue that has seen a success starts nothing new', () =>
    expect(planOf(aJob({ parallelism: 3 }, { succeeded: 1 }), pods(1))).toBe('keep'));
  test('no more than 500 at once', () => {
    const { plan } = decideOn(aJob({ completions: 2000, parallelism: 2000 }));
    expect(plan.kind === 'create' && plan.slots.length).toBe(500);
  });
  test('terminating pods are replaced at once, unless only failed ones are', () => {
    const seen = [aPod({ phase: 'Running', deleting: true, tracked: false })];
    expect(planOf(aJob(), seen)).toBe('create *');
    expect(planOf(aJob({ podReplacementPolicy: 'Failed' }), seen)).toBe('keep');
    expect(planOf(aJob({ podFailurePolicy: onExitCodes('Count', 1) }), seen)).toBe('keep');
  });
});

describe('hands off', () => {
  test('while earlier creations or deletions have not been seen', () => expect(planOf(aJob(), [], { satisfied: false })).toBe('leave'));
  test('when the Job is being deleted', () => {
    expect(planOf({ ...aJob(), metadata: { ...aJob().metadata, deletionTimestamp: ago(1) } })).toBe('leave');
  });
});

describe('in a namespace that is denied', () => {
  const denied = { denied: true };
  test('no pod is created, not for a back-off that is over either', () => {
    expect(planOf(aJob({ completions: 10, parallelism: 3 }), [], denied)).toBe('deny');
    expect(planOf(aJob(), [aPod({ phase: 'Failed' })], denied)).toBe('deny');
  });
  test('those that there are stay, and go when they are too many, when the Job is suspended or when its fence stops it', () => {
    const two = aJob({ completions: 5, parallelism: 2 });
    expect(planOf(two, pods(2), denied)).toBe('keep');
    expect(planOf(two, pods(3), denied)).toMatch(/^remove \S+$/);
    expect(planOf(aJob({ suspend: true }), pods(1), denied)).toMatch(/^remove \S+$/);
    expect(planOf(two, pods(1), { fence: 'Fenced', ...denied })).toMatch(/^remove \S+$/);
  });
});

describe('suspension', () => {
  test('removes every active pod, without a limit', () => {
    const { plan } = decideOn(aJob({ suspend: true, completions: 700, parallelism: 700 }), pods(700));
    expect(plan.kind === 'remove' && plan.pods.length).toBe(700);
  });
  test('a Job that never ran has nothing to remove', () => expect(planOf(aJob({ suspend: true }))).toBe('remove '));
});

describe('too many pods', () => {
  const job = aJob({ completions: 10, parallelism: 1 });
  const goes = (stays: Parameters<typeof aPod>[0], leaves: Parameters<typeof aPod>[0]): void => {
    const seen = [aPod({ ...stays, name: 'stays' }), aPod({ ...leaves, name: 'leaves' })];
    expect(planOf(job, seen)).toBe('remove leaves');
    expect(planOf(job, seen.toReversed())).toBe('remove leaves');
  };
  test('an unscheduled pod goes first, whatever else', () => goes({ phase: 'Pending' }, { phase: 'Running', ready: true, bound: false }));
  test('then a pending one', () => goes({ phase: 'Running' }, { phase: 'Pending' }));
  test('then one whose phase is unknown', () => goes({ phase: 'Running' }, { phase: 'Unknown' }));
  test('then one that is not ready', () => goes({ phase: 'Running', ready: true }, { phase: 'Running', ready: false }));
  test('then the one ready for the shorter time', () =>
    goes({ phase: 'Running', ready: true, readySince: ago(99) }, { phase: 'Running', ready: true, readySince: ago(9) }));
  test('then the one with more restarts', () => goes({ phase: 'Running', restarts: 1 }, { phase: 'Running', restarts: 2 }));
  test('then the one whose sidecar has restarted more often', () =>
    goes({ phase: 'Running', sidecarRestarts: 1 }, { phase: 'Running', sidecarRestarts: 2 }));
  test('then the younger one', () => goes({ phase: 'Running', createdSecondsAgo: 99 }, { phase: 'Running', createdSecondsAgo: 9 }));
  test('no more than 500 go at once', () => {
    const { plan } = decideOn(job, pods(700));
    expect(plan.kind === 'remove' && plan.pods.length).toBe(500);
  });
});

describe('the pods of an Indexed Job', () => {
  test('get the lowest indexes that are free', () => {
    const job = indexedJob(8, { parallelism: 4 }, { completedIndexes: '0,3', succeeded: 2 });
    expect(planOf(job, [aPod({ index: 1, phase: 'Running' })])).toBe('create 2 4 5');
  });
  test('an index whose pod terminates is free, unless only failed pods are replaced', () => {
    const going = aPod({ index: 0, phase: 'Running', deleting: true, tracked: false });
    expect(planOf(indexedJob(2), [going])).toBe('create 0 1');
    expect(planOf(indexedJob(3, { podReplacementPolicy: 'Failed' }), [going])).toBe('create 1 2');
  });
  test('go when their index is unknown, too high or taken, even when there are not too many', () => {
    const seen = [
      aPod({ index: 0, phase: 'Running' }),
      aPod({ name: 'double', index: 0 }),
      aPod({ name: 'high', index: 9 }),
      aPod({ name: 'unknown' }),
      aPod({ name: 'garbled', index: '1.5' }),
    ];
    expect(planOf(indexedJob(9), seen)).toBe('remove double high unknown garbled');
  });
  test('a hundred thousand of them are planned in no time', () => {
    const job = indexedJob(100_000, { parallelism: 1000 }, { completedIndexes: '0-49999', succeeded: 50_000 });
    const { plan } = decideOn(job);
    expect(plan.kind === 'create' && [plan.slots.length, plan.slots[0]?.index, plan.slots.at(-1)?.index]).toEqual([500, 50_000, 50_499]);
  });
});

describe('back-off', () => {
  test('replacements wait from the end of the failed pod', () => {
    const job = aJob({ completions: 3, parallelism: 2 });
    expect(planOf(job, [aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 4 }), aPod({ name: 'r' })])).toBe('wait 6000');
  });
  test('the stored failures count', () => {
    const job = aJob({ completions: 3, parallelism: 2 }, { failed: 2 });
    expect(planOf(job, [], { backoff: { failuresAfterLastSuccess: 3, lastFailureMs: NOW - 1000 } })).toBe('wait 39000');
  });
  test('a success since then ends it', () => {
    const job = aJob({ completions: 3, parallelism: 1 }, { failed: 2 });
    const backoff = { failuresAfterLastSuccess: 2, lastFailureMs: NOW - 3000 };
    expect(planOf(job, [aPod({ phase: 'Succeeded', finishedSecondsAgo: 1 })], { backoff })).toBe('create *');
  });
  test('does not delay the removal of pods', () => {
    const backoff = { failuresAfterLastSuccess: 1, lastFailureMs: NOW };
    expect(planOf(aJob({ completions: 3, parallelism: 0 }), [aPod()], { backoff })).toBe('remove pod-x');
  });
});

describe('back-off per index', () => {
  const job = indexedJob(4, { backoffLimitPerIndex: 5 });
  test('is each index its own, and replacements carry the count', () => {
    const seen = [
      aPod({ name: 'a', index: 0, phase: 'Failed', failures: 0, finishedSecondsAgo: 5 }),
      aPod({ name: 'b', index: 1, phase: 'Failed', failures: 0, finishedSecondsAgo: 12 }),
      aPod({ name: 'c', index: 2, phase: 'Failed', failures: 1, ignored: 1, finishedSecondsAgo: 60 }),
    ];
    const { plan } = decideOn(job, seen);
    expect(plan).toMatchObject({
      kind: 'create',
      slots: [
        { index: 1, failures: { counted: 1, ignored: 0 } },
        { index: 2, failures: { counted: 2, ignored: 1 } },
        { index: 3, failures: { counted: 0, ignored: 0 } },
      ],
    });
  });
  test('when no index is ready the Job waits for the first', () => {
    const seen = [0, 1, 2, 3].map((index) => aPod({ index, phase: 'Failed', failures: 0, finishedSecondsAgo: index + 1 }));
    expect(planOf(job, seen)).toBe('wait 6000');
  });
  test('an ignored failure is carried as ignored', () => {
    const withPolicy = indexedJob(1, { backoffLimitPerIndex: 1, podFailurePolicy: onExitCodes('Ignore', 7) });
    const { plan } = decideOn(withPolicy, [aPod({ index: 0, phase: 'Failed', failures: 1, exitCode: 7, finishedSecondsAgo: 60 })]);
    expect(plan).toMatchObject({ kind: 'create', slots: [{ index: 0, failures: { counted: 1, ignored: 1 } }] });
  });
  test('indexes that failed for good are not tried again', () => {
    expect(planOf(indexedJob(4, { backoffLimitPerIndex: 0 }, { failedIndexes: '0,2' }))).toBe('create 1 3');
  });
});

describe('the reason told to the creation metric', () => {
  const reasonOf = (...args: Parameters<typeof decideOn>) => {
    const { plan } = decideOn(...args);
    return plan.kind === 'create' ? plan.reason : plan.kind;
  };
  test('new, while nothing has failed or terminates', () => expect(reasonOf(aJob())).toBe('new'));
  test('recreate_terminating_or_failed', () => {
    expect(reasonOf(aJob({}, { failed: 1 }))).toBe('recreate_terminating_or_failed');
    expect(reasonOf(aJob(), [aPod({ deleting: true, tracked: false })])).toBe('recreate_terminating_or_failed');
  });
  test('recreate_failed, when only failed pods are replaced', () => {
    expect(reasonOf(aJob({ podReplacementPolicy: 'Failed' }, { failed: 1 }))).toBe('recreate_failed');
  });
});

describe('the reason that the metric of creations tells', () => {
  const reasonOf = (...parameters: Parameters<typeof decideOn>): string => {
    const { plan } = decideOn(...parameters);
    return plan.kind === 'create' ? plan.reason : plan.kind;
  };
  const failed = aPod({ name: 'f', phase: 'Failed', finishedSecondsAgo: 999 });
  const going = aPod({ name: 'g', phase: 'Running', deleting: true });

  test('is new as long as nothing has failed and nothing terminates', () => {
    expect(reasonOf(aJob({ completions: 2, parallelism: 2 }))).toBe('new');
    expect(reasonOf(aJob({ completions: 2, parallelism: 2, podReplacementPolicy: 'Failed' }))).toBe('new');
  });
  test('says which pods are replaced, as the Job asks', () => {
    const twoAtOnce = { completions: 4, parallelism: 3 };
    expect(reasonOf(aJob(twoAtOnce), [failed])).toBe('recreate_terminating_or_failed');
    expect(reasonOf(aJob({ ...twoAtOnce, podReplacementPolicy: 'Failed' }), [failed])).toBe('recreate_failed');
    expect(reasonOf(aJob({ ...twoAtOnce, podReplacementPolicy: 'Failed' }), [going])).toBe('recreate_terminating_or_failed');
  });
});
