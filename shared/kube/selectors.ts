import type { DeepReadonly, LabelSelector } from '../api/kubernetes.ts';
import { type LabelRequirement, parseRequirements } from './selectors-parser.ts';

/** A selector ready for matching: all terms must hold, none at all matches everything. */
export type LabelRequirements = readonly LabelRequirement[];

export type Labels = Readonly<Record<string, string>>;

/** A selector string that cannot be read. The message is apimachinery's. */
export class SelectorSyntaxError extends Error {
  override readonly name = 'SelectorSyntaxError';
}

/** Matches no object: what an absent LabelSelector means where one is expected. */
export const MATCHES_NOTHING: LabelRequirements = [{ key: '', operator: 'In', values: [] }];

/** Reads a selector string such as `app=web,tier in (a, b),!canary`. '' matches everything. */
export function parseLabelSelector(text: string): LabelRequirements {
  const result = parseRequirements(text);
  if (typeof result === 'string') throw new SelectorSyntaxError(result);
  return result;
}

/** Whether an object with these labels is selected. */
export const matchesLabelSelector = (requirements: LabelRequirements, labels: Labels | undefined): boolean =>
  requirements.every((requirement) => meets(requirement, labels ?? {}));

function meets({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return comparesAsInteger(value, values[0], (left, right) => left > right);
    case 'Lt':
      return comparesAsInteger(value, values[0], (left, right) => left < right);
  }
}

const INTEGER = /^[+-]?\d+$/;
function comparesAsInteger(
  value: string | undefined,
  bound: string | undefined,
  compare: (left: bigint, right: bigint) => boolean,
): boolean {
  if (value === undefined || bound === undefined || !INTEGER.test(value) || !INTEGER.test(bound)) return false;
  return compare(BigInt(value.replace('+', '')), BigInt(bound.replace('+', '')));
}

/** The terms of a LabelSelector object. An absent one matches nothing, an empty one everything (LabelSelectorAsSelector). */
export function requirementsOf(selector: DeepReadonly<LabelSelector> | null | undefined): LabelRequirements {
  if (selector === undefined || selector === null) return MATCHES_NOTHING;
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (!isSetOperator(operator)) throw new SelectorSyntaxError(`"${operator}" is not a valid label selector operator`);
    requirements.push({ key, operator, values: values ?? [] });
  }
  return requirements;
}

const isSetOperator = (operator: string): operator is 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' =>
  ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);

/** Whether a LabelSelector object selects these labels. Where it is matched often, keep {@link requirementsOf} instead. */
export const matchesSelectorObject = (selector: DeepReadonly<LabelSelector> | null | undefined, labels: Labels | undefined): boolean =>
  matchesLabelSelector(requirementsOf(selector), labels);
