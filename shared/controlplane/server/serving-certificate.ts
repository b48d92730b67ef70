import { webcrypto } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A server certificate that is its own authority. */
export type ServingCertificate = { readonly certPem: string; readonly keyPem: string };

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** As long as anybody will use it; a control plane for development is no place for certificates that expire. */
const VALID_FROM = new Date(Date.UTC(2020, 0, 1));
const VALID_TO = new Date(Date.UTC(2099, 11, 31));

/** A self-signed certificate for this machine and for `host`. */
export async function createServingCertificate(host: string): Promise<ServingCertificate> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const addresses = [...new Set(['127.0.0.1', '::1', ...(isAddress(host) ? [host] : [])])];
  const names = [...new Set(['localhost', 'kubernetes', 'kubernetes.default.svc', ...(isAddress(host) ? [] : [host])])];
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=embedded-control-plane',
    notBefore: VALID_FROM,
    notAfter: VALID_TO,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        ...addresses.map((value) => ({ type: 'ip', value }) as const),
        ...names.map((value) => ({ type: 'dns', value }) as const),
      ]),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { certPem: certificate.toString('pem'), keyPem: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

/** The certificate of a data directory, so that a kubeconfig outlives a restart. */
export async function rememberedCertificate(directory: string, host: string): Promise<ServingCertificate> {
  const [certFile, keyFile] = [path.join(directory, `server-${host}.crt`), path.join(directory, `server-${host}.key`)];
  if (existsSync(certFile) && existsSync(keyFile)) {
    return { certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') };
  }
  mkdirSync(directory, { recursive: true });
  const made = await createServingCertificate(host);
  writeFileSync(keyFile, made.keyPem, { mode: 0o600 });
  writeFileSync(certFile, made.certPem);
  return made;
}
