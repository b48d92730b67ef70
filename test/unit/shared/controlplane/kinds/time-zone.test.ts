import { expect, test } from 'vitest';
import { findTimeZone } from '../../../../../shared/controlplane/kinds/time-zone.ts';

const at = (text: string): number => Date.parse(text);

test('a zone shows its wall clock, with the day of the week there', () => {
  expect(findTimeZone('Pacific/Auckland')?.wallClock(at('2026-01-03T23:59:00Z'))).toEqual({
    year: 2026,
    month: 1,
    day: 4,
    hour: 12,
    minute: 59,
    dayOfWeek: 0,
  });
  expect(findTimeZone('America/New_York')?.wallClock(at('2026-01-01T05:00:00Z'))).toMatchObject({ day: 1, hour: 0 });
});

test.each([
  ['', '2026-07-01T00:00:30Z'],
  ['UTC', '2026-07-01T00:00:30Z'],
  ['Etc/UTC', '2026-07-01T00:00:30Z'],
  ['Europe/Berlin', '2026-07-01T02:00:30+02:00'],
  ['Asia/Kolkata', '2026-07-01T05:30:30+05:30'],
  ['America/St_Johns', '2026-06-30T21:30:30-02:30'],
])('a time in zone %j is written with its offset: %s', (name, text) => {
  expect(findTimeZone(name)?.format(at('2026-07-01T00:00:30Z'))).toBe(text);
});

test.each(['Mars/Olympus', 'europe/berlin', 'utc', '+01:00', '+01', '5', 'Europe/'])('%s is no zone', (name) => {
  expect(findTimeZone(name)).toBeUndefined();
});

test.each(['EST5EDT', 'US/Pacific', 'Etc/GMT+3', 'GMT', 'Asia/Calcutta'])('%s is a zone, by an old name', (name) => {
  expect(findTimeZone(name)).toBeDefined();
});
