const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|[+-](\d\d):(\d\d))$/;
const DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const NANOSECONDS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 };
const NANOSECONDS_MAX = 2 ** 63;

/** Whether Go's time.Parse takes it for RFC 3339: the day must be one that the month has. */
export function isRfc3339Time(text: string): boolean {
  const [, year = '', month = '', day = '', ...rest] = RFC3339.exec(text) ?? [];
  if (!isDate(`${year}-${month}-${day}`)) return false;
  const [hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = rest.map(Number);
  return hour < 24 && minute < 60 && second < 60 && (zoneHour || 0) <= 24 && (zoneMinute || 0) < 60;
}

/** Whether it is a day of the calendar, as `2024-02-29` is. */
export function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1];
  return year !== '' && days !== undefined && Number(day) >= 1 && Number(day) <= days;
}

/** Whether Go's time.ParseDuration takes it: `1h30m`, `-1.5s`, `0`. */
export function isGoDuration(text: string): boolean {
  if (!DURATION.test(text)) return false;
  const nanoseconds = [...text.matchAll(/([\d.]+)([a-zµμ]+)/g)].map(([, count, unit = '']) => Number(count) * (NANOSECONDS[unit] ?? 0));
  return nanoseconds.reduce((sum, each) => sum + each, 0) < NANOSECONDS_MAX;
}

/** As strfmt reads it: a day of the calendar, and a time whose fraction may begin with any character. */
export function isDateTime(value: string): boolean {
  const [date = '', time = ''] = value.toLowerCase().split('t');
  const [, hour = '', minute = '', second = ''] = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time) ?? [];
  return isDate(date) && hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}
