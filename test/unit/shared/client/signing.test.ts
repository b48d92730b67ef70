import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { signatureProblem } from '../../../../manager/submission/signature.ts';
import { createSigner } from '../../../../shared/client/signing.ts';
import { aSubmission } from '../../../support/submissions.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const tenant = {
  label: 'team/batch',
  signingKeys: [{ name: 'ci', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(), notAfter: Infinity }],
};
const payload = { manifest: { kind: 'Job' } };
const problemOf = (queue: string, key: string, nowMs = NOW): string | undefined => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signature = createSigner({ key: 'ci', privateKey: pem, queue, validMs: 60_000 })(payload, 'nightly', NOW);
  return signatureProblem(tenant, aSubmission({ id: key, submittedAt: 1, name: 'sum', data: { ...payload, signature } }), nowMs);
};

test('what the client signs the manager takes, for one queue, one key and a while', () => {
  expect(problemOf('team/batch', 'nightly')).toBeUndefined();
  expect(problemOf('team/other', 'nightly')).toMatch(/signature\.value/);
  expect(problemOf('team/batch', 'weekly')).toMatch(/signature\.value/);
  expect(problemOf('team/batch', 'nightly', NOW + 60_000)).toMatch(/signature\.expires/);
});
