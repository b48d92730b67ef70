import { expect, test } from 'vitest';
import { kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { binaryCost, isConstant, overloadOf } from '../../../../shared/cel/operation-cost.ts';
import { asNode, type Node } from '../../../../shared/cel/syntax-node.ts';

const environment = kubernetesEnvironment.clone().registerVariable('any', 'dyn').registerVariable('text', 'string');

function rootOf(expression: string): Node {
  const program = environment.interpreter.parse(expression);
  expect(program.check()).toMatchObject({ valid: true });
  return asNode(program.ast);
}

test.each([
  ["string(b'a')", 'string(bytes)'],
  ["bytes('a')", 'bytes(string)'],
  ['string(any)', 'string'],
  ["cidr('10.0.0.0/8').containsIP(text)", 'containsIP(string)'],
  ["cidr('10.0.0.0/8').containsIP(any)", 'containsIP'],
  ["cidr('10.0.0.0/8').containsCIDR(text)", 'containsCIDR(string)'],
  ['[2, 1].sort()', 'sort'],
  ['[any].sort()', 'sort(dyn)'],
  ['text.size()', 'size'],
])('%s is a call of %s', (expression, overload) => {
  expect(overloadOf(rootOf(expression))).toBe(overload);
});

test.each([
  ["[1, [2], {'a': -3}]", true],
  ["int('7')", true],
  ["duration('1h')", true],
  ['[1, any]', false],
  ['1 + 2', false],
  ["int('7') == 7", false],
])('%s is computed before it is evaluated: %s', (expression, expected) => {
  expect(isConstant(rootOf(expression))).toBe(expected);
});

test('an operation on texts costs by their length where one is known to be a text, and one otherwise', () => {
  const costOf = (expression: string, left: unknown, right: unknown): number => {
    const { op, args } = rootOf(expression);
    const cost = binaryCost(op, ...(args as [Node, Node]));
    return typeof cost === 'number' ? cost : cost(left, right);
  };
  const long = 'x'.repeat(50);
  expect([costOf('text + any', long, long), costOf('any + any', long, long)]).toEqual([10, 1]);
  expect([costOf('text < any', long, 'x'), costOf('any < any', long, long)]).toEqual([1, 1]);
  expect([costOf('any == any', long, long), costOf('any == any', long, undefined)]).toEqual([5, 1]);
  expect([costOf('any in [1, 2]', 1, [1, 2]), costOf('any in [any]', 1, [1, 2, 3]), costOf('any in any', 1, [1, 2, 3])]).toEqual([0, 3, 1]);
});
