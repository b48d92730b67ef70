import { describe, expect, test } from 'vitest';
import { textProblem } from '../../../../manager/submission/submission-text.ts';

const problemOf = (text: string): string | undefined => textProblem(text, { bytesMax: 1_000 });

describe('the text of a submission', () => {
  test.each(['{}', '{"manifest":{"a":[1,{"b":"}"}]}}', `${'['.repeat(64)}${']'.repeat(64)}`, '"a word"', '[[],[],[]]'])(
    'may be %s',
    (text) => {
      expect(problemOf(text)).toBeUndefined();
    },
  );

  test('may have as many bytes as are read', () => {
    expect(problemOf(`"${'x'.repeat(998)}"`)).toBeUndefined();
    expect(problemOf(`"${'x'.repeat(999)}"`)).toMatch(
      /^the submission has 1001 bytes, and at most 1000 are read; move scripts and data into a ConfigMap /,
    );
    expect(problemOf(`"${'ä'.repeat(500)}"`)).toMatch(/has 1002 bytes/);
  });

  test('nests no deeper than 64 levels; brackets in a string are no levels', () => {
    expect(problemOf(`${'['.repeat(65)}${']'.repeat(65)}`)).toBe('the submission nests more than 64 levels deep; no Job does');
    expect(problemOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toMatch(/more than 64 levels/);
    expect(problemOf(`"${'['.repeat(100)}"`)).toBeUndefined();
    expect(problemOf(`"\\"${'['.repeat(100)}"`)).toBeUndefined();
    expect(problemOf(`["\\\\",${'['.repeat(64)}${']'.repeat(64)}]`)).toMatch(/more than 64 levels/);
  });

  test.each(['', '{', 'x', '{"a":}'])('is JSON, which %j is not', (text) => {
    expect(problemOf(text)).toBe('the submission is not JSON; give the manifest of a batch/v1 Job as JSON');
  });
});
