import { describe, expect, test } from 'vitest';
import { checkExpression } from '../../../../../shared/cel/checker/check-expression.ts';
import { INT, STRING, listOf } from '../../../../../shared/cel/checker/static-type.ts';
import { estimateCost } from '../../../../../shared/cel/cost/estimate.ts';
import { add, exactly, multiply, scale, sum, union, UNKNOWN } from '../../../../../shared/cel/cost/estimate-range.ts';
import { expressionCost } from '../../../../../shared/cel/cost/expression-cost.ts';
import { languageCost } from '../../../../../shared/cel/cost/language-cost.ts';
import { libraryCost } from '../../../../../shared/cel/cost/library-cost.ts';
import { listCost } from '../../../../../shared/cel/cost/list-cost.ts';
import { type Operand, sizeOfOperand } from '../../../../../shared/cel/cost/operand.ts';
import { replacedSize } from '../../../../../shared/cel/cost/replaced-size.ts';
import { appended, partsOf, pathTo } from '../../../../../shared/cel/cost/shared-path.ts';
import { sizesDeclaredBy, type SizedType } from '../../../../../shared/cel/cost/sized-type.ts';

const text = (maxElements: number): SizedType => ({ maxElements, minSerializedSize: 2 });
const names: SizedType = { maxElements: 10, minSerializedSize: 2, element: text(100) };
const operand = (max: number): Operand => ({ path: undefined, type: STRING, node: undefined, size: exactly(max) });
const overload = { isMember: true, args: [STRING, STRING], result: STRING };

function checked(rule: string) {
  const found = checkExpression(rule, new Map([['self', listOf(STRING)]]));
  if ('finding' in found) throw new Error(found.finding);
  return found;
}
const most = (rule: string): number => expressionCost(checked(rule), names).max;

describe('an expression over a list of at most ten texts of a hundred bytes', () => {
  test.each([
    ['self.size() < 5', 3],
    ["self.all(a, a == 'ten_chars_')", 1 + 10 * (1 + 1 + 1 + 1 + 1) + 1],
    ['self.all(a, quantity(a) == quantity(a))', 1 + 10 * (3 + 2 * 11 + 1) + 1],
    ['self.isSorted()', 1 + 10 * 11],
    ['lists.range(7).size() > 1', 1 + 1 + 10 + 7 + 1],
  ])('%s costs %d at most', (rule, cost) => {
    expect(most(rule)).toBe(cost);
  });
  test('costs beyond all bounds where nothing says how long a text is', () => {
    expect(most("quantity(type(dyn(self[0])) == int ? string(int(dyn(self[0]))) : self[0]) == quantity('1')")).toBe(Infinity);
    expect(estimateCost(checked('self.all(a, a == a)'), () => undefined).max).toBe(Infinity);
  });
});

test('ranges do not leave the integers of upstream', () => {
  expect(multiply(exactly(0), UNKNOWN)).toEqual(exactly(0));
  expect(add(UNKNOWN, exactly(1))).toEqual({ min: 1, max: Infinity });
  expect(multiply(exactly(2 ** 40), exactly(2 ** 40)).max).toBe(Infinity);
  expect(scale(exactly(11), 0.1)).toEqual(exactly(2));
  expect(union(exactly(1), exactly(3))).toEqual({ min: 1, max: 3 });
  expect(sum([exactly(1), exactly(2)])).toEqual(exactly(3));
});

test('a longer path changes one that was built before, while there is room', () => {
  const first = appended(appended(pathTo('self'), 'list'), '@items');
  const field = appended(first, 'a');
  appended(first, 'b');
  expect(partsOf(field)).toEqual(['self', 'list', '@items', 'b']);
});

test('calls cost by the sizes of what they are given', () => {
  expect(languageCost('contains', overload, operand(100), [operand(20)], [])).toEqual({ cost: exactly(20) });
  expect(libraryCost('lowerAscii', overload, operand(100), [], () => undefined)).toEqual({ cost: exactly(10), size: exactly(100) });
  expect(
    listCost('sets.contains', { ...overload, isMember: false }, undefined, [operand(3), operand(4)], (each) => each?.size ?? UNKNOWN),
  ).toEqual({
    cost: exactly(13),
  });
  expect(sizeOfOperand({ path: ['self', '@items'], type: INT, node: undefined, size: undefined }, sizesDeclaredBy(names)).max).toBe(100);
});

test('a replaced text is longest where the shortest parts are replaced by the longest', () => {
  expect(replacedSize(exactly(10), exactly(1), exactly(3))).toEqual({ min: 10, max: 30 });
  expect(replacedSize(exactly(10), exactly(0), exactly(1)).max).toBe(21);
  expect(replacedSize(exactly(10), exactly(5), exactly(1)).max).toBe(10);
});
