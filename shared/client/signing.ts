import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { payloadHash } from '../api/payload-hash.ts';
import { signedText, type SubmissionSignature } from '../api/submission-signature.ts';

export type SigningOptions = {
  /** Name of the key in the SubmissionQueue. */
  readonly key: string;
  /** Ed25519, as PEM or as Node has it. */
  readonly privateKey: string | KeyObject;
  /** `namespace/name` of the SubmissionQueue: the signature is for no other. */
  readonly queue: string;
  /** For how long a signature is good; what has become a Job by then goes on. Default: an hour. */
  readonly validMs?: number;
};

const VALID_MS = 3_600_000;

/** Signs payloads on behalf of one key. */
export function createSigner({ key, privateKey, queue, validMs = VALID_MS }: SigningOptions) {
  const secret = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  return (payload: object, submissionKey: string, nowMs: number): SubmissionSignature => {
    const expires = new Date(nowMs + validMs).toISOString();
    const text = signedText({ queue, key: submissionKey, payloadHash: payloadHash(payload), expires });
    return { key, expires, value: sign(null, Buffer.from(text), secret).toString('base64') };
  };
}
