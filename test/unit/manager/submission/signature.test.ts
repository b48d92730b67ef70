import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ed25519KeyOf, signatureProblem } from '../../../../manager/submission/signature.ts';
import type { Submission } from '../../../../manager/submission/submission-queue.ts';
import { payloadHash } from '../../../../shared/api/payload-hash.ts';
import { signedText } from '../../../../shared/api/submission-signature.ts';
import { aSubmission } from '../../../support/submissions.ts';

const NOW = Date.UTC(2026, 0, 1);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const PEM = publicKey.export({ format: 'pem', type: 'spki' }).toString();
const DER = publicKey.export({ format: 'der', type: 'spki' });
const TENANT = { label: 'team/batch', signingKeys: [{ name: 'ci', publicKey: PEM, notAfter: Infinity }] };
const DATA = { manifest: { kind: 'Job', spec: { b: 1, a: 2 } } };

type Parts = { queue?: string; key?: string; expires?: string; by?: string; data?: object; with?: typeof privateKey };
function signed(parts: Parts = {}): object {
  const { queue = 'team/batch', key = 'nightly', expires = '2026-01-02T00:00:00Z', by = 'ci', data = DATA } = parts;
  const text = signedText({ queue, key, payloadHash: payloadHash(data), expires });
  return { ...DATA, signature: { key: by, expires, value: sign(null, Buffer.from(text), parts.with ?? privateKey).toString('base64') } };
}
const submission = (data: unknown, parts: Partial<Submission> = {}): Submission =>
  aSubmission({ id: 'nightly', submittedAt: 1, name: 'a', data, ...parts });
const problem = (data: unknown, parts: Partial<Submission> = {}, tenant = TENANT): string | undefined =>
  signatureProblem(tenant, submission(data, parts), NOW);

describe('where a queue has keys, a submission', () => {
  test('that one of them has signed is taken, whatever the order of its fields', () => {
    expect(problem(signed())).toBeUndefined();
    const { signature } = signed() as { signature: object };
    expect(problem({ signature, manifest: { spec: { a: 2, b: 1 }, kind: 'Job' } })).toBeUndefined();
  });

  test.each<[string, unknown, RegExp]>([
    ['without a signature', DATA, /^signature: is missing; .* by one of ci/],
    ['with a signature that is none', { ...DATA, signature: 'x' }, /^signature: is missing/],
    ['that is null', null, /^signature: is missing/],
    ['by a key that is not known', signed({ by: 'somebody' }), /^signature\.key: is "somebody", and this queue knows ci/],
    ['by another key of that name', signed({ with: other.privateKey }), /^signature\.value: is not that of ci/],
    ['signed for another payload', signed({ data: { manifest: { kind: 'Job' } } }), /^signature\.value/],
    ['signed for another key', signed({ key: 'hourly' }), /^signature\.value/],
    ['signed for another queue', signed({ queue: 'rich/batch' }), /^signature\.value/],
    ['that has expired', signed({ expires: '2025-12-31T00:00:00Z' }), /^signature\.expires: .* is over/],
    ['that expires at no time', signed({ expires: 'never' }), /^signature\.expires/],
  ])('%s is not', (_what, data, refusal) => {
    expect(problem(data)).toMatch(refusal);
  });

  test('whose expiry was put off by somebody else is not', () => {
    const { signature } = signed({ expires: '2025-12-31T00:00:00Z' }) as { signature: object };
    expect(problem({ ...DATA, signature: { ...signature, expires: '2027-01-01T00:00:00Z' } })).toMatch(/^signature\.value/);
  });

  test('by a key that is over is not', () => {
    const tenant = { ...TENANT, signingKeys: [{ name: 'ci', publicKey: PEM, notAfter: NOW }] };
    expect(problem(signed(), {}, tenant)).toMatch(/^signature\.key: ci was valid until 2026-01-01/);
  });

  test('that has become a Job is not judged by the clock again, but by all else', () => {
    const parked = { ref: submission({}), job: { namespace: 'team', name: 'a' }, uid: 'u', attempt: 1 };
    expect(problem(signed({ expires: '2025-12-31T00:00:00Z' }), { parked })).toBeUndefined();
    expect(problem(DATA, { parked })).toMatch(/^signature: is missing/);
  });
});

test('where a queue has no keys nothing needs to be signed', () => {
  expect(signatureProblem({ label: 'team/batch', signingKeys: [] }, submission(DATA), NOW)).toBeUndefined();
});

test('a public key is PEM, DER or its bytes, and of Ed25519', () => {
  for (const text of [PEM, DER.toString('base64'), DER.subarray(-32).toString('base64')])
    expect(ed25519KeyOf(text)?.equals(publicKey)).toBe(true);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'pem', type: 'spki' }).toString();
  for (const text of ['', 'x', '-----BEGIN nonsense', rsa]) expect(ed25519KeyOf(text)).toBeUndefined();
});
