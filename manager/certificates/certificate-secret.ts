import { authoritiesIn, bundleOf, readKeyPair, type Authority, type KeyPair } from './key-pair.ts';

/**
 * What the Secret of the serving certificate holds. `tls.crt` and `tls.key` are what every replica shows; `next.crt` and `next.key` what is
 * shown once all API servers trust it; `ca.crt` all authorities that are trusted meanwhile. Keys of authorities are nowhere: each signs
 * once.
 */
export type CertificateSecret = {
  /** Undefined where there is none, or one that cannot be shown: half of it, another's key, or signed by nobody of `ca.crt`. */
  readonly current: KeyPair | undefined;
  readonly next: KeyPair | undefined;
  readonly authorities: readonly Authority[];
};

type SecretData = Readonly<Record<string, string>>;

export function readCertificateSecret(data: SecretData | undefined): CertificateSecret {
  const text = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  const authorities = authoritiesIn(text('ca.crt'));
  return {
    current: readKeyPair(text('tls.crt'), text('tls.key'), authorities),
    next: readKeyPair(text('next.crt'), text('next.key'), authorities),
    authorities,
  };
}

/** As `data` of the Secret; null takes a key away, in a merge patch. */
export function certificateSecretData({ current, next, authorities }: CertificateSecret): Record<string, string | null> {
  const encoded = (text: string | undefined): string | null => (text === undefined ? null : Buffer.from(text).toString('base64'));
  return {
    'tls.crt': encoded(current?.certPem),
    'tls.key': encoded(current?.keyPem),
    'next.crt': encoded(next?.certPem),
    'next.key': encoded(next?.keyPem),
    'ca.crt': encoded(bundleOf(authorities)),
  };
}

/** The same for a Secret that is made. */
export const newCertificateSecretData = (content: CertificateSecret): Record<string, string> =>
  Object.fromEntries(Object.entries(certificateSecretData(content)).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
