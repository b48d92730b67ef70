import { describe, expect, test } from 'vitest';
import { nextTime } from '../../../../../../shared/controlplane/controllers/cron-job/next-time.ts';
import { parseCronSchedule } from '../../../../../../shared/controlplane/kinds/cron-schedule.ts';
import { findTimeZone } from '../../../../../../shared/controlplane/kinds/time-zone.ts';
import { seededRandom } from '../../../../../../shared/runtime/random.ts';

const zoneOf = (name: string) => {
  const zone = findTimeZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
};
/** The next times, in the zone's own words. */
const next = (schedule: string, zoneName: string, after: string, count = 1): string[] => {
  const zone = zoneOf(zoneName);
  const times: string[] = [];
  for (let atMs: number | undefined = Date.parse(after); times.length < count; ) {
    atMs = nextTime(parseCronSchedule(schedule), zone, atMs);
    if (atMs === undefined) return [...times, 'never'];
    times.push(zone.format(atMs));
  }
  return times;
};

describe('in a zone whose clock is never set', () => {
  test.each([
    ['*/15 * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z'],
    ['*/15 * * * *', '2026-01-01T00:14:59.999Z', '2026-01-01T00:15:00Z'],
    ['0 3 * * *', '2026-01-01T03:00:00Z', '2026-01-02T03:00:00Z'],
    ['0 0 31 * *', '2026-01-31T12:00:00Z', '2026-03-31T00:00:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['30 4 1,15 * 5', '2026-01-03T00:00:00Z', '2026-01-09T04:30:00Z'],
    ['0 0 13 * FRI', '2026-02-14T00:00:00Z', '2026-02-20T00:00:00Z'],
    ['0 0 1 1 *', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['@every 90s', '2026-01-01T00:00:00.500Z', '2026-01-01T00:01:30Z'],
  ])('%s after %s comes at %s', (schedule, after, expected) => {
    expect(next(schedule, 'UTC', after)).toEqual([expected]);
  });

  test.each(['0 0 31 2 *', '0 0 30 feb *', ', * * * *'])('%s never comes', (schedule) => {
    expect(next(schedule, 'UTC', '2026-01-01T00:00:00Z')).toEqual(['never']);
  });
});

describe('when clocks are set', () => {
  test('forward, what falls into the hour left out does not happen that day', () => {
    expect(next('30 2 * * *', 'America/New_York', '2026-03-07T00:00:00-05:00', 3)).toEqual([
      '2026-03-07T02:30:00-05:00',
      '2026-03-09T02:30:00-04:00',
      '2026-03-10T02:30:00-04:00',
    ]);
  });
  test('forward, what comes every hour goes on', () => {
    expect(next('0 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00+01:00', 3)).toEqual([
      '2026-03-29T01:00:00+01:00',
      '2026-03-29T03:00:00+02:00',
      '2026-03-29T04:00:00+02:00',
    ]);
  });
  test('back, what falls into the hour that comes twice happens twice', () => {
    expect(next('30 1 * * *', 'America/New_York', '2026-11-01T00:00:00-04:00', 3)).toEqual([
      '2026-11-01T01:30:00-04:00',
      '2026-11-01T01:30:00-05:00',
      '2026-11-02T01:30:00-05:00',
    ]);
  });
  test('at midnight, a day without one is passed over', () => {
    expect(next('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T00:00:00-03:00', 1)).toEqual(['2018-11-05T00:00:00-02:00']);
  });
  test('by half an hour, nothing is lost', () => {
    expect(next('*/30 * * * *', 'Australia/Lord_Howe', '2026-10-04T01:00:00+10:30', 3)).toEqual([
      '2026-10-04T01:30:00+10:30',
      '2026-10-04T02:30:00+11:00',
      '2026-10-04T03:00:00+11:00',
    ]);
  });
});

test('of schedules by chance, around days on which clocks are set, it finds the minute that a look at every minute finds', () => {
  const random = seededRandom(11);
  const below = (limit: number): number => Math.floor(random() * limit);
  const days = ['2026-03-08', '2026-11-01', '2026-03-29', '2026-10-25', '2026-04-05', '2026-10-04', '2018-11-04', '2018-02-18'];
  const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata'].map(zoneOf);
  for (let round = 0; round < 20; round++) {
    const text = `${below(60)}/${1 + below(30)} ${below(24)}${random() < 0.5 ? '' : `-${23}`} ${random() < 0.5 ? '*' : '*/2'} * ${random() < 0.7 ? '*' : below(7)}`;
    const schedule = parseCronSchedule(text);
    const zone = zones[below(zones.length)] ?? zoneOf('UTC');
    const afterMs = Date.parse(`${days[below(days.length)]}T00:00:00Z`) + (below(48) - 24) * 1_800_000;
    const found = nextTime(schedule, zone, afterMs);
    if (schedule.kind !== 'fields' || found === undefined) throw new Error(`${text} has a next time`);
    const matches = (atMs: number): boolean => {
      const wall = zone.wallClock(atMs);
      const [byMonth, byWeek] = [schedule.daysOfMonth.has(wall.day), schedule.daysOfWeek.has(wall.dayOfWeek)];
      const day = schedule.daysMustAgree ? byMonth && byWeek : byMonth || byWeek;
      return day && schedule.hours.has(wall.hour) && schedule.minutes.has(wall.minute);
    };
    let lookedMs = (Math.floor(afterMs / 60_000) + 1) * 60_000;
    while (!matches(lookedMs) && lookedMs < found) lookedMs += 60_000;
    expect([text, zone.format(found)]).toEqual([text, zone.format(lookedMs)]);
  }
});
