import { createPrivateKey, X509Certificate } from 'node:crypto';

/** The certificate of an authority, as it stands in a bundle. */
export type Authority = { readonly certPem: string; readonly notBeforeMs: number; readonly notAfterMs: number };

/** A serving certificate with its private key, and the authority that has signed it. */
export type KeyPair = {
  readonly certPem: string;
  readonly keyPem: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly authority: Authority;
};

/** The certificates of a bundle, each once; what stands between them, and what is none, is passed over. */
export function authoritiesIn(bundle: string): readonly Authority[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const found = new Map<string, Authority>();
  for (const block of blocks) {
    const certificate = certificateIn(block);
    if (certificate === undefined) continue;
    const certPem = certificate.toString();
    found.set(certPem, { certPem, ...validityOf(certificate) });
  }
  return [...found.values()];
}

/** The text of a bundle; the same for the same certificates in the same order. */
export const bundleOf = (authorities: readonly Authority[]): string => authorities.map(({ certPem }) => certPem).join('');

/**
 * What certificate and key make together with the one of these authorities that has signed it; undefined where they do not fit together.
 */
export function readKeyPair(certPem: string, keyPem: string, authorities: readonly Authority[]): KeyPair | undefined {
  const certificate = certificateIn(certPem);
  if (certificate === undefined || !isKeyOf(keyPem, certificate)) return undefined;
  const authority = authorities.find((each) => isSignedBy(certificate, each));
  return authority && { certPem, keyPem, ...validityOf(certificate), authority };
}

/** Whether clients that ask for each of these DNS names take it. */
export function coversNames({ certPem }: KeyPair, names: readonly string[]): boolean {
  const certificate = certificateIn(certPem);
  return certificate !== undefined && names.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined);
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined; // no certificate: whoever asks has a word for that
  }
}

function isKeyOf(keyPem: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false;
  }
}

function isSignedBy(certificate: X509Certificate, { certPem }: Authority): boolean {
  const authority = certificateIn(certPem);
  return authority !== undefined && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

const validityOf = ({ validFrom, validTo }: X509Certificate): { readonly notBeforeMs: number; readonly notAfterMs: number } => ({
  notBeforeMs: Date.parse(validFrom),
  notAfterMs: Date.parse(validTo),
});
