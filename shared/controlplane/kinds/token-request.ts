import { type FieldError, invalid as invalidField } from '../apimachinery/field-error.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

const EXPIRATION_MIN_SECONDS = 600;
const EXPIRATION_MAX_SECONDS = 2 ** 32;
const DEFAULT_EXPIRATION_SECONDS = 3600;

export type BoundObjectRef = { readonly kind?: string; readonly apiVersion?: string; readonly name?: string; readonly uid?: string };
export type TokenRequestSpec = {
  readonly audiences: readonly string[] | null;
  readonly expirationSeconds: number;
  readonly boundObjectRef: BoundObjectRef | null;
};

/** The spec of a TokenRequest with its defaults, as it is encoded. Decoding has checked the shape. */
export const defaultedTokenRequest = (spec: Partial<TokenRequestSpec> = {}): TokenRequestSpec => ({
  audiences: spec.audiences ?? null,
  expirationSeconds: spec.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS,
  boundObjectRef: spec.boundObjectRef ? encodedRef(spec.boundObjectRef) : null,
});

const encodedRef = ({ kind, apiVersion, name, uid }: BoundObjectRef): BoundObjectRef =>
  omitUndefined({ kind: kind || undefined, apiVersion: apiVersion || undefined, name: name || undefined, uid: uid || undefined });

/** ValidateTokenRequest: the time asked for is neither too short nor too long. */
export function validateTokenRequest({ expirationSeconds }: TokenRequestSpec): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (rule: string): void => void errors.push(invalidField('spec.expirationSeconds', expirationSeconds, rule));
  if (expirationSeconds < EXPIRATION_MIN_SECONDS) refuse('may not specify a duration less than 10 minutes');
  if (expirationSeconds > EXPIRATION_MAX_SECONDS) refuse('may not specify a duration larger than 2^32 seconds');
  return errors;
}
