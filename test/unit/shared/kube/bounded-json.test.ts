import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBoundedJson } from '../../../../shared/kube/bounded-json.ts';
import { UnusableAnswer } from '../../../../shared/kube/unusable-answer.ts';

const LIMITS = { depth: 5, values: 20 };
const faultOf = (text: string, limits = LIMITS): string | undefined => {
  try {
    parseBoundedJson(text, limits);
    return undefined;
  } catch (error) {
    return error instanceof UnusableAnswer ? `${error.fault}: ${error.message}` : String(error);
  }
};

describe('a document within its bounds', () => {
  test('is what JSON says it is', () => {
    const wide = { depth: 100, values: 100_000 };
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseBoundedJson(text, wide)).toEqual(JSON.parse(text));
      }),
      { seed: 1 },
    );
  });

  test.each(['"[[[[[[[[[["', String.raw`"\"[[[[[[[["`, String.raw`["\\","[[[[[[["]`, String.raw`{"a\\\"[[[[[[":1}`])(
    'has no levels inside its strings: %s',
    (text) => {
      expect(faultOf(text)).toBeUndefined();
    },
  );

  test('may be as deep and as full as they say', () => {
    expect(faultOf('[[[[[1]]]]]')).toBeUndefined();
    expect(faultOf(JSON.stringify(Array.from({ length: 19 }, () => 1)))).toBeUndefined();
  });
});

test.each([
  ['[[[[[[1]]]]]]', 'AnswerTooLarge: the answer is nested more than 5 levels deep'],
  [JSON.stringify(Array.from({ length: 20 }, () => 1)), 'AnswerTooLarge: one document of the answer has more than 20 values'],
  [`[${'{},'.repeat(20)}{}]`, 'AnswerTooLarge: one document of the answer has more than 20 values'],
  ['<html>secret</html>', 'NotKubernetes: the answer is no JSON'],
  ['', 'NotKubernetes: the answer is no JSON'],
  ['"unfinished', 'NotKubernetes: the answer is no JSON'],
])('%s is refused', (text, expected) => {
  expect(faultOf(text)).toBe(expected);
});

test('a million brackets are refused before they are parsed', () => {
  expect(faultOf('['.repeat(1_000_000))).toMatch(/^AnswerTooLarge/);
});

test('ten times as many backslashes and quotes take no more than some ten times as long', () => {
  const costOf = (length: number): number => {
    const text = `["${String.raw`\\\"`.repeat(length)}"]`;
    return Math.min(
      ...[1, 2, 3, 4].map(() => {
        const before = process.cpuUsage();
        parseBoundedJson(text, LIMITS);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      }),
    );
  };
  expect(costOf(1_000_000)).toBeLessThan(50 * Math.max(2_000, costOf(100_000)));
});
