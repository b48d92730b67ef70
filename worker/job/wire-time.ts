/** Times as they stand on the wire: RFC 3339, UTC, whole seconds (metav1.Time cuts the fraction off). */

/** Milliseconds since the epoch; undefined for null, an absent field or text that is no time. */
export function parseTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const millis = Date.parse(text);
  return Number.isNaN(millis) ? undefined : millis;
}

export const formatTime = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`;
