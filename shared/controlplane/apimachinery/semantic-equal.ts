/**
 * Equality of two values of an API object as upstream's Semantic.DeepEqual sees it: an absent list, a null and an empty list are one
 * and the same. An empty object is not absent: where a decoded object keeps one, it is a set pointer such as `emptyDir: {}`.
 */
export const semanticEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && listsEqual(a, b);
  return isRecord(a) && isRecord(b) && recordsEqual(a, b);
};

const isNothing = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const listsEqual = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, i) => semanticEqual(item, b[i]));

const recordsEqual = (a: Record<string, unknown>, b: Record<string, unknown>): boolean => {
  for (const key in a) if (!semanticEqual(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && !isNothing(b[key])) return false;
  return true;
};
