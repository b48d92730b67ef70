import { expect, test } from 'vitest';
import { findCondition, findTrueCondition, finishedCondition, hasTrueCondition, isFinished } from '../../../../shared/kube/conditions.ts';

const suspended = { type: 'Suspended', status: 'False', reason: 'JobResumed' };
const ready = { type: 'Ready', status: 'True', reason: 'PodsReady' };

test('a condition is found by its type, and by its being true', () => {
  const conditions = [suspended, ready];
  expect(findCondition(conditions, 'Suspended')).toBe(suspended);
  expect(findTrueCondition(conditions, 'Suspended')).toBeUndefined();
  expect(findTrueCondition(conditions, 'Ready')).toBe(ready);
  expect(hasTrueCondition(conditions, 'Ready')).toBe(true);
  expect(hasTrueCondition(conditions, 'Complete')).toBe(false);
});

test.each(['Complete', 'Failed'])('a Job with the condition %s is finished', (type) => {
  const terminal = { type, status: 'True' };
  expect(finishedCondition({ conditions: [ready, terminal] })).toBe(terminal);
  expect(isFinished({ conditions: [ready, terminal] })).toBe(true);
  expect(isFinished({ conditions: [{ type, status: 'False' }] })).toBe(false);
});

test('an interim condition finishes nothing', () => {
  expect(isFinished({ conditions: [{ type: 'FailureTarget', status: 'True' }] })).toBe(false);
});

test('without conditions, or with nonsense for them, nothing is said', () => {
  expect(isFinished(undefined)).toBe(false);
  expect(isFinished({})).toBe(false);
  expect(isFinished({ conditions: null })).toBe(false);
  const nonsense = JSON.parse('[null, 7, "Complete", {"type": "Complete"}]') as { type: string; status: string }[];
  expect(isFinished({ conditions: nonsense })).toBe(false);
  expect(isFinished({ conditions: JSON.parse('{"type": "Complete", "status": "True"}') as [] })).toBe(false);
  expect(isFinished({ conditions: 'Complete' as unknown as [] })).toBe(false);
  expect(isFinished({ conditions: [null, { type: 'Failed', status: 'True' }] })).toBe(true);
  expect(findCondition([null, ready], 'Ready')).toBe(ready);
});
