import { createHmac, timingSafeEqual } from 'node:crypto';
import { payloadHash } from '../../shared/api/payload-hash.ts';
import type { CallerSignature } from '../../shared/api/submission-signature.ts';
import { isJsonObject } from '../api/json-value.ts';
import type { RecordKey, RecordKeys } from '../api/record-seal.ts';
import { sanitizeText } from '../api/sanitize-text.ts';

/** A submission as it lies on the queue of a tenant. */
export type SubmittedData = {
  /** Id of the tenant. */
  readonly tenant: string;
  readonly key: string;
  readonly data: unknown;
};

/** A submission that somebody cancels; `submittedAt` in epoch milliseconds. */
export type CancelledSubmission = { readonly tenant: string; readonly key: string; readonly submittedAt: number };

const NAME_LENGTH_MAX = 256;

/**
 * Says beside a submission which user submitted it over HTTP. Whoever may write to the tenant's queue can copy it, but to the same key and
 * payload alone, and those were submitted by that user.
 */
export const signCaller = (keys: RecordKeys, submitted: SubmittedData, username: string): CallerSignature =>
  signed(keys, submittedBy(submitted), username);

/** The user who submitted it over HTTP; undefined where it came another way, or says so itself. */
export function callerOf(keys: RecordKeys, submitted: SubmittedData): string | undefined {
  return signerOf(keys, submittedBy(submitted), isJsonObject(submitted.data) ? submitted.data['signature'] : undefined);
}

/** Says beside a request to cancel a submission which user cancels it over HTTP; copied, it serves for that submission alone. */
export const signCanceller = (keys: RecordKeys, cancelled: CancelledSubmission, username: string): CallerSignature =>
  signed(keys, cancelledBy(cancelled), username);

/** The user who cancelled it over HTTP, by what stands beside the request; undefined where nobody, or another, has sealed that. */
export const cancellerOf = (keys: RecordKeys, cancelled: CancelledSubmission, signature: unknown): string | undefined =>
  signerOf(keys, cancelledBy(cancelled), signature);

function signed({ current }: RecordKeys, sealedFor: readonly unknown[], username: string): CallerSignature {
  const user = sanitizeText(username, NAME_LENGTH_MAX);
  return { user, seal: digest(current, sealedFor, user).toString('base64url') };
}

function signerOf({ current, others }: RecordKeys, sealedFor: readonly unknown[], signature: unknown): string | undefined {
  if (!isJsonObject(signature)) return undefined;
  const { user, seal } = signature;
  if (typeof user !== 'string' || typeof seal !== 'string') return undefined;
  const given = Buffer.from(seal, 'base64url');
  const isOurs = [current, ...others].some((key) => {
    const wanted = digest(key, sealedFor, user);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  return isOurs ? user : undefined;
}

/** The first text says what is sealed, because the key seals other things, too. The hash of a payload leaves signatures out. */
const submittedBy = ({ tenant, key, data }: SubmittedData): readonly unknown[] => [
  'switchyard.dev/submitted-by',
  tenant,
  key,
  payloadHash(data),
];
const cancelledBy = ({ tenant, key, submittedAt }: CancelledSubmission): readonly unknown[] => [
  'switchyard.dev/cancelled-by',
  tenant,
  key,
  submittedAt,
];
const digest = (secret: RecordKey, sealedFor: readonly unknown[], user: string): Buffer =>
  createHmac('sha256', secret)
    .update(JSON.stringify([...sealedFor, user]))
    .digest();
