export type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields without those that are undefined: an optional field must be absent or have a value, in our types and on the wire. */
export function omitUndefined<T extends object>(fields: T): WithoutUndefined<T> {
  const kept: WithoutUndefined<T> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value as WithoutUndefined<T>[typeof name];
  }
  return kept;
}
