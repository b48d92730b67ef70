/** Times as they stand on the wire: RFC 3339 in UTC. */

/** Whole seconds, as Kubernetes stores metav1.Time: the fraction is cut off. */
export const toWireTime = (instantMs: number): string => `${new Date(instantMs).toISOString().slice(0, 19)}Z`;

/** Microseconds, as Kubernetes stores metav1.MicroTime. */
export const toWireMicroTime = (instantMs: number): string => `${new Date(instantMs).toISOString().slice(0, -1)}000Z`;

/** Milliseconds since the epoch; undefined for null, an absent field or text that is no time. */
export function parseWireTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const instantMs = Date.parse(text);
  return Number.isNaN(instantMs) ? undefined : instantMs;
}
