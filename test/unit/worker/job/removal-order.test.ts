/** Pods whose removal was begun - the finalizer is off, the deletion was refused - go before all others, and in any case. */
import { describe, expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aJob, aPod, ago, condition, decideOn, indexedJob, onExitCodes, type PodSituation } from './situation.ts';

const planOf = (job: Job, situations: readonly PodSituation[]): string => {
  const { plan } = decideOn(
    job,
    situations.map((situation) => aPod(situation)),
  );
  if (plan.kind !== 'remove' && plan.kind !== 'finish') return plan.kind;
  return `${plan.kind} ${plan.pods.map(({ pod }) => pod.metadata.name).join(' ')}`;
};

/** The pod that every other rule would keep, and that was freed of its finalizer. */
const begun = (situation: PodSituation = {}): PodSituation => ({
  name: 'begun',
  phase: 'Running',
  ready: true,
  readySince: ago(999),
  createdSecondsAgo: 999,
  tracked: false,
  ...situation,
});
const fresh = (situation: PodSituation = {}): PodSituation => ({ name: 'fresh', bound: false, createdSecondsAgo: 1, ...situation });

describe('a pod whose removal was begun', () => {
  test('goes before one that has done nothing yet', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 1 }), [fresh(), begun()])).toBe('remove begun'));
  test('counts among those that are too many', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 1 }), [begun(), fresh(), begun({ name: 'stays', tracked: true })])).toBe(
      'remove begun fresh',
    ));
  test('goes, too, when the Job would have room for it by now', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 5 }), [begun(), fresh()])).toBe('remove begun'));
  test('goes before its replacement is made, so that there are never too many', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 1 }), [begun()])).toBe('remove begun'));
  test('goes during a back-off', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 2 }), [begun(), { name: 'f', phase: 'Failed', finishedSecondsAgo: 1 }])).toBe(
      'remove begun',
    ));
  test('goes from a work queue that only waits for its pods to end', () =>
    expect(planOf(aJob({ parallelism: 2 }, { succeeded: 1 }), [begun(), fresh()])).toBe('remove begun'));
  test('goes before 500 others, of which one sync removes no more', () => {
    const others = Array.from({ length: 700 }, (_, position) => fresh({ name: `fresh-${position}` }));
    expect(planOf(aJob({ completions: 900, parallelism: 1 }), [...others, begun()])).toMatch(/^remove begun fresh-0 /);
  });
  test('is no pod of a Job that waits for its own terminating pods', () =>
    expect(planOf(aJob({ completions: 9, parallelism: 2, podReplacementPolicy: 'Failed' }), [begun(), fresh({ deleting: true })])).toBe(
      'remove begun',
    ));
  test('has ended: then it is nobody to remove, and the Job replaces it', () => {
    for (const phase of ['Succeeded', 'Failed']) expect(planOf(aJob({ completions: 9 }), [begun({ phase })])).toBe('create');
  });
  test('is being deleted: then it is not deleted once more', () =>
    expect(planOf(aJob({ completions: 9 }), [begun({ deleting: true })])).toBe('create'));
});

describe('a pod whose removal was begun, in an Indexed Job', () => {
  test('goes, and the other one of its index stays', () =>
    expect(planOf(indexedJob(3, { parallelism: 1 }), [begun({ index: 0 }), fresh({ index: 0 })])).toBe('remove begun'));
  test('goes before the highest index', () =>
    expect(planOf(indexedJob(3, { parallelism: 1 }), [fresh({ index: 2 }), begun({ index: 0 })])).toBe('remove begun'));
  test('goes beside those without a valid index', () =>
    expect(planOf(indexedJob(3, { parallelism: 2 }), [fresh({ index: 7 }), begun({ index: 0 }), fresh({ name: 'one', index: 1 })])).toBe(
      'remove begun fresh',
    ));
  test('goes when the Job was shrunk and has grown again to hold its index', () =>
    expect(planOf(indexedJob(4), [begun({ index: 3 }), fresh({ index: 0 })])).toBe('remove begun'));
  test('goes when its index has failures of its own', () =>
    expect(planOf(indexedJob(2, { backoffLimitPerIndex: 3 }), [begun({ index: 0 }), { index: 0, name: 'f', phase: 'Failed' }])).toBe(
      'remove begun',
    ));
});

describe('where other rules decide', () => {
  test('a suspended Job removes all it has', () =>
    expect(planOf(aJob({ suspend: true, completions: 9, parallelism: 2 }), [fresh(), begun()])).toBe('remove fresh begun'));
  test('a Job past its deadline deletes all it has', () =>
    expect(planOf(aJob({ completions: 9, activeDeadlineSeconds: 5 }), [fresh(), begun()])).toBe('finish fresh begun'));
  test('a Job failed by its policy deletes all it has', () => {
    const job = aJob({ completions: 9, podFailurePolicy: onExitCodes('FailJob', 3) });
    expect(planOf(job, [fresh(), begun(), { name: 'f', phase: 'Failed', exitCode: 3 }])).toBe('finish fresh begun');
  });
  test('a Job that is failing deletes all it has', () => {
    const failing = { conditions: [condition('FailureTarget', 'BackoffLimitExceeded', 'too many')] };
    expect(planOf(aJob({ completions: 9 }, failing), [begun()])).toBe('finish begun');
  });
  test('a Job that is being deleted, or whose pods are not all seen, touches none', () => {
    const deleting = aJob({ completions: 9 }, {}, { deletionTimestamp: ago(1) });
    expect(planOf(deleting, [begun()])).toBe('leave');
    expect(decideOn(aJob({ completions: 9 }), [aPod(begun())], { satisfied: false }).plan.kind).toBe('leave');
  });
  test('a pod that was adopted just now has its finalizer, though the cache does not show it', () => {
    const { plan } = decideOn(aJob({ completions: 9, parallelism: 1 }), [aPod(begun())], { adopted: ['begun'] });
    expect(plan.kind).toBe('keep');
  });
});
