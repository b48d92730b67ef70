import { fieldOf, isJsonObject, type JsonObject, setField } from '../apimachinery/json.ts';

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

/** A copy of what the patch adds. Its nulls have nothing to remove; those that are elements of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setField(kept, key, withoutNulls(value[key]));
  return kept;
}
