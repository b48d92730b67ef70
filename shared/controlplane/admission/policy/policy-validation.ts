import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../apimachinery/field-error.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems, pathSegmentProblems, qualifiedNameProblems } from '../../../kube/name-formats.ts';
import { semanticEqual } from '../../apimachinery/semantic-equal.ts';
import { validateLabelSelector } from '../../kinds/label-selector-validation.ts';
import { compileAdmissionExpression, compiled } from '../webhook/admission-environment.ts';
import { compileErrors, oneOf, validateMatchConditions, validateRule } from '../webhook/webhook-validation.ts';
import { policyEnvironments, type PolicyEnvironments } from './policy-environments.ts';
import type {
  DecodedBinding,
  DecodedMatchResources,
  DecodedNamedRule,
  DecodedParamKind,
  DecodedParamRef,
  DecodedPolicy,
  DecodedPolicySpec,
  DecodedPolicyStatus,
  DecodedValidation,
} from './policy.ts';

const AUDIT_ANNOTATIONS_MAX = 20;
const VALUE_EXPRESSION_MAX_BYTES = 5 * 1024;
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];

/**
 * validateValidatingAdmissionPolicy of pkg/apis/admissionregistration. `previous`: match conditions that have not changed are not judged
 * anew.
 */
export function validatePolicy({ metadata, spec = {} }: DecodedPolicy, previous: DecodedPolicy | undefined): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions, variables = [], validations = [], auditAnnotations = [] } = spec;
  const environments = policyEnvironments(paramKind !== undefined);
  const nothingToDo = 'validations or auditAnnotations must contain at least one item';
  return [
    ...(failurePolicy === undefined ? [required('spec.failurePolicy')] : oneOf(failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy')),
    ...(paramKind === undefined ? [] : validateParamKind(paramKind, 'spec.paramKind')),
    ...(matchConstraints === undefined
      ? [required('spec.matchConstraints')]
      : [
          ...validateMatchResources(matchConstraints, 'spec.matchConstraints'),
          ...((matchConstraints.resourceRules ?? []).length === 0 ? [required('spec.matchConstraints.resourceRules')] : []),
        ]),
    ...(previous !== undefined && sameConditions(spec, previous.spec)
      ? []
      : validateMatchConditions(matchConditions ?? [], 'spec.matchConditions', environments.matchConditions)),
    ...variables.flatMap((variable, i) => validateVariable(variable, environments, `spec.variables[${i}]`)),
    ...(validations.length === 0 && auditAnnotations.length === 0
      ? [required('spec.validations', nothingToDo), required('spec.auditAnnotations', nothingToDo)]
      : []),
    ...validations.flatMap((validation, i) => validateValidation(validation, environments, `spec.validations[${i}]`)),
    ...validateAuditAnnotations(auditAnnotations, metadata.name, environments),
  ];
}

const sameConditions = (next: DecodedPolicySpec, previous: DecodedPolicySpec = {}): boolean =>
  semanticEqual(next.paramKind, previous.paramKind) && semanticEqual(next.matchConditions, previous.matchConditions);

function validateParamKind({ apiVersion = '', kind = '' }: DecodedParamKind, path: string): FieldError[] {
  return [
    ...(apiVersion === '' ? [required(`${path}.apiVersion`)] : apiVersionErrors(apiVersion, `${path}.apiVersion`)),
    ...(kind === ''
      ? [required(`${path}.kind`)]
      : joined(`${path}.kind`, kind, dns1035LabelProblems(kind.toLowerCase()), 'may have mixed case, but should otherwise match: ')),
  ];
}

function apiVersionErrors(apiVersion: string, path: string): FieldError[] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [group, version] = parts.length === 1 ? ['', apiVersion] : [parts[0] ?? '', parts[1] ?? ''];
  return [
    ...(group === '' ? [] : joined(path, group, dns1123SubdomainProblems(group))),
    ...(version === '' ? [invalid(path, apiVersion, 'version must be specified')] : joined(path, version, dns1035LabelProblems(version))),
  ];
}

const joined = (path: string, value: string, problems: readonly string[], lead = ''): FieldError[] =>
  problems.length === 0 ? [] : [invalid(path, value, lead + problems.join(','))];

function validateMatchResources(match: DecodedMatchResources, path: string): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector } = match;
  const selector = (value: typeof namespaceSelector, at: string): FieldError[] =>
    value === undefined ? [required(at)] : validateLabelSelector(value, at);
  const rules = (named: readonly DecodedNamedRule[] | undefined, at: string): FieldError[] =>
    (named ?? []).flatMap((rule, i) => [
      ...validateNames(rule.resourceNames ?? [], `${at}[${i}].resourceNames`),
      ...validateRule(rule, `${at}[${i}]`),
    ]);
  return [
    ...(matchPolicy === undefined ? [required(`${path}.matchPolicy`)] : oneOf(matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`)),
    ...selector(namespaceSelector, `${path}.namespaceSelector`),
    ...selector(objectSelector, `${path}.objectSelector`),
    ...rules(match.resourceRules, `${path}.resourceRules`),
    ...rules(match.excludeResourceRules, `${path}.excludeResourceRules`),
  ];
}

const validateNames = (names: readonly string[], path: string): FieldError[] =>
  names.flatMap((name, i) => [
    ...pathSegmentProblems(name).map((problem) => invalid(`${path}[${i}]`, name, problem)),
    ...(names.indexOf(name) < i ? [duplicate(`${path}[${i}]`, name)] : []),
  ]);

/** Declares the variable for the expressions after it; one that does not compile may be of any type. */
function validateVariable(
  { name = '', expression = '' }: { name?: string; expression?: string },
  environments: PolicyEnvironments,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === '') errors.push(required(`${path}.name`, 'name is not specified'));
  else if (!isIdentifier(name)) errors.push(invalid(`${path}.name`, name, 'must be a valid CEL identifier'));
  if (expression.trim() === '') return [...errors, required(`${path}.expression`, 'expression is not specified')];
  let type = 'dyn';
  const compile = (): unknown => ({ type } = compiled(environments.expressions(), expression));
  errors.push(...compileErrors(compile, expression, `${path}.expression`));
  if (isIdentifier(name)) environments.declare(name, type);
  return errors;
}

const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);

function validateValidation(validation: DecodedValidation, environments: PolicyEnvironments, path: string): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  return [
    ...(expression.trim() === ''
      ? [required(`${path}.expression`, 'expression is not specified')]
      : compileErrors(
          () => compileAdmissionExpression(environments.expressions(), expression, ['bool']),
          expression,
          `${path}.expression`,
        )),
    ...validateMessageExpression(messageExpression, environments, `${path}.messageExpression`),
    ...(message !== '' && message.trim() === '' ? [invalid(`${path}.message`, message, 'must be non-empty if specified')] : []),
    ...(/[\n\r]/.test(message.trim()) ? [invalid(`${path}.message`, message, 'must not contain line breaks')] : []),
    ...oneOf(reason, REASONS, `${path}.reason`),
  ];
}

function validateMessageExpression(expression: string, environments: PolicyEnvironments, path: string): FieldError[] {
  if (expression === '') return [];
  if (expression.trim() === '') return [invalid(path, expression, 'must be non-empty if specified')];
  return compileErrors(() => compileAdmissionExpression(environments.messages(), expression, ['string']), expression, path);
}

function validateAuditAnnotations(
  annotations: readonly { key?: string; valueExpression?: string }[],
  policyName: string,
  environments: PolicyEnvironments,
): FieldError[] {
  const path = 'spec.auditAnnotations';
  const keys = annotations.map(({ key = '' }) => key);
  return [
    ...(annotations.length > AUDIT_ANNOTATIONS_MAX
      ? [invalid(path, annotations, `must not have more than ${AUDIT_ANNOTATIONS_MAX} auditAnnotations`)]
      : []),
    ...annotations.flatMap(({ key = '', valueExpression = '' }, i) => [
      ...(policyName === ''
        ? [invalid(`${path}[${i}].key`, key, 'requires metadata.name be non-empty')]
        : qualifiedNameProblems(`${policyName}/${key}`).map((problem) => invalid(`${path}[${i}].key`, `${policyName}/${key}`, problem))),
      ...validateValueExpression(valueExpression, environments, `${path}[${i}].valueExpression`),
      ...(keys.indexOf(key) < i ? [duplicate(`${path}[${i}].key`, key)] : []),
    ]),
  ];
}

function validateValueExpression(expression: string, environments: PolicyEnvironments, path: string): FieldError[] {
  const trimmed = expression.trim();
  if (trimmed === '') return [required(path, 'valueExpression is not specified')];
  if (Buffer.byteLength(trimmed) > VALUE_EXPRESSION_MAX_BYTES) {
    return [required(path, `must not exceed ${VALUE_EXPRESSION_MAX_BYTES} bytes in length`)];
  }
  return compileErrors(() => compileAdmissionExpression(environments.expressions(), trimmed, ['string', 'null']), expression, path);
}

/** validateValidatingAdmissionPolicyStatus. */
export const validatePolicyStatus = ({ typeChecking }: DecodedPolicyStatus = {}): FieldError[] =>
  (typeChecking?.expressionWarnings ?? []).flatMap(({ fieldRef = '', warning = '' }, i) => [
    ...(warning === '' ? [required(`status.typeChecking.expressionWarnings[${i}].warning`)] : []),
    ...(fieldRef.trim() === '' ? [required(`status.typeChecking.expressionWarnings[${i}].fieldRef`)] : []),
  ]);

/** validateValidatingAdmissionPolicyBinding; `matchResouces` is upstream's spelling. */
export function validateBinding({ spec = {} }: DecodedBinding): FieldError[] {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
  return [
    ...(policyName === ''
      ? [required('spec.policyName')]
      : dns1123SubdomainProblems(policyName).map((problem) => invalid('spec.policyName', policyName, problem))),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, 'spec.paramRef')),
    ...(matchResources === undefined ? [] : validateMatchResources(matchResources, 'spec.matchResouces')),
    ...validateActions(validationActions, 'spec.validationActions'),
  ];
}

function validateParamRef({ name = '', selector, parameterNotFoundAction = '' }: DecodedParamRef, path: string): FieldError[] {
  const both = name !== '' && selector !== undefined;
  return [
    ...(name === '' ? [] : pathSegmentProblems(name).map((problem) => invalid(`${path}.name`, name, problem))),
    ...(both ? [forbidden(`${path}.name`, 'name and selector are mutually exclusive')] : []),
    ...(selector === undefined ? [] : validateLabelSelector(selector, `${path}.selector`)),
    ...(both ? [forbidden(`${path}.selector`, 'name and selector are mutually exclusive')] : []),
    ...(name === '' && selector === undefined ? [required(path, 'one of name or selector must be specified')] : []),
    ...(parameterNotFoundAction === ''
      ? [required(`${path}.parameterNotFoundAction`)]
      : oneOf(parameterNotFoundAction, ['Deny', 'Allow'], `${path}.parameterNotFoundAction`)),
  ];
}

function validateActions(actions: readonly string[], path: string): FieldError[] {
  const twice =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...actions.flatMap((action, i) => [
      ...(ACTIONS.includes(action) ? [] : [notSupported(`${path}[${i}]`, action, ACTIONS)]),
      ...(actions.indexOf(action) < i ? [duplicate(`${path}[${i}]`, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalid(path, actions, twice)] : []),
    ...(actions.length === 0 ? [required(path, 'at least one validation action is required')] : []),
  ];
}
