import { expect, test } from 'vitest';
import { kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { CostMeter } from '../../../../shared/cel/cost-meter.ts';
import {
  argumentsOf,
  asNode,
  chargeBefore,
  evaluationOf,
  nameOf,
  nodesOf,
  observe,
  observeFailure,
  typeOf,
} from '../../../../shared/cel/syntax-node.ts';

const checked = (expression: string) => {
  const program = kubernetesEnvironment.interpreter.parse(expression);
  program.check();
  return { program, root: asNode(program.ast) };
};

test('a call has a name, arguments and a type', () => {
  const { root } = checked("'a'.startsWith('b')");
  expect([nameOf(root), argumentsOf(root).length, typeOf(root)?.name]).toEqual(['startsWith', 2, 'bool']);
  expect(nodesOf(asNode(argumentsOf(root)[0]).args)).toEqual([]);
});

test('what a node comes to is heard at every evaluation, and comes out unchanged', () => {
  const { program, root } = checked('[1, 2].map(x, x + 1).size() + 1');
  const heard: unknown[] = [];
  const [left] = nodesOf(root.args);
  observe(asNode(left), (value) => heard.push(value));
  expect(typeof evaluationOf(asNode(left))).toBe('function');
  expect([program(), program()]).toEqual([3n, 3n]);
  expect(heard).toEqual([2n, 2n]);
});

test('a node is charged for whether it fails or not, and it is heard why it fails', () => {
  const { program, root } = checked("1 / int('0') == 1 || true");
  const [left] = nodesOf(root.args);
  const meter = new CostMeter();
  const heard: unknown[] = [];
  chargeBefore(asNode(left), meter, 3);
  observeFailure(asNode(left), (error) => heard.push(error));
  expect(program()).toBe(true);
  expect([meter.cost, heard.length, String(heard[0])]).toEqual([3, 1, expect.stringContaining('division by zero')]);
});
