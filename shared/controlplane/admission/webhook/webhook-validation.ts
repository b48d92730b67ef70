import type { LabelSelector } from '../../../api/kubernetes.ts';
import type { CelEnvironment } from '../../../cel/cel-environment.ts';
import { admissionEnvironment, compileAdmissionExpression } from './admission-environment.ts';
import { CelCompileError, CelProgramError } from '../../../cel/environment.ts';
import { duplicate, type FieldError, internalError, invalid, notSupported, required, tooMany } from '../../apimachinery/field-error.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems, qualifiedNameProblems } from '../../../kube/name-formats.ts';
import { semanticEqual } from '../../apimachinery/semantic-equal.ts';
import { validateLabelSelector } from '../../kinds/label-selector-validation.ts';
import { type DecodedServiceReference, validateServiceReference, validateWebhookUrl } from './webhook-address-validation.ts';

/** An entry of `webhooks` as decoding leaves it. */
export type DecodedWebhook = {
  name?: string;
  clientConfig?: { url?: string; service?: DecodedServiceReference; caBundle?: string };
  rules?: DecodedRule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  reinvocationPolicy?: string;
  matchConditions?: { name?: string; expression?: string }[];
};
export type DecodedRule = { operations?: string[]; apiGroups?: string[]; apiVersions?: string[]; resources?: string[]; scope?: string };

const ACCEPTED_REVIEW_VERSIONS = ['v1', 'v1beta1'];
const MAX_MATCH_CONDITIONS = 64;

/** validateWebhookConfiguration of pkg/apis/admissionregistration. `previous` relaxes what an old object already violates. */
export function validateWebhooks(
  webhooks: readonly DecodedWebhook[],
  mutating: boolean,
  previous: readonly DecodedWebhook[] | undefined,
): FieldError[] {
  const requireKnownVersion = previous === undefined || previous.every((each) => knowsReviewVersion(each.admissionReviewVersions));
  const requireUniqueNames = previous === undefined || !hasDuplicateNames(previous);
  const seen = new Set<string>();
  return webhooks.flatMap((webhook, i) => {
    const path = `webhooks[${i}]`;
    const name = webhook.name ?? '';
    const repeated = requireUniqueNames && name !== '' && seen.has(name);
    seen.add(name);
    const conditionsUnchanged = previous !== undefined && semanticEqual(webhook.matchConditions, previous[i]?.matchConditions);
    return [
      ...validateWebhook(webhook, mutating, conditionsUnchanged, path),
      ...validateReviewVersions(webhook.admissionReviewVersions ?? [], requireKnownVersion, `${path}.admissionReviewVersions`),
      ...(repeated ? [duplicate(`${path}.name`, name)] : []),
    ];
  });
}

const knowsReviewVersion = (versions: readonly string[] | undefined): boolean =>
  versions?.some((each) => ACCEPTED_REVIEW_VERSIONS.includes(each)) ?? false;
const hasDuplicateNames = (webhooks: readonly DecodedWebhook[]): boolean =>
  new Set(webhooks.map(({ name }) => name)).size < webhooks.length;

function validateWebhook(webhook: DecodedWebhook, mutating: boolean, conditionsUnchanged: boolean, path: string): FieldError[] {
  const { timeoutSeconds, clientConfig = {}, sideEffects } = webhook;
  return [
    ...fullyQualifiedName(webhook.name ?? '', `${path}.name`),
    ...(webhook.rules ?? []).flatMap((rule, i) => validateRule(rule, `${path}.rules[${i}]`)),
    ...oneOf(webhook.failurePolicy, ['Fail', 'Ignore'], `${path}.failurePolicy`),
    ...oneOf(webhook.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`),
    ...(sideEffects === undefined
      ? [required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun')]
      : oneOf(sideEffects, ['None', 'NoneOnDryRun'], `${path}.sideEffects`)),
    ...(timeoutSeconds !== undefined && (timeoutSeconds > 30 || timeoutSeconds < 1)
      ? [invalid(`${path}.timeoutSeconds`, timeoutSeconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...validateLabelSelector(webhook.namespaceSelector ?? {}, `${path}.namespaceSelector`),
    ...validateLabelSelector(webhook.objectSelector ?? {}, `${path}.objectSelector`),
    ...(mutating ? oneOf(webhook.reinvocationPolicy, ['IfNeeded', 'Never'], `${path}.reinvocationPolicy`) : []),
    ...validateClientConfig(clientConfig, `${path}.clientConfig`),
    ...(conditionsUnchanged ? [] : validateMatchConditions(webhook.matchConditions ?? [], `${path}.matchConditions`)),
  ];
}

export const oneOf = (value: string | undefined, supported: readonly string[], path: string): FieldError[] =>
  value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];

function fullyQualifiedName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) return [invalid(path, name, problems.join(','))];
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')] : [];
}

function validateClientConfig({ url, service }: NonNullable<DecodedWebhook['clientConfig']>, path: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) return [required(path, 'exactly one of url or service is required')];
  return url !== undefined ? validateWebhookUrl(url, `${path}.url`) : validateServiceReference(service ?? {}, `${path}.service`);
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** validateRuleWithOperations. */
export function validateRule(rule: DecodedRule, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  return [
    ...(operations.length === 0 ? [required(`${path}.operations`)] : []),
    ...aloneIfWildcard(operations, `${path}.operations`, 'operations'),
    ...operations.flatMap((operation, i) => oneOf(operation, OPERATIONS, `${path}.operations[${i}]`)),
    ...(apiGroups.length === 0 ? [required(`${path}.apiGroups`)] : []),
    ...aloneIfWildcard(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...(apiVersions.length === 0 ? [required(`${path}.apiVersions`)] : []),
    ...aloneIfWildcard(apiVersions, `${path}.apiVersions`, 'API versions'),
    ...apiVersions.flatMap((version, i) => (version === '' ? [required(`${path}.apiVersions[${i}]`)] : [])),
    ...validateResources(resources, `${path}.resources`),
    ...oneOf(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`),
  ];
}

const aloneIfWildcard = (values: readonly string[], path: string, what: string): FieldError[] =>
  values.length > 1 && values.includes('*') ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)] : [];

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const everySubresourceOf = new Set<string>();
  const subresourceOfEvery = new Set<string>();
  for (const [i, pattern] of resources.entries()) {
    if (pattern === '') errors.push(required(`${path}[${i}]`));
    const slash = pattern.indexOf('/');
    if (slash < 0) continue;
    const [resource, sub] = [pattern.slice(0, slash), pattern.slice(slash + 1)];
    if (everySubresourceOf.has(resource)) {
      errors.push(invalid(`${path}[${i}]`, pattern, `if '${resource}/*' is present, must not specify ${pattern}`));
    }
    if (subresourceOfEvery.has(sub))
      errors.push(invalid(`${path}[${i}]`, pattern, `if '*/${sub}' is present, must not specify ${pattern}`));
    if (sub === '*') everySubresourceOf.add(resource);
    if (resource === '*') subresourceOfEvery.add(sub);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && resources.some((each) => each !== '*' && !each.includes('/'))) {
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}

function validateReviewVersions(versions: readonly string[], requireKnown: boolean, path: string): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${ACCEPTED_REVIEW_VERSIONS.join(', ')}`)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) {
      errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'));
      continue;
    }
    seen.add(version);
    for (const problem of dns1035LabelProblems(version)) errors.push(invalid(`${path}[${i}]`, version, problem));
  }
  if (requireKnown && !knowsReviewVersion(versions)) {
    errors.push(invalid(path, versions, `must include at least one of ${ACCEPTED_REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

/** Also of policies, whose expressions may speak about `params`. */
export function validateMatchConditions(
  conditions: readonly { name?: string; expression?: string }[],
  path: string,
  environment: CelEnvironment = admissionEnvironment,
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MAX_MATCH_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_MATCH_CONDITIONS));
  const seen = new Set<string>();
  for (const [i, { name = '', expression = '' }] of conditions.entries()) {
    const at = `${path}[${i}]`;
    errors.push(...validateExpression(environment, expression.trim(), `${at}.expression`));
    if (name === '') errors.push(required(`${at}.name`));
    else for (const problem of qualifiedNameProblems(name)) errors.push(invalid(`${at}.name`, name, problem));
    if (name !== '' && seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
  }
  return errors;
}

function validateExpression(environment: CelEnvironment, expression: string, path: string): FieldError[] {
  return expression === ''
    ? [required(path)]
    : compileErrors(() => compileAdmissionExpression(environment, expression, ['bool']), expression, path);
}

/** The finding about an expression that does not compile. */
export function compileErrors(compile: () => unknown, expression: string, path: string): FieldError[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (error instanceof CelProgramError) return [internalError(path, error.message)];
    if (!(error instanceof CelCompileError)) throw error;
    return [invalid(path, expression, error.message)];
  }
}
