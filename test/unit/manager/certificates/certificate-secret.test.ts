import { expect, test } from 'vitest';
import {
  certificateSecretData,
  newCertificateSecretData,
  readCertificateSecret,
} from '../../../../manager/certificates/certificate-secret.ts';
import { makeKeyPair } from '../../../../manager/certificates/make-key-pair.ts';

const [current, next] = await Promise.all([makeKeyPair(['a'], 0), makeKeyPair(['a'], 0)]);
const content = { current, next, authorities: [current.authority, next.authority] };

test('what is written into the Secret is what is read from it', () => {
  expect(readCertificateSecret(newCertificateSecretData(content))).toEqual(content);
});

test('without a next certificate its keys are taken away, and are none of a new Secret', () => {
  const alone = { ...content, next: undefined };
  expect(certificateSecretData(alone)).toMatchObject({ 'next.crt': null, 'next.key': null });
  expect(Object.keys(newCertificateSecretData(alone)).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
});

test('a Secret with nothing, or with what no authority of it has signed, holds no certificate', () => {
  expect(readCertificateSecret(undefined)).toEqual({ current: undefined, next: undefined, authorities: [] });
  const { 'ca.crt': _, ...others } = newCertificateSecretData(content);
  expect(readCertificateSecret(others)).toEqual({ current: undefined, next: undefined, authorities: [] });
});
