import { describe, expect, test } from 'vitest';
import { compileCel, kubernetesEnvironment } from '../../../../shared/cel/environment.ts';
import { withoutOptionalElements } from '../../../../shared/cel/optional-elements.ts';
import { evaluate } from './evaluate.ts';

const SOME = 'optional.of(1)';
const NONE = 'optional.none()';

test.each([
  [`[?${SOME}, 2, ?${NONE}, 3]`, [1n, 2n, 3n]],
  [`[?${NONE}]`, []],
  [`[[?${SOME}], [?${NONE}]]`, [[1n], []]],
  [`[?x.?a, ?x.?b]`, [1n]],
  [`[?[${SOME}][0]]`, [1n]],
  [`[?(true ? ${SOME} : ${NONE}), ?false ? ${SOME} : ${NONE}]`, [1n]],
  [`{?'a': ${SOME}, 'b': 2, ?'c': ${NONE}}`, { a: 1n, b: 2n }],
  [`{?(true ? 'a' : 'b'): true ? ${SOME} : ${NONE}}`, { a: 1n }],
  [`{'one': [?${NONE}, 5], ?'two': optional.of([?${SOME}])}`, { one: [5n], two: [1n] }],
  [`[1, 2].map(i, [?i == 1 ? optional.of(i) : ${NONE}])`, [[1n], []]],
  [`{?'a': ${NONE}}.size() == 0 && [?${SOME}].all(e, e == 1)`, true],
  [`x[?'a'].orValue(7) + [?${SOME}][0]`, 2n],
  [`'[?' + "{?'a': 1}" == "[?{?'a': 1}"`, true],
])('%s', (expression, value) => {
  const found = evaluate(expression, { x: { a: 1n } });
  expect(found instanceof Map ? Object.fromEntries(found as Map<string, unknown>) : found).toEqual(value);
});

describe('a value that is not optional', () => {
  test('is no optional element or entry', () => {
    expect(evaluate('[?dyn(x)]', { x: 7n })).toBe('error: cannot initialize optional list element from non-optional value 7');
    expect(evaluate("{?'a': dyn(x)}", { x: 7n })).toBe("error: cannot initialize optional entry 'a' from non-optional value 7");
  });

  test('is refused where its type is known', () => {
    expect(() => compileCel(kubernetesEnvironment, '[?1]')).toThrow(/expected type 'optional_type\(int\)' but found 'int'/);
  });
});

test('an optional element costs what its value costs', () => {
  const costOf = (expression: string): number => compileCel(kubernetesEnvironment, expression).run({}).cost;
  expect(costOf(`[?${SOME}]`)).toBe(costOf(`[${SOME}]`));
  expect(costOf(`{?'a': ${SOME}}`)).toBe(costOf(`{'a': ${SOME}}`));
});

test('an expression without optional elements stays as it is', () => {
  const expression = "a ? [b, c ? d : e] : {'k': f ? g : h}[?'k'].orValue([i][?0].value())";
  expect(withoutOptionalElements(expression)).toBe(expression);
});
