/** A JSON value that the patches of this directory change. */
export type JsonObject = { [field: string]: unknown };

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equality of JSON values; the order of keys does not matter. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => jsonEquals(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key], right[key]));
}

/** A deep copy of a JSON value. */
export function cloneJson<T>(value: T): T;
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => cloneJson(item));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key in value) setField(copy, key, cloneJson(value[key]));
  return copy;
}

/** Assigns a field, also one called `__proto__`, which a plain assignment would take for the prototype. */
export function setField(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** A field of its own, never one that every object inherits. */
export const fieldOf = (target: JsonObject, key: string): unknown => (Object.hasOwn(target, key) ? target[key] : undefined);

/** A copy of what a patch adds: its nulls have nothing to remove. Those that are elements of lists stay. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setField(kept, key, withoutNulls(value[key]));
  return kept;
}

/** JSON as Go writes it: the keys of a map in order. */
export const goJson = (value: unknown): string => JSON.stringify(withSortedKeys(value)) ?? 'null';

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isJsonObject(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) setField(sorted, key, withSortedKeys(value[key]));
  return sorted;
}
