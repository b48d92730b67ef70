/** `3s`, `12m`, `5h`, `3d`: how long something takes or is ago, in one unit. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  if (seconds < 90) return `${Math.round(seconds)}s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)}m`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}

/** The same for an age, of which the fraction of a second is of no interest. */
export const age = (ms: number): string => (ms < 10_000 ? `${Math.max(0, Math.floor(ms / 1000))}s` : duration(ms));

export const wholeNumber = (value: number): string => value.toLocaleString('en');

export const count = (number: number, one: string, many = `${one}s`): string => `${wholeNumber(number)} ${number === 1 ? one : many}`;

/** A quantity as people read it: `3.25` instead of `3250m`, `1.5 Gi` instead of `1610612736`. Whatever is no quantity stays as it is. */
export function quantity(text: string): string {
  const [, digits, suffix] = /^(-?\d+(?:\.\d+)?)(m|[kKMGTP]i?)?$/.exec(text) ?? [];
  if (digits === undefined) return text;
  const value = Number(digits);
  if (suffix === 'm') return trimmed(value / 1000);
  if (suffix !== undefined) {
    const [larger, factor] = LARGER[suffix] ?? [];
    return larger !== undefined && factor !== undefined && Math.abs(value) >= factor
      ? quantity(`${value / factor}${larger}`)
      : `${trimmed(value)} ${suffix}`;
  }
  return value.toLocaleString('en');
}

const LARGER: Readonly<Record<string, readonly [string, number]>> = {
  Ki: ['Mi', 1024],
  Mi: ['Gi', 1024],
  Gi: ['Ti', 1024],
  Ti: ['Pi', 1024],
  k: ['M', 1000],
  M: ['G', 1000],
  G: ['T', 1000],
  T: ['P', 1000],
};

/** Steps of an axis of bytes, in Mi: powers of two, of which each is written without a fraction. */
export const BYTE_STEPS: readonly number[] = Array.from({ length: 40 }, (_, power) => 2 ** power);

/** Whether its quantities are bytes. */
export const isOfBytes = (resource: string): boolean =>
  resource === 'memory' || resource.endsWith('storage') || resource.startsWith('hugepages-');

const trimmed = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 1 });

/** `12:31:05`, with the day where that is another one than that of `nowMs`; in the reader's time zone. */
export function moment(ms: number, nowMs: number): string {
  const [at, today] = [new Date(ms), new Date(nowMs)];
  const time = at.toLocaleTimeString('en', { hour12: false });
  return at.toDateString() === today.toDateString()
    ? time
    : `${at.toLocaleDateString('en', { weekday: 'short', day: 'numeric', month: 'short' })}, ${time}`;
}

/** The name, behind the namespace and, of other kinds than Job, the resource. */
export const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
/** The part of a key behind the namespace, by which the manager is asked for a Job or an object of another kind. */
export const behindNamespace = (key: string): string => key.slice(key.indexOf('/') + 1);
export const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

/**
 * `flavor default is short of 2750m cpu`: the first part of a longer explanation, without the name of the queue, which stands elsewhere.
 */
export const firstClause = (text: string): string => (text.split(/; |\n/, 1)[0] ?? text).replace(/^cluster queue [^ :]+: /, '');

/** One field of CSV; a text that a spreadsheet would take for a formula is made a text. */
export function csvField(value: string | number | undefined): string {
  const text = String(value ?? '');
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
