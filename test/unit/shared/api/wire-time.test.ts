import { expect, test } from 'vitest';
import { parseWireTime, toWireMicroTime, toWireTime } from '../../../../shared/api/wire-time.ts';

const INSTANT_MS = Date.UTC(2026, 1, 3, 4, 5, 6, 999);

test('a time is written in whole seconds, the fraction cut off', () => {
  expect(toWireTime(INSTANT_MS)).toBe('2026-02-03T04:05:06Z');
});

test('a micro time carries six digits', () => {
  expect(toWireMicroTime(INSTANT_MS)).toBe('2026-02-03T04:05:06.999000Z');
});

test('a time is read with and without a fraction, and in any zone', () => {
  expect(parseWireTime('2026-02-03T04:05:06Z')).toBe(INSTANT_MS - 999);
  expect(parseWireTime(toWireMicroTime(INSTANT_MS))).toBe(INSTANT_MS);
  expect(parseWireTime('2026-02-03T06:05:06+02:00')).toBe(INSTANT_MS - 999);
});

test.each([null, undefined, '', 'yesterday', 17])('%j is no time', (text) => {
  expect(parseWireTime(text)).toBeUndefined();
});
