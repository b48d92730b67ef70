import type { CronSchedule } from '../../kinds/cron-schedule.ts';
import type { TimeZone, WallClock } from '../../kinds/time-zone.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** The most that a clock is set forward or back at once, with room to spare. */
const SHIFT_MINUTES = 120;
/** How far ahead robfig/cron looks before it says that there is no such time. */
const YEARS_MAX = 5;

/**
 * The first time after `afterMs` at which the zone's wall clock shows what the schedule asks for; undefined when it never does, such as on
 * the 31st of February. As with robfig/cron, what falls into the hour that is left out when clocks are set forward does not happen that
 * day, and what falls into the hour that comes twice happens twice.
 */
export function nextTime(schedule: CronSchedule, zone: TimeZone, afterMs: number): number | undefined {
  if (schedule.kind === 'every') return Math.floor(afterMs / 1000) * 1000 + schedule.periodMs;
  // Five years of minutes need not be looked through for nothing.
  if (schedule.minutes.size === 0 || schedule.hours.size === 0) return undefined;
  let atMs = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
  const lastYear = zone.wallClock(atMs).year + YEARS_MAX;
  for (;;) {
    const wall = zone.wallClock(atMs);
    if (wall.year > lastYear) return undefined;
    if (!schedule.months.has(wall.month) || !matchesDay(schedule, wall)) atMs += minutesInDay(wall) * MINUTE_MS;
    else if (!schedule.hours.has(wall.hour)) atMs += (60 - wall.minute) * MINUTE_MS;
    else if (!schedule.minutes.has(wall.minute)) atMs += MINUTE_MS;
    else return atMs;
  }
}

/** Surely not beyond the day, whatever happens to the clock in it: at least the rest of the hour. */
function minutesInDay({ hour, minute }: WallClock): number {
  return Math.max(60 - minute, DAY_MINUTES - hour * 60 - minute - SHIFT_MINUTES);
}

function matchesDay({ daysOfMonth, daysOfWeek, daysMustAgree }: CronSchedule & { kind: 'fields' }, { day, dayOfWeek }: WallClock): boolean {
  const [byMonth, byWeek] = [daysOfMonth.has(day), daysOfWeek.has(dayOfWeek)];
  return daysMustAgree ? byMonth && byWeek : byMonth || byWeek;
}
