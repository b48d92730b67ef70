/**
 * A value as it stands in messages about upstream's internal types, which have no JSON names: field names begin with a capital.
 * Unlike upstream, unset fields are left out; clients should go by the path and the explanation.
 */
export const goValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(goValue);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => (key === 'metadata' ? [key, item] : [capitalised(key), goValue(item)])),
  );
};

const capitalised = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);

/** A map as Go writes it: in the order of its keys. Null when absent. */
export const sortedMap = (map: Readonly<Record<string, string>> | undefined): Record<string, string> | null =>
  map === undefined ? null : Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** A label selector as messages show it. */
export const writtenSelector = (selector: { matchLabels?: Record<string, string> | undefined } | undefined): unknown =>
  selector?.matchLabels === undefined ? selector : { ...selector, matchLabels: sortedMap(selector.matchLabels) };
