import { expect, test } from 'vitest';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import { tenantsOf } from '../../../../manager/submission/tenants.ts';

const object = (uid: string, minute: number, parts: object = {}): SubmissionQueueObject => ({
  metadata: {
    namespace: 'team',
    name: uid,
    uid,
    creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    ...parts,
  } as SubmissionQueueObject['metadata'],
  spec: { serviceAccountName: 'submitter', prefix: 'same', queue: 'same' },
});
const RULES = { bytesMax: 1_000, managerIdentity: false, deniedNamespaces: [] };

test('of two objects with one queue the older is served, in whichever order they are listed', () => {
  const older = object('b', 1);
  const younger = object('a', 2);
  for (const objects of [
    [older, younger],
    [younger, older],
  ]) {
    const { tenants, problems } = tenantsOf(undefined, objects, RULES);
    expect(tenants.map(({ id }) => id)).toEqual(['b']);
    expect(problems.map(({ tenant, problem }) => [tenant.id, problem.reason])).toEqual([['a', 'PrefixTaken']]);
  }
});

test('of the same second it is the one with the lesser UID', () => {
  expect(tenantsOf(undefined, [object('b', 1), object('a', 1)], RULES).tenants.map(({ id }) => id)).toEqual(['a']);
});

test('one that is being deleted is served no more, and makes room', () => {
  const leaving = object('b', 1, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(tenantsOf(undefined, [leaving, object('a', 2)], RULES)).toMatchObject({ tenants: [{ id: 'a' }], problems: [] });
});

test('a queue with a key that cannot be read is not served', () => {
  const wrong = object('a', 1);
  wrong.spec = { ...wrong.spec, signing: { keys: [{ name: 'ci', publicKey: 'x' }] } };
  const { tenants, problems } = tenantsOf(undefined, [wrong], RULES);
  expect([tenants, problems[0]?.problem]).toMatchObject([
    [],
    { reason: 'InvalidSigningKey', message: expect.stringContaining('ci is no Ed25519 public key') as string },
  ]);
});
