import { expect, test } from 'vitest';
import { generateName, newUid } from '../../../../../shared/controlplane/apimachinery/identifiers.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

test('a UID is a random UUID of version 4, and the same for the same chance', () => {
  const uid = newUid(seededRandom(1));
  expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newUid(seededRandom(1))).toBe(uid);
  expect(newUid(seededRandom(2))).not.toBe(uid);
});

test('a generated name is the prefix with five letters that make no words, and never longer than 63', () => {
  expect(generateName('job-', seededRandom(1))).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const long = generateName('x'.repeat(100), seededRandom(1));
  expect(long).toMatch(/^x{58}[^x]/);
  expect(long).toHaveLength(63);
});
