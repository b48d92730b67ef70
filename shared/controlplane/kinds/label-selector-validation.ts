import type { LabelSelector } from '../../api/kubernetes.ts';
import { requirementsOf, type LabelRequirements } from '../../kube/selectors.ts';
import { forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { Decoded } from './decoded.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validateLabels } from '../apimachinery/object-meta-validation.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

type Expression = NonNullable<Decoded<LabelSelector>['matchExpressions']>[number];

/** ValidateLabelSelector of apimachinery. */
export const validateLabelSelector = (selector: Decoded<LabelSelector>, path: string): FieldError[] => [
  ...validateLabels(selector.matchLabels, `${path}.matchLabels`),
  ...(selector.matchExpressions ?? []).flatMap((expression, i) => validateExpression(expression, `${path}.matchExpressions[${i}]`)),
];

const validateExpression = ({ key = '', operator = '', values = [] }: Expression, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  for (const problem of qualifiedNameProblems(key)) errors.push(invalid(`${path}.key`, key, problem));
  for (const [i, value] of values.entries()) {
    for (const problem of labelValueProblems(value)) errors.push(invalid(`${path}.values[${i}]`, value, problem));
  }
  return errors;
};

/** The selector ready for matching, or undefined when it is malformed and so matches neither one thing nor another. */
export const usableRequirements = (selector: Decoded<LabelSelector> | undefined): LabelRequirements | undefined => {
  if (selector === undefined) return requirementsOf(undefined);
  if (validateLabelSelector(selector, '').length > 0) return undefined;
  const expressions = (selector.matchExpressions ?? []).map(({ key = '', operator = '', values = [] }) => ({ key, operator, values }));
  return requirementsOf({
    ...omitUndefined({ matchLabels: selector.matchLabels }),
    matchExpressions: expressions,
  });
};
