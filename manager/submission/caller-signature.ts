import { createHmac, timingSafeEqual } from 'node:crypto';
import { payloadHash } from '../../shared/api/payload-hash.ts';
import type { CallerSignature } from '../../shared/api/submission-signature.ts';
import { isJsonObject } from '../api/json-value.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { sanitizeText } from '../api/sanitize-text.ts';

/** A submission as it lies on the queue of a tenant. */
export type SubmittedData = {
  /** Id of the tenant. */
  readonly tenant: string;
  readonly key: string;
  readonly data: unknown;
};

const NAME_LENGTH_MAX = 256;

/**
 * Says beside a submission which user submitted it over HTTP. Whoever may write to the tenant's queue can copy it, but to the same key and
 * payload alone, and those were submitted by that user.
 */
export function signCaller({ current }: RecordKeys, submitted: SubmittedData, username: string): CallerSignature {
  const user = sanitizeText(username, NAME_LENGTH_MAX);
  return { user, seal: digest(current, submitted, user).toString('base64url') };
}

/** The user who submitted it over HTTP; undefined where it came another way, or says so itself. */
export function callerOf({ current, others }: RecordKeys, submitted: SubmittedData): string | undefined {
  const signature = isJsonObject(submitted.data) ? submitted.data['signature'] : undefined;
  if (!isJsonObject(signature)) return undefined;
  const { user, seal } = signature;
  if (typeof user !== 'string' || typeof seal !== 'string') return undefined;
  const given = Buffer.from(seal, 'base64url');
  const isOurs = [current, ...others].some((key) => {
    const wanted = digest(key, submitted, user);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  return isOurs ? user : undefined;
}

/** The first text says what is sealed, because the key seals other things, too. The hash of a payload leaves signatures out. */
const digest = (secret: Uint8Array, { tenant, key, data }: SubmittedData, user: string): Buffer =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['switchyard.dev/submitted-by', tenant, key, payloadHash(data), user]))
    .digest();
