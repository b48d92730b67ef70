import { sameJson } from '../../api/json-diff.ts';
import { isJsonObject } from '../../api/json-value.ts';

/**
 * Paths of fields that were sent and are missing. List items with names are matched by name, because a webhook may add items between them.
 */
export function missingBelow(sent: unknown, kept: unknown, path: string): string[] {
  if (isMissing(sent, kept)) return [path];
  if (Array.isArray(sent)) return missingItems(sent, Array.isArray(kept) ? kept : [], path);
  if (!isJsonObject(sent) || !isJsonObject(kept)) return [];
  return Object.entries(sent).flatMap(([field, value]) => missingBelow(value, kept[field], `${path}.${field}`));
}

function missingItems(sent: readonly unknown[], kept: readonly unknown[], path: string): string[] {
  if (kept.length < sent.length) return [path];
  return sent.flatMap((item, index) => {
    const here = `${path}[${index}]`;
    const name = nameOf(item);
    const candidates =
      name === undefined ? (kept.length === sent.length ? [kept[index]] : kept) : kept.filter((each) => nameOf(each) === name);
    const missing = candidates.map((candidate) => missingBelow(item, candidate, here));
    return missing.find((each) => each.length === 0) ?? missing[0] ?? [here];
  });
}

/** True when all of `sent` is there, in the same order; objects may have further fields. */
export function keeps(sent: unknown, kept: unknown): boolean {
  if (isNothing(sent)) return isNothing(kept) || isJsonObject(kept);
  if (Array.isArray(sent))
    return Array.isArray(kept) && kept.length === sent.length && sent.every((item, index) => keeps(item, kept[index]));
  if (isJsonObject(sent)) return isJsonObject(kept) && Object.entries(sent).every(([field, value]) => keeps(value, kept[field]));
  return sameJson(sent, kept);
}

export const isMissing = (sent: unknown, kept: unknown): boolean => !isNothing(sent) && (kept === undefined || kept === null);

/** Values that API servers omit from storage, because their absence means the same. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.values(value).every(isNothing);
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

function nameOf(item: unknown): string | undefined {
  const name = isJsonObject(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
