import { isJsonObject } from './json-value.ts';

/** A JSON value. An absent field, an undefined one and a null one are equal, as they are to an API server. */
type Json = unknown;

/** True when two documents are equal. The order of fields does not matter, the order of list items does. */
export function sameJson(a: Json, b: Json): boolean {
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) && isAbsent(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (isJsonObject(a) && isJsonObject(b)) return fieldsOf(a, b).every((field) => sameJson(a[field], b[field]));
  return a === b;
}

/** The JSON merge patch (RFC 7386) that turns `from` into `to`; undefined when they are equal. Lists are replaced whole. */
export function mergePatchBetween(from: Json, to: Json): Json {
  if (sameJson(from, to)) return undefined;
  if (isAbsent(to)) return null;
  if (!isJsonObject(from) || !isJsonObject(to)) return to;
  const patch: Record<string, Json> = {};
  for (const field of fieldsOf(from, to)) {
    const change = mergePatchBetween(from[field], to[field]);
    if (change !== undefined) patch[field] = change;
  }
  return patch;
}

const isAbsent = (value: Json): value is null | undefined => value === null || value === undefined;
const fieldsOf = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];
