import { expect, test } from 'vitest';
import { checkTypes } from '../../../../../shared/cel/checker/check-types.ts';
import { FUNCTIONS } from '../../../../../shared/cel/checker/declarations.ts';
import { KUBERNETES_FUNCTIONS } from '../../../../../shared/cel/checker/kubernetes-functions.ts';
import { literalProblems } from '../../../../../shared/cel/checker/literal-validation.ts';
import { parseExpression } from '../../../../../shared/cel/checker/parse-expression.ts';
import { STANDARD_FUNCTIONS } from '../../../../../shared/cel/checker/standard-functions.ts';
import { formatType, readType } from '../../../../../shared/cel/checker/static-type.ts';
import { assignAll, substitute } from '../../../../../shared/cel/checker/unification.ts';

test('a parameter stands for one type in all arguments', () => {
  const known = assignAll(new Map(), [readType('list<int>'), readType('int')], [readType('list<A>'), readType('A')]);
  expect(known === undefined ? '' : formatType(substitute(known, readType('map<A, B>'), true))).toBe('map(int, dyn)');
  expect(assignAll(new Map(), [readType('list<int>'), readType('string')], [readType('list<A>'), readType('A')])).toBeUndefined();
});

test('every declaration is an overload of its name', () => {
  const overloads = [...FUNCTIONS.values()].reduce((sum, each) => sum + each.length, 0);
  expect(overloads).toBe(STANDARD_FUNCTIONS.length + KUBERNETES_FUNCTIONS.length);
});

test('every part of an expression has a type', () => {
  const { expression } = parseExpression('[1, 2].map(x, string(x))');
  const { problems, typeOf } = checkTypes(expression, new Map());
  expect(problems).toEqual([]);
  expect(formatType(typeOf(expression))).toBe('list(string)');
});

test('literals are checked once the types fit', () => {
  const { expression } = parseExpression("'a'.matches('(') && timestamp('2024-02-30T00:00:00Z') == timestamp(0)");
  const { typeOf } = checkTypes(expression, new Map());
  expect(literalProblems(expression, typeOf).map(({ message }) => message)).toEqual([
    'invalid timestamp argument',
    'invalid matches argument',
  ]);
});
