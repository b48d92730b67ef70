import { createHash } from 'node:crypto';
import { payloadHash } from '../../shared/api/payload-hash.ts';

/**
 * What a key goes by in the ledger: keys may be long, and contain what names of fields may not. 128 bits, which nobody makes two texts for
 * by trying.
 */
export const keyHash = (key: string): string => createHash('sha256').update(key).digest().subarray(0, 16).toString('base64url');

/** What payloads are told apart by, in the ledger and on Jobs: as many bits of their hash. */
export const shortPayloadHash = (data: unknown): string => Buffer.from(payloadHash(data), 'hex').subarray(0, 16).toString('base64url');
