import { expect, test } from 'vitest';
import { compilePattern } from '../../../../shared/cel/go-pattern.ts';
import { patternProblem } from '../../../../shared/cel/go-pattern-problem.ts';

test.each<[string, string, boolean]>([
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'ABC', false],
  ['(?i)^[a-z]+$', 'ABC', true],
  ['^\\@\\w+\\:\\d$', '@ab:1', true],
  ['^(?P<year>\\d{4})\\z', '2026', true],
  ['^[[:alpha:]_]+$', 'a_b', true],
  ['^[\\w\\-\\.]+$', 'a-b.c', true],
  ['^\\p{L}+$', 'é', true],
  ['^.$', '😀', true],
])('%s on %s gives %s', (pattern, text, expected) => {
  expect(compilePattern(pattern).test(text)).toBe(expected);
});

test('what is no regular expression is an error', () => {
  expect(() => compilePattern('(')).toThrow(SyntaxError);
});

test('a pattern that Go cannot compile is refused in its words', () => {
  expect(patternProblem('(')).toBe('error parsing regexp: missing closing ): `(`');
  expect(patternProblem('a+')).toBeUndefined();
});
