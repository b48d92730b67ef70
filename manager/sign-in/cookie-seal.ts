import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { RecordKey, RecordKeys } from '../api/record-seal.ts';

/** Seals what a browser keeps for the dashboard: nobody else can read or change it. */
export interface CookieSeal {
  seal(value: object): string;
  /** Undefined: it was not sealed with these keys for this use, or was changed. */
  open(sealed: string): unknown;
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A seal that all replicas share, by a key of its own that is derived from each record key (HKDF, RFC 5869). `use` separates kinds of
 * cookies, and dashboards: a cookie of one use does not open for another.
 */
export function createCookieSeal({ current, others }: RecordKeys, use: readonly string[]): CookieSeal {
  const label = JSON.stringify(['switchyard.dev/dashboard-cookie', ...use]);
  const derived = (key: RecordKey): Buffer => Buffer.from(hkdfSync('sha256', key, '', label, KEY_BYTES));
  const sealing = derived(current);
  const opening = [sealing, ...others.map(derived)];
  return {
    seal(value) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealing, nonce);
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      // Several texts decode to the same bytes: only the one that was written counts.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined;
      for (const key of opening) {
        const text = opened(key, bytes);
        if (text !== undefined) return JSON.parse(text);
      }
      return undefined;
    },
  };
}

function opened(key: Buffer, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined; // the tag does not fit
  }
}
