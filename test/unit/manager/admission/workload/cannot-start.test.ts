import { expect, test } from 'vitest';
import { cannotStartMessage, failedPlacements } from '../../../../../manager/admission/workload/cannot-start.ts';
import { aRecord } from '../../../../support/jobs.ts';

const record = aRecord({
  avoid: {
    'eu-1': { until: '2026-01-01T00:14:00Z', reason: 'NotStarted', refusals: 3, epoch: 5 },
    'us-2': { until: '2026-01-01T00:05:00Z', reason: 'Refused', refusals: 1, epoch: 4, level: 3 },
  },
});

test('after as many failed placements as are allowed the story tells of each cluster, the last one first', () => {
  expect(failedPlacements(record)).toBe(4);
  expect(cannotStartMessage(record, 4)).toBe(
    '4 placements in a row came to nothing: eu-1: NotStarted, 3 times, last at 2026-01-01T00:10:00Z; us-2: Refused at 2026-01-01T00:01:00Z',
  );
});

test('before that there is nothing to tell', () => {
  expect(cannotStartMessage(record, 5)).toBeUndefined();
  expect(cannotStartMessage(aRecord(), 1)).toBeUndefined();
});
