import { describe, expect, test } from 'vitest';
import { CelCompileError, compileCel, kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { evaluate } from './evaluate.ts';

describe('an expression', () => {
  test('tells its type before it is run', () => {
    expect(compileCel(kubernetesEnvironment, '1 + 1 == 2').type).toBe('bool');
    expect(compileCel(kubernetesEnvironment, "'a' + 'b'").type).toBe('string');
  });

  test.each(['1 +', 'unknown == 1', "1 + 'a'"])('that does not compile is refused: %s', (expression) => {
    expect(() => compileCel(kubernetesEnvironment, expression)).toThrow(CelCompileError);
  });

  test('the refusal points at its place in the source', () => {
    expect(() => compileCel(kubernetesEnvironment, "1 + 'a'")).toThrow(
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
    );
  });

  test.each([
    ['[1, 2][5] == 1', 'index out of bounds: 5'],
    ["{'a': 1}['b'] == 1", 'no such key: b'],
    ['9223372036854775807 + 1 == 0', 'integer overflow'],
    ['1 % 0 == 0', 'modulus by zero'],
  ])('that fails while it runs says so in the words of cel-go: %s', (expression, message) => {
    expect(evaluate(expression)).toBe(`error: ${message}`);
  });

  test('of a value of the wrong type finds no overload', () => {
    expect(evaluate('self + 1 > 0', { self: 'text' })).toBe('error: no such overload');
  });
});
