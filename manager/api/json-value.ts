export { isJsonObject } from '../../shared/api/json-value.ts';

/** Undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Each caller reports its own problem.
  }
}
