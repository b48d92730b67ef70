import { isObject } from './json-path.ts';

/** One line for each place where two JSON values differ. The order of keys does not matter, that of lists does. */
export function differences(want: unknown, got: unknown, at = ''): string[] {
  if (isObject(want) && isObject(got) && Array.isArray(want) === Array.isArray(got)) {
    const keys = new Set([...Object.keys(want), ...Object.keys(got)]);
    return [...keys].flatMap((key) => differences(want[key], got[key], at === '' ? key : `${at}.${key}`));
  }
  return Object.is(want, got) ? [] : [`${at}: want ${brief(want)}, got ${brief(got)}`];
}

const BRIEF_LENGTH = 300;

function brief(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > BRIEF_LENGTH ? `${text.slice(0, BRIEF_LENGTH)}...` : text;
}
