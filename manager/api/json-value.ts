export { isJsonObject } from '../../shared/api/json-value.ts';

/** Undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Each caller says in its own words what it wanted.
  }
}
