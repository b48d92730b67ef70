import type { Random } from '../runtime/random.ts';

/** Without vowels and look-alikes, as apimachinery's rand.String. */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_NAME_LENGTH = 63;

/**
 * What an API server makes of `metadata.generateName`: the prefix, cut to 58 characters, and five random ones (names.SimpleNameGenerator).
 */
export function generateName(prefix: string, random: Random): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)];
  return prefix.slice(0, MAX_NAME_LENGTH - SUFFIX_LENGTH) + suffix;
}
