import { expect, test } from 'vitest';
import { newUid } from '../../../../../shared/controlplane/apimachinery/identifiers.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

test('a UID is a random UUID of version 4, and the same for the same chance', () => {
  const uid = newUid(seededRandom(1));
  expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newUid(seededRandom(1))).toBe(uid);
  expect(newUid(seededRandom(2))).not.toBe(uid);
});
