import { expect, test } from 'vitest';
import {
  endedBefore,
  nameKey,
  nameKeys,
  parseRecordKey,
  podsKey,
  podsKeys,
  recordKey,
  tailKey,
  tailKeys,
  uidIn,
} from '../../../../manager/history/history-keys.ts';

const key = (endedMs: number) => ({ endedMs, namespace: 'team', name: 'sum', uid: 'u1' });

test('what ended later is listed earlier', () => {
  const times = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:01Z'), Date.parse('2030-01-01T00:00:00Z')];
  expect(times.map((ms) => recordKey(key(ms))).toSorted()).toEqual(times.toReversed().map((ms) => recordKey(key(ms))));
  expect(recordKey(key(1000)) > endedBefore(1000)).toBe(true);
  expect(recordKey(key(999)) > endedBefore(1000)).toBe(true);
  expect(recordKey(key(1001)) > endedBefore(1000)).toBe(false);
});

test('a key of a record says whose it is', () => {
  expect(parseRecordKey(recordKey(key(1234)))).toEqual(key(1234));
  expect(parseRecordKey(recordKey({ ...key(1234), namespaceUid: 'n1' }))).toEqual({ ...key(1234), namespaceUid: 'n1' });
  expect(parseRecordKey('n/team/sum/1')).toBeUndefined();
});

test('what belongs together begins alike, and nobody’s name leads elsewhere', () => {
  expect(nameKey(key(1)).startsWith(nameKeys('team', 'sum'))).toBe(true);
  expect(nameKey({ ...key(1), name: 'sum-2' }).startsWith(nameKeys('team', 'sum'))).toBe(false);
  expect(podsKey('u1', 'c').startsWith(podsKeys('u1'))).toBe(true);
  expect(tailKey('u1', 'c', 'p').startsWith(tailKeys('u1'))).toBe(true);
  expect(tailKey('u1', '../x', 'a/b')).toBe('t/u1/..%2Fx/a%2Fb');
  expect([uidIn('t/u1/c/p'), uidIn('p/u2/c'), uidIn('j/1/a/b/u')]).toEqual(['u1', 'u2', undefined]);
});
