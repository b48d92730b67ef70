import { Optional } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import { CostMeter } from '../../../../shared/cel/cost-meter.ts';
import { kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { instrumentComprehension, isAbsent, isLoop } from '../../../../shared/cel/loop-cost.ts';
import { asNode } from '../../../../shared/cel/syntax-node.ts';

/** A comprehension whose parts cost nothing: what is counted is the loop. */
function loop(expression: string): () => { readonly cost: number; readonly outcome: unknown } {
  const program = kubernetesEnvironment.interpreter.parse(expression);
  program.check();
  const meter = new CostMeter();
  const root = asNode(program.ast);
  const { alternate } = root.meta;
  if (alternate === undefined) throw new Error('this is no comprehension');
  instrumentComprehension(root, alternate, meter, () => undefined);
  return () => {
    meter.reset();
    try {
      return { outcome: program(), cost: meter.cost };
    } catch (error) {
      return { outcome: String(error).split('\n')[0], cost: meter.cost };
    }
  };
}

describe('a loop that fails', () => {
  test.each([
    ['[1, 2, 3].map(x, x)', '[1, 2, 3].map(x, 6 / (x - 1))'],
    ['[1, 2, 3].map(x, x > 0, x)', '[1, 2, 3].map(x, x > 0, 6 / (x - 2))'],
    ['[1, 2, 3].exists_one(x, x > 5)', '[1, 2, 3].exists_one(x, 6 / (x - 1) > 6)'],
    ['[1, 2, 3].all(x, x > 0)', '[1, 2, 3].all(x, 6 / (x - 1) > 0)'],
  ])('costs what it costs to go on to its end: %s', (good, bad) => {
    const failed = loop(bad)();
    expect(failed.outcome).toContain('division by zero');
    expect(failed.cost).toBe(loop(good)().cost);
  });

  test('fails for the first item that cannot be collected, or for the last predicate', () => {
    expect(loop("[1, 2].map(x, x == 1 ? int('a') : 1 / (x - 2))")().outcome).toContain('int()');
    expect(loop("[1, 2].filter(x, x == 1 ? int('a') > 0 : 1 / (x - 2) > 0)")().outcome).toContain('division by zero');
  });

  test('forgets it before the next evaluation', () => {
    const run = loop('[1, 2].map(x, 6 / (x - 1))');
    expect(run()).toEqual(run());
  });
});

test('an optional without a value is absent, and macros with a body are loops', () => {
  expect([Optional.none(), Optional.of(1), undefined].map(isAbsent)).toEqual([true, false, false]);
  const program = kubernetesEnvironment.interpreter.parse('[1].all(i, v, v > i)');
  program.check();
  const { macro } = asNode(program.ast).meta;
  expect(macro !== undefined && isLoop(macro)).toBe(true);
});
