import { expect, test } from 'vitest';
import { corruptAt } from '../../../../../shared/controlplane/schema/base64-text.ts';

test.each([
  ['a letter outside the alphabet', 'ab!d', 2],
  ['padding at the beginning of a group', '=abc', 0],
  ['padding after one letter', 'a===', 1],
  ['something after padding', 'YQ==YQ==', 4],
  ['one sign of padding where two belong', 'YQ=', 3],
  ['a letter where the second sign of padding belongs', 'YQ=x', 2],
  ['an end within a group', 'YWJjZ', 4],
  ['line feeds, which count', 'YWJj\n!', 5],
])('blames %s', (_, text, at) => expect(corruptAt(text)).toBe(at));
