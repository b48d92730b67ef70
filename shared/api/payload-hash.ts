import { createHash } from 'node:crypto';

/**
 * What a submission's data are, whatever the order of their keys: equal for two submissions that ask for the same. A signature says who
 * asks, and a trace for which request: neither is part of what is asked.
 */
export const payloadHash = (data: unknown): string => createHash('sha256').update(payloadText(data)).digest('hex');

/** What is hashed. */
export function payloadText(data: unknown): string {
  const { signature: _signature, traceparent: _traceparent, ...asked } = isRecord(data) ? data : { data };
  return canonicalJson(asked);
}

/** JSON with the keys of objects in order, and without what has no value. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonicalJson(item ?? null)).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const inOrder = fields.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${inOrder.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
