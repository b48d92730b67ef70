import type { LabelSelector } from '../../api/kubernetes.ts';
import { type FieldError, forbidden, invalid, required } from '../field-error.ts';
import { labelValueProblems, qualifiedNameProblems } from '../kinds/name-formats.ts';
import { validateLabels } from '../kinds/object-meta-validation.ts';

/** ValidateLabelSelector of apimachinery. */
export function validateLabelSelector(selector: LabelSelector | undefined, path: string): FieldError[] {
  return [
    ...validateLabels(selector?.matchLabels, `${path}.matchLabels`),
    ...(selector?.matchExpressions ?? []).flatMap((each, i) => validateRequirement(each, `${path}.matchExpressions[${i}]`)),
  ];
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function validateRequirement({ key, operator, values = [] }: Requirement, path: string): FieldError[] {
  return [
    ...validateOperator(operator, values, path),
    ...qualifiedNameProblems(key ?? '').map((problem) => invalid(`${path}.key`, key ?? '', problem)),
    ...values.flatMap((value, i) => labelValueProblems(value).map((problem) => invalid(`${path}.values[${i}]`, value, problem))),
  ];
}

function validateOperator(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length === 0 ? [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")] : [];
    case 'Exists':
    case 'DoesNotExist':
      return values.length > 0 ? [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : [];
    default:
      return [invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator')];
  }
}
