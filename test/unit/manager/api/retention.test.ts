import { expect, test } from 'vitest';
import { retentionOf } from '../../../../manager/api/retention.ts';

test('copies stay for as long as their cluster says, and nowhere else', () => {
  expect(retentionOf({})).toBeUndefined();
  expect(retentionOf({ retainFinished: {} })).toBeUndefined();
  expect(retentionOf({ retainFinished: { complete: '0s', failed: 'x' } })).toBeUndefined();
  expect(retentionOf({ retainFinished: { complete: '1h', failed: '24h' } })).toEqual({ completeMs: 3_600_000, failedMs: 86_400_000 });
  expect(retentionOf({ retainFinished: { failed: '1m' } })).toEqual({ completeMs: 0, failedMs: 60_000 });
});
