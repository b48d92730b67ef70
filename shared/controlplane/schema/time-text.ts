/** A text that is no RFC 3339 time; the message is the one of Go's time.Parse. */
export class TimeError extends Error {
  constructor(text: string, layout = '2006-01-02T15:04:05Z07:00', rest = text, part = '2006') {
    super(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`,
    );
    this.name = 'TimeError';
  }
}

const CANONICAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:Z|[+-]\d\d:\d\d)$/;
const MICRO_FRACTION = /[.,]\d{6}(?:Z|[+-]\d\d:\d\d)$/;
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';
/** The zero time, which JSON shows as null. */
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

/** metav1.Time as the server writes it: UTC, the fraction of a second cut off. Throws TimeError. */
export function canonicalTime(text: string): string | null {
  const millis = readTime(text);
  if (millis === ZERO_TIME_MS) return null;
  return CANONICAL_TIME.test(text) ? text : `${new Date(millis).toISOString().slice(0, 19)}Z`;
}

/** metav1.MicroTime: UTC with exactly six digits of fraction, and given with no other number of them. Throws TimeError. */
export function canonicalMicroTime(text: string): string | null {
  const millis = readTime(text);
  if (!MICRO_FRACTION.test(text)) throw new TimeError(text, MICRO_LAYOUT, text.slice('2006-01-02T15:04:05'.length), '.000000');
  const fraction = RFC_3339.exec(text)?.[2] ?? '';
  if (millis === ZERO_TIME_MS && /^0*$/.test(fraction)) return null;
  return `${new Date(millis).toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

function readTime(text: string): number {
  const match = RFC_3339.exec(text);
  // Three digits of fraction are as many as Date.parse is sure to take.
  const parsed = match === null ? Number.NaN : Date.parse(text.replace(/[.,]\d+/, ''));
  // Date.parse rolls 31 February over into March; Go refuses it.
  if (Number.isNaN(parsed) || !isDayOfMonth(text)) throw new TimeError(text);
  return parsed;
}

const isDayOfMonth = (text: string): boolean => {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
};
