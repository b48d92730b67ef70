import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { KeyPair } from './key-pair.ts';
import { authoritiesIn, readKeyPair } from './key-pair.ts';
import { BACKDATED_MS, VALID_MS } from './decide-certificates.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * A serving certificate for these DNS names, and an authority that has signed it and will sign no other: its key is forgotten here. Whoever
 * steals the Secret can pass for this server until the certificate ends, and for nothing else.
 */
export async function makeKeyPair(names: readonly string[], nowMs: number): Promise<KeyPair> {
  x509.cryptoProvider.set(webcrypto);
  // Seconds are all that a certificate can tell.
  const sinceMs = Math.floor((nowMs - BACKDATED_MS) / 1000) * 1000;
  const validity = { notBefore: new Date(sinceMs), notAfter: new Date(sinceMs + BACKDATED_MS + VALID_MS), signingAlgorithm: ALGORITHM };
  const [authorityKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    // Its own name for each, so that a bundle of several is searched by name.
    name: `CN=switchyard-manager-ca-${sinceMs / 1000}-${Buffer.from(webcrypto.getRandomValues(new Uint8Array(4))).toString('hex')}`,
    keys: authorityKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
    ...validity,
  });
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=switchyard-manager',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }) as const)),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
    ...validity,
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const pair = readKeyPair(
    certificate.toString('pem'),
    x509.PemConverter.encode(key, 'PRIVATE KEY'),
    authoritiesIn(authority.toString('pem')),
  );
  if (pair === undefined) throw new Error('the certificate that was made does not fit its key');
  return pair;
}

const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
