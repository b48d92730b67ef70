import { expect, test } from 'vitest';
import type { RecordKeys } from '../../../../manager/api/record-seal.ts';
import { callerOf, cancellerOf, signCaller, signCanceller } from '../../../../manager/submission/caller-signature.ts';

const key = (letter: string): Uint8Array => Buffer.alloc(32, letter);
const KEYS: RecordKeys = { current: key('a'), others: [] };
const SUBMITTED = { tenant: 'uid-of-team', key: 'nightly', data: { manifest: { spec: { parallelism: 1 } } } };
const signature = signCaller(KEYS, SUBMITTED, 'ann');
const signed = { ...SUBMITTED, data: { ...SUBMITTED.data, signature } };

test('who submitted is known by the seal of the manager, also once it has another key', () => {
  expect(callerOf(KEYS, signed)).toBe('ann');
  expect(callerOf({ current: key('b'), others: [key('a')] }, signed)).toBe('ann');
  expect(callerOf({ current: key('b'), others: [] }, signed)).toBeUndefined();
  expect(callerOf(KEYS, SUBMITTED)).toBeUndefined();
});

test('the seal is for one user, tenant, key and payload; a trace is no part of that', () => {
  expect(callerOf(KEYS, { ...signed, tenant: 'uid-of-rich' })).toBeUndefined();
  expect(callerOf(KEYS, { ...signed, key: 'weekly' })).toBeUndefined();
  expect(callerOf(KEYS, { ...signed, data: { ...signed.data, manifest: { spec: { parallelism: 2 } } } })).toBeUndefined();
  expect(callerOf(KEYS, { ...signed, data: { ...signed.data, signature: { ...signature, user: 'bob' } } })).toBeUndefined();
  expect(callerOf(KEYS, { ...signed, data: { ...signed.data, traceparent: '00-0-0-01' } })).toBe('ann');
});

test.each([
  null,
  'ann',
  ['ann'],
  {},
  { user: 'ann' },
  { user: 'ann', seal: '' },
  { user: 'ann', seal: 'x'.repeat(43) },
  { user: 1, seal: 1 },
  { key: 'ci', expires: '2030-01-01T00:00:00Z', value: 'AAAA' },
])('%j names nobody', (forged) => {
  expect(callerOf(KEYS, { ...SUBMITTED, data: { ...SUBMITTED.data, signature: forged } })).toBeUndefined();
});

test('a name that is long or has control characters is one line of bounded length', () => {
  expect(signCaller(KEYS, SUBMITTED, `ann\n${'x'.repeat(1_000)}`).user).toMatch(/^ann x+.{0,3}$/);
  expect(signCaller(KEYS, SUBMITTED, 'x'.repeat(1_000)).user).toHaveLength(256);
});

test('who cancelled is known in the same way, for one submission, and not by what says who submitted', () => {
  const cancelled = { tenant: 'uid-of-team', key: 'nightly', submittedAt: 1_000 };
  const said = signCanceller(KEYS, cancelled, 'ann');
  expect(cancellerOf(KEYS, cancelled, said)).toBe('ann');
  expect(cancellerOf({ current: key('b'), others: [key('a')] }, cancelled, said)).toBe('ann');
  for (const other of [{ tenant: 'uid-of-rich' }, { key: 'weekly' }, { submittedAt: 1_001 }])
    expect(cancellerOf(KEYS, { ...cancelled, ...other }, said)).toBeUndefined();
  for (const forged of [undefined, null, 'ann', {}, { ...said, user: 'bob' }, signature])
    expect(cancellerOf(KEYS, cancelled, forged)).toBeUndefined();
  expect(callerOf(KEYS, { ...SUBMITTED, data: { ...SUBMITTED.data, signature: said } })).toBeUndefined();
});
