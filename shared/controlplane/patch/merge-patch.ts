import { fieldOf, isJsonObject, type JsonObject, setField, withoutNulls } from '../apimachinery/json.ts';

/** RFC 7386: null removes, objects merge, anything else replaces. Returns a new document that shares unchanged parts with the old one. */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch) || !isJsonObject(document)) return withoutNulls(patch);
  const merged: JsonObject = { ...document };
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete merged[key];
    else setField(merged, key, applyMergePatch(fieldOf(merged, key), value));
  }
  return merged;
}
