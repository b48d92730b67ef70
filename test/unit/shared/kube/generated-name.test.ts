import { expect, test } from 'vitest';
import { generateName } from '../../../../shared/kube/generated-name.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';

test('a generated name is the prefix with five letters that make no words, and never longer than 63', () => {
  expect(generateName('job-', seededRandom(1))).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const long = generateName('x'.repeat(100), seededRandom(1));
  expect(long).toMatch(/^x{58}[^x]/);
  expect(long).toHaveLength(63);
});
