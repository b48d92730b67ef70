import { describe, expect, test } from 'vitest';
import { labelKeyProblems, labelValueProblems } from '../../../../shared/kube/label-syntax.ts';

describe('label keys', () => {
  test.each(['a', 'A-b_c.d', 'example.com/name', `${'a'.repeat(253)}/${'b'.repeat(63)}`])('%s is one', (key) => {
    expect(labelKeyProblems(key)).toEqual([]);
  });

  test.each([
    ['', 'name part must be non-empty'],
    ['/name', 'prefix part must be non-empty'],
    ['a/b/c', 'a qualified name must consist of'],
    ['-a', 'name part must consist of'],
    ['Example.com/name', 'prefix part a lowercase RFC 1123 subdomain'],
    ['b'.repeat(64), 'name part must be no more than 63 bytes'],
    [`${'a'.repeat(254)}/b`, 'prefix part must be no more than 253 bytes'],
  ])('%j is none: %s', (key, problem) => {
    expect(labelKeyProblems(key).join('; ')).toContain(problem);
  });
});

describe('label values', () => {
  test.each(['', 'a', 'A-b_c.d', 'x'.repeat(63)])('%j is one', (value) => {
    expect(labelValueProblems(value)).toEqual([]);
  });

  test.each(['-', 'a b', 'a/', 'x'.repeat(64)])('%j is none', (value) => {
    expect(labelValueProblems(value)).toHaveLength(1);
  });
});
