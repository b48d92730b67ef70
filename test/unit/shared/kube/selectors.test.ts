import { describe, expect, test } from 'vitest';
import { matchesFieldSelector, parseFieldSelector } from '../../../../shared/kube/field-selectors.ts';
import {
  MATCHES_NOTHING,
  matchesLabelSelector,
  matchesSelectorObject,
  parseLabelSelector,
  requirementsOf,
} from '../../../../shared/kube/selectors.ts';

const matches = (selector: string, labels: Record<string, string>): boolean => matchesLabelSelector(parseLabelSelector(selector), labels);

describe('label selector strings', () => {
  test.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'b' }, true],
    ['a=b', { a: 'c' }, false],
    ['a=', { a: '' }, true],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (x, y)', { a: 'y' }, true],
    ['a in (x,y),b', { a: 'y' }, false],
    ['a notin (x,y)', {}, true],
    ['a notin (x,y)', { a: 'x' }, false],
    ['a in (,x)', { a: '' }, true],
    ['!a', {}, true],
    ['!a', { a: '' }, false],
    ['a', { a: '' }, true],
    ['a>5', { a: '10' }, true],
    ['a<5', { a: '10' }, false],
    ['a>5', { a: 'ten' }, false],
    ['in in (in, notin)', { in: 'notin' }, true],
    ['example.com/a = b , c', { 'example.com/a': 'b', c: '' }, true],
    ['toString', {}, false],
  ])('%j on %j: %j', (selector, labels, expected) => {
    expect(matches(selector, labels)).toBe(expected);
  });

  test.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a>x', `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
  ])('%j is refused in the words of the API server', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message);
  });

  test('a key or value with characters that labels may not have is refused', () => {
    expect(() => parseLabelSelector('a/b/c=d')).toThrow(
      /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name must consist/,
    );
    expect(() => parseLabelSelector('a=b@c')).toThrow(
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b@c": a valid label must be/,
    );
  });

  test.each([
    ['a=b', [{ key: 'a', operator: 'In', values: ['b'] }]],
    ['a!=b', [{ key: 'a', operator: 'NotIn', values: ['b'] }]],
    ['a in (x,y)', [{ key: 'a', operator: 'In', values: ['x', 'y'] }]],
    ['a notin (x,y)', [{ key: 'a', operator: 'NotIn', values: ['x', 'y'] }]],
    ['a', [{ key: 'a', operator: 'Exists', values: [] }]],
    ['!a', [{ key: 'a', operator: 'DoesNotExist', values: [] }]],
    [
      'a>1,b<2',
      [
        { key: 'a', operator: 'Gt', values: ['1'] },
        { key: 'b', operator: 'Lt', values: ['2'] },
      ],
    ],
  ])('%s is read as its terms', (text, terms) => {
    expect(parseLabelSelector(text)).toEqual(terms);
  });
});

describe('LabelSelector objects', () => {
  test('an absent selector selects nothing, an empty one everything', () => {
    expect(matchesSelectorObject(undefined, {})).toBe(false);
    expect(requirementsOf(null)).toBe(MATCHES_NOTHING);
    expect(matchesSelectorObject({}, { a: 'b' })).toBe(true);
  });

  test('matchLabels and matchExpressions must all hold', () => {
    const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['db'] }] };
    expect(matchesSelectorObject(selector, { app: 'web' })).toBe(true);
    expect(matchesSelectorObject(selector, { app: 'web', tier: 'db' })).toBe(false);
  });

  test('an operator of another language is refused', () => {
    expect(() => requirementsOf({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).toThrow(
      '"Near" is not a valid label selector operator',
    );
  });
});

describe('field selectors', () => {
  const pod = (field: string): string | undefined => ({ 'metadata.name': 'a', 'spec.nodeName': 'n,1' })[field];

  test.each([
    ['metadata.name=a', true],
    ['metadata.name==b', false],
    ['metadata.name!=b,metadata.name=a', true],
    ['spec.nodeName=n\\,1', true],
    ['status.phase=', true],
    ['status.phase!=', false],
    ['', true],
  ])('%j: %j', (selector, expected) => {
    expect(matchesFieldSelector(parseFieldSelector(selector), pod)).toBe(expected);
  });

  test('a term without operator is refused in the words of the API server', () => {
    expect(() => parseFieldSelector('metadata.name')).toThrow("invalid selector: 'metadata.name'; can't understand 'metadata.name'");
  });
});
