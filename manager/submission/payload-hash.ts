import { createHash } from 'node:crypto';
import { isJsonObject } from '../../shared/api/json-value.ts';

/**
 * What tells the payload of one submission from that of another: the same for whatever order its fields are in, and without its signature, which may be
 * made anew for the same payload.
 */
export function payloadHash(data: unknown): string {
  const signed = isJsonObject(data) && 'manifest' in data ? withoutSignature(data) : data;
  return shortHash(JSON.stringify(signed, sortedKeys) ?? '');
}

/** What a key goes by in the ledger: keys may be long, and contain what names of fields may not. */
export const keyHash = (key: string): string => shortHash(key);

/** 128 bits, which nobody makes two texts for by trying. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

function withoutSignature(data: object): object {
  const { signature: _signature, ...rest } = data as Readonly<Record<string, unknown>>;
  return rest;
}

const sortedKeys = (_key: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => Number(a > b) - Number(a < b))) : value;
