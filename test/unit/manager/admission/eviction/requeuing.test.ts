import { expect, test } from 'vitest';
import { EvictionReason } from '../../../../../manager/admission/eviction/evictions.ts';
import { requeuedRecord } from '../../../../../manager/admission/eviction/requeuing.ts';
import { aRecord } from '../../../../support/jobs.ts';

test.each<[EvictionReason, 'Eviction' | 'Creation', string | undefined]>([
  [EvictionReason.StartTimeout, 'Eviction', '2026-01-01T00:10:00Z'],
  [EvictionReason.StartTimeout, 'Creation', undefined],
  [EvictionReason.RecoveryTimeout, 'Eviction', '2026-01-01T00:10:00Z'],
  [EvictionReason.RecoveryTimeout, 'Creation', undefined],
  [EvictionReason.ClusterDraining, 'Eviction', undefined],
])('a Job that is evicted for %s queues by the time of its %s', (reason, timestamp, queuedSince) => {
  const record = aRecord({ evicted: true });
  const requeued = requeuedRecord(record, reason, timestamp, Date.parse('2026-01-01T00:10:00.400Z'));
  expect(requeued).toEqual(queuedSince === undefined ? record : { ...record, queuedSince });
});
