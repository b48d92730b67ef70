import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { isJsonObject } from '../api/json-value.ts';
import { payloadHash } from '../../shared/api/payload-hash.ts';
import { signedText, type SubmissionSignature } from '../../shared/api/submission-signature.ts';
import type { Submission } from './submission-queue.ts';
import type { Tenant } from './tenant.ts';

/**
 * Why the submission is not taken from who says to have sent it; undefined where it is signed as it should be, or needs not be. Whether the
 * signature has expired is asked of what comes for the first time alone: what has become a Job is looked at again hours later.
 */
export function signatureProblem(
  { label, signingKeys }: Pick<Tenant, 'label' | 'signingKeys'>,
  submission: Submission,
  nowMs: number,
): string | undefined {
  if (signingKeys.length === 0) return undefined;
  const names = signingKeys.map(({ name }) => name).join(', ');
  const signature = signatureIn(submission.data);
  if (signature === undefined)
    return `signature: is missing; this queue takes signed submissions alone: {manifest, signature: {key, expires, value}} by one of ${names}`;
  const signer = signingKeys.find(({ name }) => name === signature.key);
  if (signer === undefined) return `signature.key: is ${JSON.stringify(signature.key.slice(0, 64))}, and this queue knows ${names}`;
  const publicKey = ed25519KeyOf(signer.publicKey);
  const { key } = submission;
  const text = signedText({ queue: label, key, payloadHash: payloadHash(submission.data), expires: signature.expires });
  if (publicKey === undefined || !verify(null, Buffer.from(text), publicKey, Buffer.from(signature.value, 'base64'))) {
    return `signature.value: is not that of ${signer.name} for the queue ${label}, the key ${JSON.stringify(key.slice(0, 64))} and this payload; sign these, and choose the key yourself`;
  }
  if (submission.parked !== undefined || submission.delivered !== undefined) return undefined;
  const expiresMs = Date.parse(signature.expires);
  if (!(expiresMs > nowMs)) return `signature.expires: is ${signature.expires.slice(0, 64)}, which is over; sign it again`;
  return signer.notAfter > nowMs
    ? undefined
    : `signature.key: ${signer.name} was valid until ${new Date(signer.notAfter).toISOString()}; use another`;
}

function signatureIn(data: unknown): SubmissionSignature | undefined {
  const signature = isJsonObject(data) ? data['signature'] : undefined;
  if (!isJsonObject(signature)) return undefined;
  const { key, expires, value } = signature;
  return typeof key === 'string' && typeof expires === 'string' && typeof value === 'string' ? { key, expires, value } : undefined;
}

/** The DER of a SubjectPublicKeyInfo of Ed25519, up to the 32 bytes of the key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_BYTES = 32;

/** An Ed25519 public key as PEM, or as base64 of its DER or of its 32 bytes; undefined where the text is none of these. */
export function ed25519KeyOf(text: string): KeyObject | undefined {
  try {
    const key = text.includes('-----BEGIN') ? createPublicKey(text) : createPublicKey({ key: derOf(text), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    // OpenSSL has many words for it.
    return undefined;
  }
}

function derOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === RAW_BYTES ? Buffer.concat([SPKI_PREFIX, bytes]) : bytes;
}
