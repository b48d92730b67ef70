import { expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

test.each([
  ["'abc 123'.find('[0-9]+')", '123'],
  ["'abc'.find('[0-9]+')", ''],
  ["'1 2 3'.findAll('[0-9]')", ['1', '2', '3']],
  ["'1 2 3'.findAll('[0-9]', 2)", ['1', '2']],
  ["'1 2 3'.findAll('[0-9]', -1)", ['1', '2', '3']],
  ["'añb'.charAt(1)", 'ñ'],
  ["'abc'.charAt(3)", ''],
  ["'aaa'.replace('a', '$&')", '$&$&$&'],
  ["'aaa'.replace('a', 'b', 2)", 'bba'],
  ["'aaa'.replace('a', 'b', 0)", 'aaa'],
  ["'aaa'.replace('a', 'b', -1)", 'bbb'],
])('%s is %j', (expression, value) => {
  expect(evaluate(expression)).toEqual(value);
});
