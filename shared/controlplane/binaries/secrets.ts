import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createServingCertificate } from '../server/serving-certificate.ts';
import { HOST } from './program-flags.ts';

/**
 * Writes the files that the flags of the API server name: its certificate, the key of ServiceAccounts' tokens, and the administrator's
 * token.
 */
export async function writeSecrets(directory: string, token: string): Promise<{ readonly certPem: string }> {
  const { certPem, keyPem } = await createServingCertificate(HOST);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const secret = { mode: 0o600 };
  writeFileSync(path.join(directory, 'server.crt'), certPem);
  writeFileSync(path.join(directory, 'server.key'), keyPem, secret);
  writeFileSync(path.join(directory, 'service-account.key'), privateKey, secret);
  writeFileSync(path.join(directory, 'tokens.csv'), `${token},kubernetes-admin,kubernetes-admin,"system:masters"\n`, secret);
  return { certPem };
}
