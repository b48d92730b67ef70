import { expect, test } from 'vitest';
import { CelProgramError, compileCel, kubernetesEnvironment } from '../../../../../shared/cel/environment.ts';

const problemOf = (expression: string): string | undefined => {
  try {
    compileCel(kubernetesEnvironment, expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelProgramError) return error.message;
    throw error;
  }
};
const cannot = (target: string): string => `program instantiation failed: type conversion error from 'string' to '${target}'`;

/** As a kube-apiserver v1.36 answered, but for the last five here and the last six below. */
test.each([
  ["int('abc') > 0", cannot('int')],
  ["uint('-1') > 0u", cannot('uint')],
  ["double('x') > 0.0", cannot('double')],
  ["bool('maybe')", cannot('bool')],
  ['uint(-1) > 0u', 'program instantiation failed: unsigned integer overflow'],
  ['int(1e30) > 0', 'program instantiation failed: integer overflow'],
  ["[int('abc')] == [1]", cannot('int')],
  ["int('9223372036854775808') > 0", cannot('int')],
  ["double('1e400') > 0.0", cannot('double')],
  ["[1, 2].all(x, x > int('a'))", cannot('int')],
  ["uint('a') > uint(int('b'))", cannot('uint')],
  ["string(b'\\xff') == ''", 'program instantiation failed: invalid UTF-8 in bytes, cannot convert to string'],
])('%s cannot be made ready', (expression, problem) => {
  expect(problemOf(expression)).toBe(problem);
});

test.each([
  "int('1' + 'a') > 0",
  '1/0 > 0',
  "dyn('a') == 'b'",
  "int('-12') < 0",
  "int('+9223372036854775807') > 0",
  "double('-1.5e3') < double('Infinity')",
  "bool('T')",
  'uint(1.5) == 1u',
  "string(b'é\\xc3\\251') == 'éé'",
])('%s is found out when it is evaluated', (expression) => {
  expect(problemOf(expression)).toBeUndefined();
});
