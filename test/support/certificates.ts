/** Certificates for TLS between a test and its server. */
import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export type TestCertificate = { readonly certPem: string; readonly keyPem: string };

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const VALIDITY = { notBefore: new Date(Date.UTC(2020, 0, 1)), notAfter: new Date(Date.UTC(2099, 11, 31)) };

/** An authority that signs certificates. */
export class TestAuthority {
  readonly #keys: CryptoKeyPair;
  readonly #certificate: x509.X509Certificate;

  private constructor(keys: CryptoKeyPair, certificate: x509.X509Certificate) {
    this.#keys = keys;
    this.#certificate = certificate;
  }

  static async create(): Promise<TestAuthority> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await newKeys();
    const extensions = [new x509.BasicConstraintsExtension(true, undefined, true)];
    const settings = { name: 'CN=test authority', signingAlgorithm: ALGORITHM, keys, extensions, ...VALIDITY };
    return new TestAuthority(keys, await x509.X509CertificateGenerator.createSelfSigned(settings));
  }

  get certPem(): string {
    return this.#certificate.toString('pem');
  }

  /** A certificate for servers of these DNS names and addresses, and for a client of the common name. */
  async sign(commonName: string, names: readonly string[] = []): Promise<TestCertificate> {
    const keys = await newKeys();
    const alternatives = names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${commonName}`,
      issuer: this.#certificate.subject,
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: alternatives.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(alternatives)],
      ...VALIDITY,
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { certPem: certificate.toString('pem'), keyPem: x509.PemConverter.encode(key, 'PRIVATE KEY') };
  }
}

type CryptoKeyPair = Awaited<ReturnType<typeof newKeys>>;
const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
