import { expect, test } from 'vitest';
import { isSealed, sealRecord, type RecordKeys } from '../../../../manager/api/record-seal.ts';
import { parseAdmissionRecord, type AdmissionRecord } from '../../../../manager/api/records.ts';
import { aRecord } from '../../../support/jobs.ts';

const key = (letter: string): Uint8Array => Buffer.alloc(32, letter);
const KEYS: RecordKeys = { current: key('a'), others: [] };
const JOB = { namespace: 'team', name: 'sum', uid: 'u1' };
const RECORD = aRecord({ requests: { cpu: '1', pods: '1' }, flavors: { cpu: 'default', memory: 'spot' } });
const WRITTEN = '2026-01-01T00:00:00.000Z';
const AVOIDED = { until: '2026-01-01T00:01:00Z', reason: 'refused', refusals: 1, epoch: 1 };

const sealed = (keys = KEYS) => {
  const parsed = parseAdmissionRecord(sealRecord(keys, JOB, RECORD, WRITTEN));
  if (parsed.kind !== 'Record') throw new Error('cannot be read');
  return parsed;
};

test('a record is sealed for its Job', () => {
  const { record, stamp } = sealed();
  expect(record).toEqual(RECORD);
  expect(isSealed(KEYS, JOB, record, stamp)).toBe(true);
});

test.each([
  { ...JOB, uid: 'u2' },
  { ...JOB, name: 'other' },
  { ...JOB, namespace: 'other' },
  { namespace: 'tea', name: 'msum', uid: 'u1' },
])('and for no other: %j', (job) => {
  const { record, stamp } = sealed();
  expect(isSealed(KEYS, job, record, stamp)).toBe(false);
});

test.each<Partial<AdmissionRecord>>([
  { clusterQueue: 'other' },
  { flavors: { cpu: 'other', memory: 'spot' } },
  { flavors: { cpu: 'default' } },
  { cluster: 'us-1' },
  { clusterUID: 'uid-eu' },
  { epoch: 2 },
  { since: '2026-01-02T00:00:00Z' },
  { requests: { cpu: '2', pods: '1' } },
  { requests: {} },
  { evicted: true },
  { avoid: { 'us-1': AVOIDED } },
])('a change breaks the seal: %j', (change) => {
  const { record, stamp } = sealed();
  expect(isSealed(KEYS, JOB, { ...record, ...change }, stamp)).toBe(false);
});

test('past admissions are not sealed: a manager of an earlier version, which does not know them, takes the record for its own', () => {
  const past = { cluster: 'us-1', since: '2025-12-31T23:00:00Z', until: '2025-12-31T23:01:30Z' };
  const written = parseAdmissionRecord(sealRecord(KEYS, JOB, { ...RECORD, pastAdmissions: [past] }, WRITTEN));
  if (written.kind !== 'Record') throw new Error('cannot be read');
  const { pastAdmissions, ...known } = written.record;
  expect(pastAdmissions).toEqual([past]);
  expect([known, written.record].map((record) => isSealed(KEYS, JOB, record, written.stamp))).toEqual([true, true]);
});

test('the time of writing is sealed, too, and so is every cluster that is avoided', () => {
  const { record, stamp } = sealed();
  expect(isSealed(KEYS, JOB, record, { ...stamp, written: '2026-01-01T00:00:01.000Z' })).toBe(false);
  const avoiding = parseAdmissionRecord(sealRecord(KEYS, JOB, { ...RECORD, avoid: { a: AVOIDED } }, WRITTEN));
  if (avoiding.kind !== 'Record') throw new Error('cannot be read');
  expect(isSealed(KEYS, JOB, avoiding.record, avoiding.stamp)).toBe(true);
  expect(isSealed(KEYS, JOB, { ...avoiding.record, avoid: { a: { ...AVOIDED, reason: 'none' } } }, avoiding.stamp)).toBe(false);
});

test('a key that is no longer the current one still counts, one that is not known does not', () => {
  const { record, stamp } = sealed({ current: key('old'), others: [] });
  expect(isSealed({ current: key('new'), others: [key('x'), key('old')] }, JOB, record, stamp)).toBe(true);
  expect(isSealed({ current: key('new'), others: [] }, JOB, record, stamp)).toBe(false);
});

test.each(['', 'x', 'ö', 'A'.repeat(43), 'A'.repeat(10_000)])('%s is no seal', (seal) => {
  expect(isSealed(KEYS, JOB, RECORD, { written: WRITTEN, seal })).toBe(false);
});
