/**
 * A JSON value as CEL sees it when no schema tells more: whole numbers are ints, others doubles, and
 * objects are maps.
 */
export function toCelValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCelValue);
  if (typeof value !== 'object' || value === null) return value;
  const converted: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) converted[key] = toCelValue(each);
  return converted;
}

/** cel-go's sentence about bytes that are no text. */
export const INVALID_UTF8 = 'invalid UTF-8 in bytes, cannot convert to string';
