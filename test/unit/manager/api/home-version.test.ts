import { expect, test } from 'vitest';
import { homeWasRestored, laterVersion, openHomeVersion, sealHomeVersion } from '../../../../manager/api/home-version.ts';
import { sealRecord, type RecordKeys } from '../../../../manager/api/record-seal.ts';

const KEYS: RecordKeys = { current: Buffer.alloc(32, 'k'), others: [] };
const HOME = { origin: 'm1', homeUid: 'home-1' };
const sealed = sealHomeVersion(KEYS, HOME, '1234') ?? '';

test('a version that we have sealed comes back', () => {
  expect(openHomeVersion(KEYS, HOME, sealed)).toBe('1234');
});

test('a version sealed before the key was replaced comes back', () => {
  expect(openHomeVersion({ current: Buffer.alloc(32, 'n'), others: [KEYS.current] }, HOME, sealed)).toBe('1234');
});

test.each([
  ['that is absent', KEYS, HOME, undefined],
  ['that is garbage', KEYS, HOME, 'garbage'],
  ['with another number', KEYS, HOME, sealed.replace('1234', '9999')],
  ['with a seal that is cut', KEYS, HOME, sealed.slice(0, -2)],
  ['of another key', { current: Buffer.alloc(32, 'x'), others: [] }, HOME, sealed],
  ['of another manager', KEYS, { ...HOME, origin: 'm2' }, sealed],
  ['of another manager cluster', KEYS, { ...HOME, homeUid: 'home-2' }, sealed],
])('a version %s counts as none', (_what, keys, home, text) => {
  expect(openHomeVersion(keys, home, text)).toBe('');
});

test('the seal of a record is no seal of a version', () => {
  const record = { clusterQueue: 'q', flavors: {}, cluster: 'c', epoch: 1, since: '2026-01-01T00:00:00Z', requests: {} };
  const text = sealRecord(KEYS, { namespace: HOME.origin, name: HOME.homeUid, uid: '1234' }, record, '2026-01-01T00:00:00Z');
  const { seal } = JSON.parse(text) as { seal: string };
  expect(openHomeVersion(KEYS, HOME, `1234.${seal}`)).toBe('');
});

test('a version that compares with nothing is not sealed', () => {
  expect(sealHomeVersion(KEYS, HOME, 'v7')).toBeUndefined();
  expect(sealHomeVersion(KEYS, HOME, '')).toBeUndefined();
});

test('of two versions the later one counts, and one that compares with nothing never', () => {
  expect(laterVersion('9', '10')).toBe('10');
  expect(laterVersion('10', '9')).toBe('10');
  expect(laterVersion('', '9')).toBe('9');
  expect(laterVersion('9', '')).toBe('9');
});

test('the manager cluster was restored when a worker cluster has been told of a later version than it has', () => {
  expect(homeWasRestored(['', '90', '101'], '100')).toBe(true);
  expect(homeWasRestored(['', '90', '100'], '100')).toBe(false);
  expect(homeWasRestored([], '100')).toBe(false);
});
