export { isJsonObject } from '../../shared/api/json-value.ts';

/** Undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  // Most Jobs lack most annotations, and an exception costs as much as a reconcile.
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Each caller reports its own problem.
  }
}
