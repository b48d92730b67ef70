import { type FieldError, forbidden } from '../apimachinery/field-error.ts';
import { expressionCost } from '../../cel/cost/expression-cost.ts';
import type { CheckedRule } from './cel-rules.ts';
import { costProblem, RULE_COST_MAX } from './cost-limits.ts';
import type { CostTotal } from './cost-total.ts';
import type { JsonSchema } from './json-schema.ts';
import { REQUEST_BYTES_MAX, sizedTypeOf } from './sized-type.ts';

/** How often values of a schema can be in one object at most; undefined where a list or map above has no limit. */
export type Times = number | undefined;

/** How often what is inside of a schema can be there, when the schema itself is there so often. */
export function timesInside(schema: JsonSchema, times: Times): Times {
  const most = mostInside(schema);
  return times === undefined || most === undefined ? undefined : times * most;
}

function mostInside(schema: JsonSchema): number | undefined {
  if (schema.type === 'array') return limitOf(schema.maxItems);
  return schema.type === 'object' && schema.additionalProperties !== undefined ? limitOf(schema.maxProperties) : 1;
}

const limitOf = (limit: number | undefined): number | undefined => (limit === undefined ? undefined : Math.max(0, limit));

export type CostLimits = {
  readonly total: CostTotal;
  /** Of one rule any cost is taken. */
  readonly anyOfOne: boolean;
};

/** Estimates what the rules of a schema may cost in one object, adds it up, and says which is too much by itself. */
export function ruleCostCheck(
  schema: JsonSchema,
  isObjectRoot: boolean,
  times: Times,
  { total, anyOfOne }: CostLimits,
): (checked: CheckedRule, path: string) => FieldError[] {
  let estimator: RuleEstimator | undefined;
  return (checked, path) => {
    estimator ??= createRuleEstimator(schema, isObjectRoot, times);
    const { ofRule, ofMessage } = estimator(checked);
    const check = (field: string, what: string, cost: number): FieldError[] => {
      total.observe(`${path}.${field}`, cost);
      return anyOfOne || cost <= RULE_COST_MAX ? [] : [forbidden(`${path}.${field}`, costProblem(what, cost, RULE_COST_MAX))];
    };
    return [
      ...check('rule', 'estimated rule cost', ofRule),
      ...(ofMessage === undefined ? [] : check('messageExpression', 'estimated messageExpression cost', ofMessage)),
    ];
  };
}

/**
 * What the rules of one schema may cost in one object. The message counts once: it is computed for the first value that breaks the rule.
 */
export type RuleEstimator = (checked: CheckedRule) => { readonly ofRule: number; readonly ofMessage: number | undefined };

export function createRuleEstimator(schema: JsonSchema, isObjectRoot: boolean, times: Times): RuleEstimator {
  const sized = sizedTypeOf(schema, isObjectRoot);
  if (sized === undefined) return () => ({ ofRule: 0, ofMessage: undefined });
  // Without limits above as many as a request has room for, with a comma after each.
  const most = times ?? Math.floor(REQUEST_BYTES_MAX / (sized.minSerializedSize + 1));
  return ({ rule, message }) => ({
    ofRule: rule === undefined ? 0 : product(expressionCost(rule, sized).max, most),
    ofMessage: message === undefined ? undefined : expressionCost(message, sized).max,
  });
}

/** Nothing, however often, is nothing. */
const product = (cost: number, times: number): number => (cost === 0 || times === 0 ? 0 : cost * times);
