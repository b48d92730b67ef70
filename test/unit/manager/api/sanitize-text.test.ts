import { expect, test } from 'vitest';
import { sanitizeText } from '../../../../manager/api/sanitize-text.ts';

test.each([
  ['as it is', 'as it is'],
  ['two\nlines\r\n', 'two lines '],
  ['\u001b[31mred', ' [31mred'],
  ['left \u202etfel', 'left  tfel'],
  ['Grüße €', 'Grüße €'],
])('%j is shown as %j', (text, shown) => {
  expect(sanitizeText(text)).toBe(shown);
});

test('what is long is cut, and says so', () => {
  expect(sanitizeText('x'.repeat(2000))).toBe(`${'x'.repeat(1023)}…`);
  expect(sanitizeText('abcdef', 4)).toBe('abc…');
});
