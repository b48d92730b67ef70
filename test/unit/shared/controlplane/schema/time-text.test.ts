import { expect, test } from 'vitest';
import { canonicalMicroTime, canonicalTime } from '../../../../../shared/controlplane/schema/time-text.ts';

test.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05Z'],
  ['0001-01-01T00:00:00Z', null],
])('the time %s is stored as %s', (text, stored) => {
  expect(canonicalTime(text)).toBe(stored);
});

test.each([
  ['2026-01-02T03:04:05.000001Z', '2026-01-02T03:04:05.000001Z'],
  ['2026-01-02T03:04:05.123456-01:00', '2026-01-02T04:04:05.123456Z'],
  ['0001-01-01T00:00:00.000000Z', null],
])('the time %s, to the microsecond, is stored as %s', (text, stored) => {
  expect(canonicalMicroTime(text)).toBe(stored);
});

test.each([
  ['tomorrow', 'cannot parse "tomorrow" as "2006"'],
  ['2026-13-01T00:00:00Z', 'month out of range'],
  ['2026-02-29T00:00:00Z', 'day out of range'],
  ['2026-01-01T24:00:00Z', 'hour out of range'],
  ['2026-01-01T00:60:00Z', 'minute out of range'],
  ['2026-01-01T00:00:61Z', 'second out of range'],
  ['2026-01-01T00:00:00', 'cannot parse "" as "Z07:00"'],
  ['2026-01-01T00:00:00Zulu', 'extra text: "ulu"'],
])('%s is refused in the words of Go: %s', (text, why) => {
  expect(() => canonicalTime(text)).toThrow(why);
});

test('a leap year has its day', () => {
  expect(canonicalTime('2028-02-29T00:00:00Z')).toBe('2028-02-29T00:00:00Z');
  expect(() => canonicalTime('2100-02-29T00:00:00Z')).toThrow('day out of range');
});

test('without six digits of fraction it is no time to the microsecond', () => {
  expect(() => canonicalMicroTime('2026-01-01T00:00:00Z')).toThrow('cannot parse "Z" as ".000000"');
});
