import { describe, expect, test } from 'vitest';
import { sanitizeRemoteStatus } from '../../../../../../manager/work-kind/job/copy/sanitize-remote-status.ts';

const TIME = '2026-01-01T00:00:00Z';
const MUCH = 'x'.repeat(3_000_000);

test('an honest status is told as it is, fields unknown to us included', () => {
  const status = {
    active: 1,
    ready: 0,
    terminating: 2,
    succeeded: 3,
    failed: 4,
    startTime: TIME,
    completionTime: '2026-01-01T00:00:00.5+01:00',
    completedIndexes: '0,2-4',
    failedIndexes: '',
    uncountedTerminatedPods: { succeeded: ['a'], failed: ['b', 'c'] },
    newInSomeVersion: { pods: [1] },
    conditions: [
      {
        type: 'Suspended',
        status: 'False',
        reason: 'JobResumed',
        message: 'Job resumed',
        lastProbeTime: TIME,
        lastTransitionTime: TIME,
        weight: 1,
      },
    ],
  };
  expect(sanitizeRemoteStatus(status)).toEqual(status);
});

describe('what an API server would refuse is not told', () => {
  test.each([
    ['a status that is none', 'running', undefined],
    ['numbers that are none', { active: '1', ready: 1.5, failed: -1, succeeded: 2 ** 40, terminating: 2 }, { terminating: 2 }],
    ['times that are none', { startTime: 'yesterday', completionTime: '2026-99-99T00:00:00Z' }, {}],
    ['times of a megabyte', { startTime: `${TIME}${MUCH}` }, {}],
    ['indexes that are no text', { completedIndexes: [1], failedIndexes: 'all' }, {}],
    ['indexes of megabytes', { completedIndexes: '1,'.repeat(500_000) }, {}],
    ['a ledger that is none', { uncountedTerminatedPods: ['a'] }, {}],
    [
      'uncounted pods twice, without name, or of another kind',
      { uncountedTerminatedPods: { succeeded: ['a', 'a', '', 7, MUCH], failed: ['a', 'b'] } },
      { uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } },
    ],
    ['conditions that are no list', { conditions: { type: 'Complete' } }, {}],
    [
      'conditions without type or truth, or twice',
      {
        conditions: [
          null,
          'Complete',
          { status: 'True' },
          { type: MUCH, status: 'True' },
          { type: 'Failed', status: 'Perhaps' },
          { type: 'Failed', status: 'False' },
          { type: 'Failed', status: 'True' },
        ],
      },
      { conditions: [{ type: 'Failed', status: 'False' }] },
    ],
    ['large fields that nobody knows', { news: MUCH, more: { a: [MUCH] }, small: 1 }, { small: 1 }],
    ['names that are none', JSON.parse('{"__proto__":{"active":1},"a-b":1}'), {}],
  ])('%s', (_what, said, told) => {
    expect(sanitizeRemoteStatus(said)).toEqual(told);
  });
});

test('of megabytes in reasons and messages the beginning is told', () => {
  const conditions = Array.from({ length: 100 }, (_each, index) => ({
    type: `T${index}`,
    status: 'True',
    reason: MUCH,
    message: MUCH,
    note: MUCH,
  }));
  const told = sanitizeRemoteStatus({
    conditions,
    uncountedTerminatedPods: { failed: Array.from({ length: 50_000 }, (_each, index) => `pod-${index}`) },
  });
  expect(told?.conditions).toHaveLength(32);
  expect(told?.conditions?.[0]?.message).toHaveLength(4096);
  expect(told?.uncountedTerminatedPods?.failed).toHaveLength(1000);
  expect(JSON.stringify(told).length).toBeLessThan(200_000);
});
