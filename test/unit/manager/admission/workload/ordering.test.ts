import { expect, test } from 'vitest';
import { compareNominated, compareQueued } from '../../../../../manager/admission/workload/ordering.ts';
import { aWorkload, queued } from '../setup.ts';

const ranked = [
  queued(aWorkload('urgent', {}, { createdMs: 9 }), 3, 5),
  queued(aWorkload('old', {}, { createdMs: 1 }), 2),
  queued(aWorkload('same second, seen first', {}, { createdMs: 2 }), 0),
  queued(aWorkload('same second, seen later', {}, { createdMs: 2 }), 1),
  queued(aWorkload('unimportant', {}, { createdMs: 0 }), 4, -1),
];

test('priority goes before age, and age before the order of arrival', () => {
  expect(ranked.toReversed().toSorted(compareQueued)).toEqual(ranked);
});

test('a Job that was evicted because it did not start goes by the age of that, behind those that have waited longer', () => {
  const requeued = queued(aWorkload('requeued', {}, { createdMs: 0, queuedSinceMs: 5 }), 0);
  const old = queued(aWorkload('old', {}, { createdMs: 1 }), 2);
  const late = queued(aWorkload('late', {}, { createdMs: 6 }), 9);
  expect([late, requeued, old].toSorted(compareQueued)).toEqual([old, requeued, late]);
});

test('a borrower lets everybody pass who stays within his own quota', () => {
  const [urgent, old] = ranked;
  if (urgent === undefined || old === undefined) throw new Error('the ranking is empty');
  expect(compareNominated({ head: urgent, borrowing: 1 }, { head: old, borrowing: 0 })).toBeGreaterThan(0);
  expect(compareNominated({ head: urgent, borrowing: 1 }, { head: old, borrowing: 1 })).toBeLessThan(0);
});
