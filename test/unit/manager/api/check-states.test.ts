import { expect, test } from 'vitest';
import { checkStatesOf, isCheckType } from '../../../../manager/api/check-states.ts';

test('conditions of checks are told from all others by their first letter', () => {
  for (const type of ['budget', 'example.com-licence', '2-men-rule']) expect(isCheckType(type)).toBe(true);
  for (const type of ['QuotaReserved', 'Complete', 'Suspended', '', '-x']) expect(isCheckType(type)).toBe(false);
});

test('what checks say is read from them alone', () => {
  const lastTransitionTime = '2026-01-01T00:00:10Z';
  const states = checkStatesOf({
    conditions: [
      { type: 'Complete', status: 'True' },
      { type: 'budget', status: 'False', reason: 'Retry', message: 'later', lastTransitionTime },
      { type: 'licence', status: 'True' },
    ],
  });
  expect([...states]).toEqual([
    ['budget', { status: 'False', reason: 'Retry', message: 'later', sinceMs: Date.parse(lastTransitionTime) }],
    ['licence', { status: 'True', reason: '', message: '', sinceMs: Number.NEGATIVE_INFINITY }],
  ]);
  expect(checkStatesOf(undefined).size).toBe(0);
});
