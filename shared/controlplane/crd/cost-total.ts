import { type FieldError, forbidden } from '../apimachinery/field-error.ts';
import { costProblem } from './cost-limits.ts';

/** All rules of a schema together may cost as much. */
export const SCHEMA_COST_MAX = 100_000_000;

/** What an expression of a schema is estimated to cost in one object. `path` leads to it. */
export type ObservedCost = { readonly path: string; readonly cost: number };

/** Adds up what the rules of a schema are estimated to cost. */
export interface CostTotal {
  observe(path: string, cost: number): void;
  readonly observed: readonly ObservedCost[];
  /** What is said when they are too much together: of the four that cost most, then of the schema at `path`. */
  problems(path: string): FieldError[];
}

const NAMED_MAX = 4;

export function createCostTotal(): CostTotal {
  const observed: ObservedCost[] = [];
  return {
    observed,
    observe: (path, cost) => void observed.push({ path, cost }),
    problems: (path) => {
      const total = observed.reduce((sum, { cost }) => sum + cost, 0);
      if (total <= SCHEMA_COST_MAX) return [];
      const expensive = observed.filter(({ cost }) => cost >= SCHEMA_COST_MAX / 100).toSorted((a, b) => b.cost - a.cost);
      const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
      return [
        ...expensive
          .slice(0, NAMED_MAX)
          .map((each) => forbidden(each.path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema')),
        forbidden(path, costProblem(what, total, SCHEMA_COST_MAX)),
      ];
    },
  };
}
