import type { CertificateSecret } from './certificate-secret.ts';
import { coversNames, type Authority, type KeyPair } from './key-pair.ts';

const DAY_MS = 86_400_000;
/** How long a certificate that we make is good for, and so is its authority. */
export const VALID_MS = 90 * DAY_MS;
/** It was good before it was made: clocks of API servers may be behind. */
export const BACKDATED_MS = DAY_MS;
/** So long before its end it is replaced. */
export const RENEWED_BEFORE_MS = 30 * DAY_MS;
/** API servers learn of a bundle by a watch; what is shown changes so long after the bundle. */
export const TRUSTED_AFTER_MS = 600_000;
/** After this time somebody looks, whatever was said. */
const LOOK_MS = 3_600_000;

export type Situation = {
  readonly nowMs: number;
  /** Undefined: there is no Secret. */
  readonly secret: CertificateSecret | undefined;
  /** What this replica shows. */
  readonly shown: KeyPair | undefined;
  /** What each configuration trusts. Undefined: that is not known yet. */
  readonly bundles: readonly (readonly Authority[])[] | undefined;
  /** For how long this replica has seen all of them trust the authority of the next certificate; 0 when one does not. */
  readonly nextTrustedMs: number;
  /** DNS names by which the server is called. */
  readonly names: readonly string[];
};

/** The next of the steps by which a certificate is made, trusted, shown and forgotten. Each is one write for one version of one object. */
export type Step =
  /** The Secret, made or changed; `Made` is a certificate that is yet to be made, whose authority is trusted from then on. */
  | {
      readonly kind: 'Write';
      readonly why: string;
      readonly current: KeyPair | 'Made';
      readonly next: KeyPair | 'Made' | undefined;
      readonly authorities: readonly Authority[];
    }
  /** The bundle of the configuration of this index. */
  | { readonly kind: 'Publish'; readonly index: number; readonly authorities: readonly Authority[] }
  | { readonly kind: 'Wait'; readonly forMs: number };

/**
 * Which step is due. Nobody has to lead for it: a step that was taken by another is refused as a conflict, and one that was taken on what
 * is no longer so takes nothing away that anybody shows.
 *
 * 1. Without a certificate that can be shown, one is made. Whoever still shows one puts that back, so that nothing changes at once.
 * 2. What the Secret trusts, the configurations trust.
 * 3. The next certificate is shown once they have trusted it for ten minutes.
 * 4. One that ends within 30 days gets a next one; so does one that is good for longer than ours are, or not for our names.
 * 5. Authorities go when all that they have signed has ended.
 */
export function decideCertificates({ nowMs, secret, shown, bundles, nextTrustedMs, names }: Situation): Step {
  const isGood = (pair: KeyPair | undefined): pair is KeyPair => pair !== undefined && pair.notAfterMs > nowMs;
  const kept = (authorities: readonly Authority[], of: KeyPair | undefined): Authority[] =>
    authorities.filter((each) => !isDispensable(each, of, nowMs));
  if (secret === undefined || !isGood(secret.current)) {
    const authorities = kept(secret?.authorities ?? [], undefined);
    if (secret !== undefined && isGood(secret.next))
      return { kind: 'Write', why: 'the one before has ended', current: secret.next, next: undefined, authorities };
    const why = secret === undefined ? 'there is none' : 'it cannot be shown';
    if (!isGood(shown)) return { kind: 'Write', why, current: 'Made', next: undefined, authorities };
    return { kind: 'Write', why, current: shown, next: 'Made', authorities: withAuthority(authorities, shown.authority) };
  }
  const { current, next, authorities } = secret;
  const needed = [current.authority, ...(isGood(next) ? [next.authority] : [])];
  const trusted = kept(authorities, current).reduce(withAuthority, needed);
  for (const [index, bundle] of (bundles ?? []).entries()) {
    const wanted = kept(bundle, current).reduce(withAuthority, trusted);
    if (!isSame(bundle, wanted)) return { kind: 'Publish', index, authorities: wanted };
  }
  const goOn = { kind: 'Write', authorities: trusted } as const;
  if (isGood(next) && nextTrustedMs >= TRUSTED_AFTER_MS)
    return { ...goOn, why: 'the next one is trusted by now', current: next, next: undefined };
  const isDue = current.notAfterMs - nowMs <= RENEWED_BEFORE_MS || isOfOthers(current) || !coversNames(current, names);
  if (isDue && !isGood(next)) return { ...goOn, why: 'it is to be replaced', current, next: 'Made' };
  if (!isSame(authorities, trusted))
    return { ...goOn, why: 'what an authority has signed has ended', current, next: isGood(next) ? next : undefined };
  const nextMs = isGood(next) ? TRUSTED_AFTER_MS - nextTrustedMs : current.notAfterMs - RENEWED_BEFORE_MS - nowMs;
  return { kind: 'Wait', forMs: Math.max(1_000, Math.min(LOOK_MS, nextMs)) };
}

export const trusts = (bundle: readonly Authority[], { certPem }: Authority): boolean => bundle.some((each) => each.certPem === certPem);

const withAuthority = (authorities: Authority[], authority: Authority): Authority[] =>
  trusts(authorities, authority) ? authorities : [...authorities, authority];

/** In whatever order. */
const isSame = (one: readonly Authority[], other: readonly Authority[]): boolean =>
  one.length === other.length && one.every((each) => trusts(other, each));

/**
 * Ours signs one certificate, which ends with it: who has ended is nobody's. Those of others, as a chart or an administrator made them, may
 * be good for years: they go when what took their place has been there for as long as ours overlap.
 */
function isDispensable(authority: Authority, current: KeyPair | undefined, nowMs: number): boolean {
  if (authority.notAfterMs <= nowMs) return true;
  if (!isOfOthers(authority) || current === undefined || authority.certPem === current.authority.certPem) return false;
  return !isOfOthers(current) && nowMs - (current.notBeforeMs + BACKDATED_MS) > RENEWED_BEFORE_MS;
}

const isOfOthers = ({ notBeforeMs, notAfterMs }: Pick<Authority, 'notBeforeMs' | 'notAfterMs'>): boolean =>
  notAfterMs - notBeforeMs > VALID_MS + BACKDATED_MS;
