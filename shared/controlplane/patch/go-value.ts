import { isJsonObject } from '../apimachinery/json.ts';

/** A JSON value as Go's `%v` prints the map that holds it: `map[image:x ports:[80]]`. It occurs in error messages. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goValue(value[key])}`);
  return `map[${entries.join(' ')}]`;
}
