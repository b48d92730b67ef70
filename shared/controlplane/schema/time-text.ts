import { toWireTime } from '../../api/wire-time.ts';

/** A text that is no time; the message is the one of Go's time.Parse. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimeError';
  }
}

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_TIME_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';
const CANONICAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** The zero time, which JSON shows as null. */
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

/** metav1.Time as the server writes it: UTC, the fraction of a second cut off. Throws TimeError. */
export function canonicalTime(text: string): string | null {
  const { instantMs } = parseTime(text, TIME_LAYOUT);
  if (instantMs === ZERO_TIME_MS) return null;
  return CANONICAL_TIME.test(text) ? text : toWireTime(instantMs);
}

/** metav1.MicroTime: UTC with exactly six digits of fraction, which the text must have too. Throws TimeError. */
export function canonicalMicroTime(text: string): string | null {
  const { instantMs, fraction } = parseTime(text, MICRO_TIME_LAYOUT);
  if (instantMs === ZERO_TIME_MS && fraction === '.000000') return null;
  return `${toWireTime(instantMs).slice(0, -1)}${fraction}Z`;
}

/** The parts of a layout with what a text may have in their place. */
const PARTS: readonly (readonly [layout: string, pattern: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
];
const ANY_FRACTION = /^[.,]\d+/;
const SIX_DIGITS = /^\.\d{6}/;
const ZONE = /^(?:Z|[+-]\d\d:\d\d)/;

/** Milliseconds of the whole seconds, and the fraction as it stands. */
function parseTime(text: string, layout: string): { readonly instantMs: number; readonly fraction: string } {
  const refuse = (rest: string, part: string): TimeError =>
    new TimeError(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`,
    );
  let rest = text;
  for (const [part, pattern] of PARTS) {
    if (!pattern.test(rest)) throw refuse(rest, part);
    rest = rest.slice(part.length);
  }
  const seconds = text.slice(0, text.length - rest.length);
  const fraction = (layout === MICRO_TIME_LAYOUT ? SIX_DIGITS : ANY_FRACTION).exec(rest)?.[0] ?? '';
  if (fraction === '' && layout === MICRO_TIME_LAYOUT) throw refuse(rest, '.000000');
  const zone = rest.slice(fraction.length);
  if (!ZONE.test(zone)) throw refuse(zone, 'Z07:00');
  const extra = zone.replace(ZONE, '');
  if (extra !== '') throw new TimeError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(extra)}`);
  const unit = outOfRange(seconds);
  if (unit !== undefined) throw new TimeError(`parsing time ${JSON.stringify(text)}: ${unit} out of range`);
  return { instantMs: Date.parse(seconds + zone), fraction };
}

function outOfRange(seconds: string): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = seconds.split(/[-T:]/).map(Number);
  if (month < 1 || month > 12) return 'month';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  if (second > 59) return 'second';
  return day < 1 || day > daysIn(year, month) ? 'day' : undefined;
}

const daysIn = (year: number, month: number): number => {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
};
