import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { EvictionReason } from './evictions.ts';

/**
 * By which age a Job queues again that did not start in time (Kueue's waitForPodsReady.requeuingStrategy.timestamp): by that of its eviction, so that those
 * behind it get their turn, or by its own. Who was evicted because of an admission check goes by that
 * in any case, as in Kueue; whoever is evicted for another reason keeps his place.
 */
export const REQUEUING_TIMESTAMPS = ['Eviction', 'Creation'] as const;
export type RequeuingTimestamp = (typeof REQUEUING_TIMESTAMPS)[number];
export const DEFAULT_REQUEUING_TIMESTAMP: RequeuingTimestamp = 'Eviction';

/** The record of an evicted Job with its new age, where it has one. The next admission forgets it. */
export const requeuedRecord = (
  record: AdmissionRecord,
  reason: EvictionReason,
  timestamp: RequeuingTimestamp,
  nowMs: number,
): AdmissionRecord =>
  reason === EvictionReason.AdmissionCheck || (reason === EvictionReason.StartTimeout && timestamp === 'Eviction')
    ? { ...record, queuedSince: toWireTime(nowMs) }
    : record;
