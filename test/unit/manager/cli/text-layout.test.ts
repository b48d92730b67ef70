import { describe, expect, test } from 'vitest';
import { cutLine, wrapHanging, wrapWords } from '../../../../manager/cli/text-layout.ts';

describe('wrapping', () => {
  test('breaks between words, and words only where one is longer than a line', () => {
    expect(wrapWords('flavor default is short of 2750m cpu', 16)).toEqual(['flavor default', 'is short of', '2750m cpu']);
    expect(wrapWords('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  });

  test('counts columns and not characters', () => {
    expect(wrapWords('日本語 日本語', 6)).toEqual(['日本語', '日本語']);
    expect(cutLine('日本語日本語', 6)).toBe('日本…');
  });

  test('leaves everything on one line where the width is infinite', () => {
    expect(wrapWords('a '.repeat(500), Number.POSITIVE_INFINITY)).toHaveLength(1);
    expect(cutLine('a'.repeat(500), Number.POSITIVE_INFINITY)).toHaveLength(500);
  });

  test('lets no program move the cursor or break a line', () => {
    expect(wrapWords('\u001b[2Jred\u001b[31m\r\nalert\tagain', 40)).toEqual(['red alert again']);
  });

  test('indents the lines below the first', () => {
    expect(wrapHanging('one two three four', 9, 2)).toEqual(['one two', '  three', '  four']);
    expect(wrapHanging('one', 9, 2)).toEqual(['one']);
  });
});

test.each([
  ['fits', 4, 'fits'],
  ['too long', 4, 'too…'],
  ['too long', 1, '…'],
  ['', 4, ''],
])('%j in %s columns is %j', (line, width, cut) => {
  expect(cutLine(line, width)).toBe(cut);
});
