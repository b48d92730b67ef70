/** What stands beside the manifest in a signed submission, as `signature`. */
export type SubmissionSignature = {
  /** Name of the key in the SubmissionQueue. */
  readonly key: string;
  /** RFC 3339: from then on it proves nothing. */
  readonly expires: string;
  /** Base64 of the Ed25519 signature of {@link signedText}. */
  readonly value: string;
};

export type SignedSubmission = {
  /** `namespace/name` of the SubmissionQueue. */
  readonly queue: string;
  /** Of the submission: its BullMQ id. */
  readonly key: string;
  /** Of its data, see payload-hash.ts. */
  readonly payloadHash: string;
  readonly expires: string;
};

/**
 * What is signed: five lines, of which the third alone, the key, may have any characters. A signature is for one queue, one key and one
 * payload, so that nobody makes another submission of it.
 */
export const signedText = ({ queue, key, payloadHash, expires }: SignedSubmission): string =>
  ['switchyard.dev/submission/v1', queue, key, payloadHash, expires].join('\n');

/** What stands in its place where the submission came over HTTP: the manager says who submitted it. */
export type CallerSignature = {
  /** User name, as the API server gave it for the token. */
  readonly user: string;
  /** Seal of the manager (manager/submission/caller-signature.ts). */
  readonly seal: string;
};
