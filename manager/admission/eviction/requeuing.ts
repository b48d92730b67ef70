import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { EvictionReason } from './evictions.ts';

/**
 * The age by which a Job that did not start, or recover, in time queues again (Kueue's waitForPodsReady.requeuingStrategy.timestamp): its
 * eviction, so that Jobs behind it get their turn, or its creation. After a failed admission check it is always the eviction, as in Kueue.
 * Any other eviction keeps the Job's place.
 */
export const REQUEUING_TIMESTAMPS = ['Eviction', 'Creation'] as const;
export type RequeuingTimestamp = (typeof REQUEUING_TIMESTAMPS)[number];
export const DEFAULT_REQUEUING_TIMESTAMP: RequeuingTimestamp = 'Eviction';

/** The record of an evicted Job with its new age, if it gets one. The next admission clears it. */
export const requeuedRecord = (
  record: AdmissionRecord,
  reason: EvictionReason,
  timestamp: RequeuingTimestamp,
  nowMs: number,
): AdmissionRecord =>
  reason === EvictionReason.AdmissionCheck || (losesItsPlace(reason) && timestamp === 'Eviction')
    ? { ...record, queuedSince: toWireTime(nowMs) }
    : record;

const losesItsPlace = (reason: EvictionReason): boolean =>
  reason === EvictionReason.StartTimeout || reason === EvictionReason.RecoveryTimeout;
