import { OMIT_VALUE, duplicate, invalid, notSupported, required, tooLong, tooMany, type FieldError } from '../apimachinery/field-error.ts';
import { countIndexes } from './completion-indexes.ts';
import type { DecodedJobSpec } from './decoded.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validateNonNegative } from './number-validation.ts';

const RULES_MAX = 20;
const POD_CONDITIONS_MAX = 20;
const EXIT_CODES_MAX = 255;
const SUCCEEDED_INDEXES_MAX_BYTES = 64 * 1024;

const ACTIONS: readonly string[] = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const EXIT_CODE_OPERATORS: readonly string[] = ['In', 'NotIn'];
const CONDITION_STATUSES: readonly string[] = ['False', 'True', 'Unknown'];

type FailureRule = NonNullable<NonNullable<DecodedJobSpec['podFailurePolicy']>['rules']>[number];
type SuccessRule = NonNullable<NonNullable<DecodedJobSpec['successPolicy']>['rules']>[number];

export const validatePodFailurePolicy = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const podSpec = spec.template?.spec ?? {};
  const names = [...(podSpec.containers ?? []), ...(podSpec.initContainers ?? [])].map(({ name }) => name ?? '');
  return [
    ...(rules.length > RULES_MAX ? [tooMany(`${path}.rules`, rules.length, RULES_MAX)] : []),
    ...rules.flatMap((rule, i) => validateFailureRule(rule, `${path}.rules[${i}]`, spec, names)),
  ];
};

const validateFailureRule = (rule: FailureRule, path: string, spec: DecodedJobSpec, containerNames: readonly string[]): FieldError[] => {
  const conditions = rule.onPodConditions ?? [];
  const errors = validateAction(rule.action ?? '', `${path}.action`, spec);
  if (rule.onExitCodes !== undefined) errors.push(...validateExitCodes(rule.onExitCodes, `${path}.onExitCodes`, containerNames));
  errors.push(...validatePodConditions(conditions, `${path}.onPodConditions`));
  if (rule.onExitCodes !== undefined && conditions.length > 0) {
    errors.push(invalid(path, OMIT_VALUE, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (rule.onExitCodes === undefined && conditions.length === 0) {
    errors.push(invalid(path, OMIT_VALUE, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
};

const validateAction = (action: string, path: string, spec: DecodedJobSpec): FieldError[] => {
  if (action === 'FailIndex') {
    return spec.backoffLimitPerIndex === undefined ? [invalid(path, action, 'requires the backoffLimitPerIndex to be set')] : [];
  }
  return validateChoice(action, path, ACTIONS);
};

/** A required choice; the list in the complaint about an empty one is Go's %q of a slice. */
const validateChoice = (value: string, path: string, choices: readonly string[]): FieldError[] => {
  if (value === '') return [required(path, `valid values: [${choices.map((choice) => JSON.stringify(choice)).join(' ')}]`)];
  return choices.includes(value) ? [] : [notSupported(path, value, choices)];
};

const validateExitCodes = (
  requirement: NonNullable<FailureRule['onExitCodes']>,
  path: string,
  containerNames: readonly string[],
): FieldError[] => {
  const { operator = '', containerName } = requirement;
  // A required list that is absent is stored as null.
  const values = requirement.values ?? [];
  const errors = validateChoice(operator, `${path}.operator`, EXIT_CODE_OPERATORS);
  if (containerName !== undefined && !containerNames.includes(containerName)) {
    const rule = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(`${path}.containerName`, containerName, rule));
  }
  if (values.length === 0) errors.push(invalid(`${path}.values`, requirement.values ?? null, 'at least one value is required'));
  if (values.length > EXIT_CODES_MAX) errors.push(tooMany(`${path}.values`, values.length, EXIT_CODES_MAX));
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0) errors.push(invalid(`${path}.values[${i}]`, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < i) errors.push(duplicate(`${path}.values[${i}]`, value));
  }
  if (values.some((value, i) => (values[i - 1] ?? value) > value)) errors.push(invalid(`${path}.values`, values, 'must be ordered'));
  return errors;
};

const validatePodConditions = (patterns: NonNullable<FailureRule['onPodConditions']>, path: string): FieldError[] => [
  ...(patterns.length > POD_CONDITIONS_MAX ? [tooMany(path, patterns.length, POD_CONDITIONS_MAX)] : []),
  ...patterns.flatMap(({ type = '', status = '' }, i) => [
    ...qualifiedNameProblems(type).map((problem) => invalid(`${path}[${i}].type`, type, problem)),
    ...validateChoice(status, `${path}[${i}].status`, CONDITION_STATUSES),
  ]),
];

/** Only for Indexed Jobs: the policy speaks of indexes. */
export const validateSuccessPolicy = (spec: DecodedJobSpec, path: string): FieldError[] => {
  const rules = spec.successPolicy?.rules ?? [];
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    errors.push(required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (rules.length > RULES_MAX) errors.push(tooMany(`${path}.rules`, rules.length, RULES_MAX));
  for (const [i, rule] of rules.entries()) errors.push(...validateSuccessRule(rule, `${path}.rules[${i}]`, spec.completions ?? 0));
  return errors;
};

const validateSuccessRule = (rule: SuccessRule, path: string, completions: number): FieldError[] => {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededIndexes === undefined && succeededCount === undefined) {
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors: FieldError[] = [];
  let listed: number | undefined;
  if (succeededIndexes !== undefined) {
    const field = `${path}.succeededIndexes`;
    if (Buffer.byteLength(succeededIndexes) > SUCCEEDED_INDEXES_MAX_BYTES) errors.push(tooLong(field, SUCCEEDED_INDEXES_MAX_BYTES));
    const indexes = countIndexes(succeededIndexes, completions);
    if ('problem' in indexes) errors.push(invalid(field, succeededIndexes, `error parsing succeededIndexes: ${indexes.problem}`));
    // An unreadable list counts as an empty one in what follows.
    listed = 'count' in indexes ? indexes.count : 0;
  }
  if (succeededCount !== undefined) errors.push(...validateSucceededCount(succeededCount, `${path}.succeededCount`, completions, listed));
  return errors;
};

const validateSucceededCount = (count: number, path: string, completions: number, listed: number | undefined): FieldError[] => {
  const errors = validateNonNegative(count, path);
  if (count > completions) {
    errors.push(invalid(path, count, `must be less than or equal to ${completions} (the number of specified completions)`));
  }
  if (listed !== undefined && count > listed) {
    const what = 'the number of indexes in the specified succeededIndexes field';
    errors.push(invalid(path, count, `must be less than or equal to ${listed} (${what})`));
  }
  return errors;
};
