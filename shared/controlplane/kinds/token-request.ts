import { invalid as invalidField, type FieldError } from '../apimachinery/field-error.ts';
import { invalid } from '../apimachinery/status-error.ts';

const EXPIRATION_MIN_SECONDS = 600;
const EXPIRATION_MAX_SECONDS = 2 ** 32;
const DEFAULT_EXPIRATION_SECONDS = 3600;
export const DEFAULT_AUDIENCE = 'https://kubernetes.default.svc';

export type TokenRequestSpec = { readonly audiences: readonly string[]; readonly expirationSeconds: number };

/** The spec of a TokenRequest with its defaults. Throws 422 when the time asked for is too short or too long. */
export const readTokenRequest = (
  spec: { readonly audiences?: readonly string[]; readonly expirationSeconds?: number } = {},
): TokenRequestSpec => {
  const expirationSeconds = spec.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS;
  const errors: FieldError[] = [];
  const refuse = (rule: string): void => void errors.push(invalidField('spec.expirationSeconds', expirationSeconds, rule));
  if (expirationSeconds < EXPIRATION_MIN_SECONDS) refuse('may not specify a duration less than 10 minutes');
  if (expirationSeconds > EXPIRATION_MAX_SECONDS) refuse('may not specify a duration larger than 2^32 seconds');
  if (errors.length > 0) throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors);
  const audiences = spec.audiences ?? [];
  return { audiences: audiences.length > 0 ? audiences : [DEFAULT_AUDIENCE], expirationSeconds };
};
