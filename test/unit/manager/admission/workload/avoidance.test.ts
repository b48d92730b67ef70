import { expect, test } from 'vitest';
import { avoidance, backoffMs, isRefused, refusedRecord, rememberedRefusals } from '../../../../../manager/admission/workload/avoidance.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { aRecord } from '../../../../support/jobs.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const own = (nowMs: number) => (refusals: number) => ({ untilMs: nowMs + backoffMs(refusals), level: refusals });
const untilMs = (record: AdmissionRecord, nowMs: number) => avoidance(record, record.cluster, nowMs)?.untilMs ?? nowMs;

test('a cluster is avoided for a minute, twice as long each time in a row, and for an hour at most', () => {
  let record = aRecord();
  let nowMs = NOW;
  const minutes: number[] = [];
  for (let count = 0; count < 8; count++) {
    record = refusedRecord(record, 'NameTaken', own(nowMs));
    minutes.push((untilMs(record, nowMs) - nowMs) / 60_000);
    nowMs = untilMs(record, nowMs);
    record = { ...record, epoch: record.epoch + 1, avoid: rememberedRefusals(record, nowMs) ?? {} };
  }
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('until its time has come, and not at that time', () => {
  const record = refusedRecord(aRecord(), 'NameTaken', own(NOW));
  expect(avoidance(record, 'eu-1', NOW + 59_999)?.problem).toBe('refused it (NameTaken), avoided until 2026-01-01T00:01:00Z');
  expect(avoidance(record, 'eu-1', NOW + 60_000)).toBeUndefined();
  expect(avoidance(record, 'us-2', NOW)).toBeUndefined();
  expect(avoidance(undefined, 'eu-1', NOW)).toBeUndefined();
});

test('a refusal is remembered for an hour after its time, and then forgotten', () => {
  const record = refusedRecord(aRecord(), 'NameTaken', own(NOW));
  expect(rememberedRefusals(record, NOW + 60_000 + HOUR_MS - 1)).toEqual(record.avoid);
  expect(rememberedRefusals(record, NOW + 60_000 + HOUR_MS)).toBeUndefined();
  expect(rememberedRefusals(aRecord(), NOW)).toBeUndefined();
  expect(rememberedRefusals(undefined, NOW)).toBeUndefined();
});

test('refusals of other clusters stay beside it', () => {
  const first = refusedRecord(aRecord(), 'NameTaken', own(NOW));
  const second = refusedRecord({ ...first, cluster: 'us-2', epoch: 2 }, 'NamespaceMissing', own(NOW + 1_000));
  expect(second.avoid).toEqual({
    'eu-1': { until: '2026-01-01T00:01:00Z', reason: 'NameTaken', refusals: 1, epoch: 1 },
    'us-2': { until: '2026-01-01T00:01:01Z', reason: 'NamespaceMissing', refusals: 1, epoch: 2 },
  });
});

test('a placement was refused when its very number was, and not because an earlier one was', () => {
  const record = refusedRecord(aRecord(), 'NameTaken', own(NOW));
  expect([isRefused(aRecord()), isRefused(record), isRefused({ ...record, epoch: 2 })]).toEqual([false, true, false]);
});
