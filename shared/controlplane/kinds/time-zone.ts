/** What a clock on the wall of a time zone shows. Months and days of the month count from 1, days of the week from 0 for Sunday. */
export type WallClock = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly dayOfWeek: number;
};

export interface TimeZone {
  wallClock(atMs: number): WallClock;
  /** RFC 3339 with the zone's offset at that instant, `Z` for none. */
  format(atMs: number): string;
}

/** The zone of this name in the IANA database, as Go's time.LoadLocation looks for it; undefined when there is none. */
export function findTimeZone(name: string): TimeZone | undefined {
  if (name === '' || name === 'UTC') return UTC;
  // Names of zones are names of files: their case counts, and an offset is none.
  if (/^[+\-\d]/.test(name)) return undefined;
  try {
    const formatter = new Intl.DateTimeFormat('en-US', { ...PARTS, timeZone: name });
    const known = formatter.resolvedOptions().timeZone;
    return known !== name && known.toLowerCase() === name.toLowerCase() ? undefined : zoneOf(formatter);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export const UTC: TimeZone = {
  wallClock: (atMs) => {
    const date = new Date(atMs);
    return {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
      dayOfWeek: date.getUTCDay(),
    };
  },
  format: (atMs) => `${new Date(atMs).toISOString().slice(0, 19)}Z`,
};

const PARTS: Intl.DateTimeFormatOptions = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
};

function zoneOf(formatter: Intl.DateTimeFormat): TimeZone {
  const wallClock = (atMs: number): WallClock => {
    const parts = Object.fromEntries(formatter.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    return { year, month, day, hour, minute, dayOfWeek: new Date(Date.UTC(year, month - 1, day)).getUTCDay() };
  };
  const format = (atMs: number): string => {
    const { year, month, day, hour, minute } = wallClock(atMs);
    const shownMs = Date.UTC(year, month - 1, day, hour, minute) + (atMs % 60_000);
    const offset = Math.round((shownMs - atMs) / 60_000);
    return `${new Date(shownMs).toISOString().slice(0, 19)}${offset === 0 ? 'Z' : offsetText(offset)}`;
  };
  return { wallClock, format };
}

/** Minutes as `+05:30`. */
const offsetText = (minutes: number): string => {
  const size = Math.abs(minutes);
  const digits = (number: number): string => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
};
