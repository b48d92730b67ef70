import { expect, test } from 'vitest';
import { CostBudget, OutOfBudgetError } from '../../../../shared/cel/cost-budget.ts';

test('a budget can be spent to the last unit, and not beyond', () => {
  const paid: number[] = [];
  const budget = new CostBudget(10, (units) => paid.push(units));
  budget.spend(4);
  expect(budget.isSpent).toBe(false);
  budget.spend(6);
  expect(budget.isSpent).toBe(true);
  budget.spend(0);
  expect(() => budget.spend(1)).toThrow(OutOfBudgetError);
  expect(paid).toEqual([4, 6, 0, 1]);
});
