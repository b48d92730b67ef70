/** How much memory the caches of one server may take together. */
export interface ObjectBudget {
  /** Counts so many bytes more, or fewer; false, and nothing is counted, when that would be too many. */
  add(bytes: number): boolean;
  readonly limitBytes: number;
}

export function createObjectBudget(limitBytes: number): ObjectBudget {
  let taken = 0;
  return {
    limitBytes,
    add(bytes) {
      if (bytes > 0 && taken + bytes > limitBytes) return false;
      taken += bytes;
      return true;
    },
  };
}

/** What a cache adds to an object: its key, and entries in a map and some indexes. */
const BYTES_PER_OBJECT = 512;
const BYTES_PER_LEVEL = 40;
const BYTES_PER_FIELD = 16;
const BYTES_PER_TEXT = 24;

/** About how much memory a JSON value takes in a cache, in bytes. */
export function memoryOf(object: object): number {
  return BYTES_PER_OBJECT + sizeOf(object);
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return BYTES_PER_TEXT + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = BYTES_PER_LEVEL;
  if (Array.isArray(value)) for (const item of value) bytes += BYTES_PER_FIELD + sizeOf(item);
  // Names of fields are many, but the same in all objects, except where they are data.
  else for (const name in value) bytes += BYTES_PER_FIELD + name.length + sizeOf((value as Record<string, unknown>)[name]);
  return bytes;
}
