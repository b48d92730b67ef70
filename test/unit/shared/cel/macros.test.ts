import { Environment } from '@marcbachmann/cel-js';
import { expect, test } from 'vitest';
import { nameOf } from '../../../../shared/cel/macro-interpreter.ts';
import { registerOptionalLibrary } from '../../../../shared/cel/optional-library.ts';
import { registerTwoVariableMacros } from '../../../../shared/cel/two-variable-macros.ts';
import { evaluate } from './evaluate.ts';

test.each([
  ['[1, 2].all(i, v, v == i + 1)', true],
  ["{'a': 1}.exists(k, v, k == 'a' && v == 1)", true],
  ['[0, 1].all(i, v, 1 / v > 0)', 'error: division by zero'],
  ['[0, -1].all(i, v, 1 / v > 0)', false],
  ['[1, 2].all(i, v, [3, 4].exists(j, w, w >= v + i + j))', true],
  ["['a', 'a'].transformMapEntry(i, v, {v: i})", 'error: insert failed: key a already exists'],
  ['optional.of([1]).optFlatMap(x, x.first()).value()', 1n],
])('%s is %s', (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});

test('macros are added to an interpreter once', () => {
  const interpreter = new Environment({ enableOptionalTypes: true });
  registerTwoVariableMacros(interpreter);
  registerOptionalLibrary(interpreter);
  expect(() => registerTwoVariableMacros(interpreter)).toThrow('overlaps');
  expect(nameOf({ op: 'id', args: 'x' })).toBe('x');
});
