/**
 * The schedule of a CronJob as robfig/cron v3 reads it, which is upstream's parser: five fields (lists, ranges, steps, names of months
 * and weekdays; Sunday is 0 and never 7), or `@hourly` and the like, or `@every 90m`.
 */
export type CronSchedule =
  | {
      readonly kind: 'fields';
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly daysOfMonth: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      readonly daysOfWeek: ReadonlySet<number>;
      /** A day must match by month and by week, because one of the two says `*`; otherwise one of them is enough. */
      readonly daysMustAgree: boolean;
    }
  | { readonly kind: 'every'; readonly periodMs: number };

/** Why a text is no schedule, in the parser's words. */
export class CronScheduleError extends Error {
  override readonly name = 'CronScheduleError';
}

/** Throws {@link CronScheduleError}. */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === '') throw new CronScheduleError('empty spec string');
  if (text.startsWith('@')) return parseDescriptor(text);
  return parseFields(text);
}

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const EVERY = '@every ';

function parseDescriptor(text: string): CronSchedule {
  const fields = Object.hasOwn(DESCRIPTORS, text) ? DESCRIPTORS[text] : undefined;
  if (fields !== undefined) return parseFields(fields);
  if (!text.startsWith(EVERY)) throw new CronScheduleError(`unrecognized descriptor: ${text}`);
  const periodMs = parseGoDuration(text.slice(EVERY.length), (problem) => {
    throw new CronScheduleError(`failed to parse duration ${text}: ${problem}`);
  });
  // Whole seconds, and at least one.
  return { kind: 'every', periodMs: Math.max(1, Math.trunc(periodMs / 1000)) * 1000 };
}

type Bounds = { readonly min: number; readonly max: number; readonly names?: readonly string[] };
const MINUTES: Bounds = { min: 0, max: 59 };
const HOURS: Bounds = { min: 0, max: 23 };
const DAYS_OF_MONTH: Bounds = { min: 1, max: 31 };
const MONTHS: Bounds = { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] };
const DAYS_OF_WEEK: Bounds = { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] };

function parseFields(text: string): CronSchedule {
  const fields = text.trim() === '' ? [] : text.trim().split(/\s+/);
  if (fields.length !== 5) throw new CronScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  const minutes = parseField(minute, MINUTES);
  const hours = parseField(hour, HOURS);
  const daysOfMonth = parseField(dayOfMonth, DAYS_OF_MONTH);
  const months = parseField(month, MONTHS);
  const daysOfWeek = parseField(dayOfWeek, DAYS_OF_WEEK);
  return {
    kind: 'fields',
    minutes: minutes.values,
    hours: hours.values,
    daysOfMonth: daysOfMonth.values,
    months: months.values,
    daysOfWeek: daysOfWeek.values,
    daysMustAgree: daysOfMonth.isStar || daysOfWeek.isStar,
  };
}

type Field = { readonly values: ReadonlySet<number>; readonly isStar: boolean };

function parseField(field: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isStar = false;
  // Empty elements of a list are passed over.
  for (const range of field.split(',').filter((each) => each !== '')) {
    const { start, end, step, star } = parseRange(range, bounds);
    for (let value = start; value <= end; value += step) values.add(value);
    isStar ||= star;
  }
  return { values, isStar };
}

type Range = { readonly start: number; readonly end: number; readonly step: number; readonly star: boolean };

function parseRange(text: string, bounds: Bounds): Range {
  const [range = '', stepText, ...furtherSteps] = text.split('/');
  const [low = '', high, ...furtherEnds] = range.split('-');
  const star = low === '*' || low === '?';
  const start = star ? bounds.min : parseNumber(low, bounds);
  if (!star && furtherEnds.length > 0) throw new CronScheduleError(`too many hyphens: ${text}`);
  const namedEnd = star ? bounds.max : high === undefined ? start : parseNumber(high, bounds);
  if (furtherSteps.length > 0) throw new CronScheduleError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseWholeNumber(stepText);
  // `5/15` goes on to the end of the field.
  const end = stepText !== undefined && high === undefined ? bounds.max : namedEnd;
  if (start < bounds.min) throw new CronScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (end > bounds.max) throw new CronScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${text}`);
  if (start > end) throw new CronScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new CronScheduleError(`step of range should be a positive number: ${text}`);
  return { start, end, step, star: star && step === 1 };
}

function parseNumber(text: string, { min, names = [] }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseWholeNumber(text) : index + min;
}

function parseWholeNumber(text: string): number {
  const problem = !/^[+-]?\d+$/.test(text) ? 'invalid syntax' : Math.abs(Number(text)) > 2 ** 63 ? 'value out of range' : undefined;
  if (problem !== undefined) {
    throw new CronScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${problem}`);
  }
  if (Number(text) < 0) throw new CronScheduleError(`negative number (${Number(text)}) not allowed: ${text}`);
  return Number(text);
}

const UNITS_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1h30m`, as Go's time.ParseDuration reads it, in milliseconds. */
function parseGoDuration(text: string, refuse: (problem: string) => never): number {
  const quoted = JSON.stringify(text);
  const [, sign = '', amount = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (amount === '0') return 0;
  if (amount === '') refuse(`time: invalid duration ${quoted}`);
  let totalMs = 0;
  for (let rest = amount; rest !== ''; ) {
    const [whole = '', number = '', unit = ''] = /^(\d+\.?\d*|\.\d+)([^.\d]*)/.exec(rest) ?? [];
    if (number === '') refuse(`time: invalid duration ${quoted}`);
    if (unit === '') refuse(`time: missing unit in duration ${quoted}`);
    const unitMs = Object.hasOwn(UNITS_MS, unit) ? UNITS_MS[unit] : undefined;
    if (unitMs === undefined) return refuse(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
    totalMs += Number(number) * unitMs;
    rest = rest.slice(whole.length);
  }
  return sign === '-' ? -totalMs : totalMs;
}
