import { stringify } from 'yaml';
import { plainDocument } from './plain-text.ts';

/** Any value as JSON that a terminal may be shown, and that says exactly the same. */
export const asJson = (value: unknown): string => plainDocument(`${JSON.stringify(value, undefined, 2)}\n`);

/** The same as YAML, which tools of YAML 1.1 read alike. */
export function asYaml(value: unknown): string {
  const text = stringify(value, { compat: 'yaml-1.1', lineWidth: 0 });
  // Only in double quotes can a character be written by its number.
  return plainDocument(text) === text
    ? text
    : plainDocument(stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' }));
}
