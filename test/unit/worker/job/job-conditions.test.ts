import { describe, expect, test } from 'vitest';
import { ensureCondition, newCondition } from '../../../../worker/job/job-conditions.ts';
import { ago, condition, NOW } from './situation.ts';

const suspended = { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' } as const;
const stored = condition('Suspended', 'JobSuspended', 'Job suspended');

test('a new condition was probed and came about now, in whole seconds', () => {
  expect(newCondition(suspended, NOW + 999)).toEqual({ ...suspended, lastProbeTime: ago(0), lastTransitionTime: ago(0) });
});

describe('a condition that shall be', () => {
  test('comes last when it is missing', () => {
    const others = [condition('FailureTarget', 'BackoffLimitExceeded', '')];
    expect(ensureCondition(others, suspended, NOW)).toEqual({ conditions: [...others, newCondition(suspended, NOW)], changed: true });
  });

  test('is not added only to say False', () => {
    expect(ensureCondition([], { ...suspended, status: 'False' }, NOW)).toEqual({ conditions: [], changed: false });
  });

  test('stays as it is, with its times, when it says the same', () => {
    const before = [stored];
    const { conditions, changed } = ensureCondition(before, suspended, NOW);
    expect(changed).toBe(false);
    expect(conditions).toBe(before);
  });

  test.each<[string, Partial<Record<'status' | 'reason' | 'message', string>>]>([
    ['status', { status: 'False' }],
    ['reason', { reason: 'JobResumed' }],
    ['message', { message: 'Job resumed' }],
  ])('is replaced as a whole, in its place, when its %s differs', (_what, change) => {
    const others = [
      condition('FailureTarget', 'BackoffLimitExceeded', ''),
      { ...stored, extra: 'of somebody' },
      condition('Complete', 'x', ''),
    ];
    const text = { ...suspended, ...change } as typeof suspended;
    expect(ensureCondition(others, text, NOW)).toEqual({ conditions: [others[0], newCondition(text, NOW), others[2]], changed: true });
  });
});
