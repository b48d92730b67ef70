import { createHash } from 'node:crypto';
import { payloadText } from '../../shared/api/payload-hash.ts';

/** As in shared/api, shorter: it is kept of very many. */
export const payloadHash = (data: unknown): string => shortHash(payloadText(data));

/** What a key goes by in the ledger: keys may be long, and contain what names of fields may not. */
export const keyHash = (key: string): string => shortHash(key);

/** 128 bits, which nobody makes two texts for by trying. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
