import type { DeepReadonly, PodSpec } from '../api/kubernetes.ts';
import type { LabelRequirements } from './selectors.ts';
import type { LabelRequirement } from './selectors-parser.ts';

/** One alternative of a pod's required node affinity. */
export type NodeTerm = DeepReadonly<
  NonNullable<
    NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >['nodeSelectorTerms'][number]
>;

/** The alternatives of a pod's required node affinity; undefined where nothing is required. */
export const requiredTerms = (spec: DeepReadonly<PodSpec>): readonly NodeTerm[] | undefined =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

/** Requirements of a term, on labels or fields, ready for matching. */
export const nodeRequirements = (requirements: NodeTerm['matchExpressions']): LabelRequirements =>
  (requirements ?? []).map(({ key, operator, values = [] }) => ({ key, operator: isOperator(operator) ? operator : 'In', values }));

/** A term without any requirement describes no node. */
export const isEmptyTerm = ({ matchExpressions = [], matchFields = [] }: NodeTerm): boolean =>
  matchExpressions.length === 0 && matchFields.length === 0;

/** The API server accepts no other operator. */
const isOperator = (operator: string): operator is LabelRequirement['operator'] => OPERATORS.includes(operator);
const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] satisfies LabelRequirement['operator'][];
