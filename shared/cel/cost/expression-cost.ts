import type { CheckedExpression } from '../checker/check-expression.ts';
import { estimateCost } from './estimate.ts';
import type { Range } from './estimate-range.ts';
import { sizesDeclaredBy, type SizedType } from './sized-type.ts';

/** From what to what an expression over values of a type is estimated to cost, in CEL cost units. */
export const expressionCost = (checked: CheckedExpression, root: SizedType): Range => estimateCost(checked, sizesDeclaredBy(root));
