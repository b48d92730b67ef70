/**
 * Resource versions of one resource are comparable: decimal numbers of any length, without leading zeros (KEP-5504). A server that gives
 * others, and the empty version of a cache that has not been filled, compare with nothing.
 */
export const isResourceVersion = (text: string): boolean => /^[1-9]\d*$/.test(text);

/** Whether version `a` is before version `b`; false when they cannot be compared. */
export const isOlder = (a: string, b: string): boolean =>
  isResourceVersion(a) && isResourceVersion(b) && (a.length === b.length ? a < b : a.length < b.length);
