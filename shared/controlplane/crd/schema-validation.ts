import { type FieldError, forbidden, internalError, invalid, notSupported, required } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { CelCompileError } from '../../cel/environment.ts';
import { type CheckedRule, compileRules, ruleChecker, usesOldSelf } from './cel-rules.ts';
import { validateEmbedded } from './embedded-validation.ts';
import { readFieldPath } from './field-path.ts';
import { itemsOf, type JsonSchema, sortedProperties, type ValidationRule, valuesOf } from './json-schema.ts';
import { createCostTotal, type ObservedCost } from './cost-total.ts';
import { type CostLimits, ruleCostCheck, timesInside, type Times } from './rule-cost.ts';
import { pruneUnknownFields } from './schema-pruning.ts';
import { validateStructural } from './structural-validation.ts';
import { validateValue } from './value-validation.ts';
import { validateExtensionKeywords } from './list-keyword-validation.ts';

/**
 * validateCustomResourceDefinitionValidation of apiextensions: may a CRD have this schema? Where it had it before, no rule by itself is
 * refused for what it may cost.
 */
export function validateCrdSchema(schema: JsonSchema, hasStatus: boolean, path: string, hadBefore = false): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) errors.push(...validateRootFields(schema, path));
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const structural = validateStructural(schema, path);
  const defaults = structural.length > 0 ? [] : validateDefaults(schema, path, true);
  errors.push(...structural, ...defaults);
  const isSound = structural.length + defaults.length === 0;
  const total = createCostTotal();
  const found = validateKeywords(schema, path, rootContext({ total, anyOfOne: hadBefore }));
  errors.push(...found.schemaErrors);
  if (!isSound || found.schemaErrors.length > 0) return errors;
  for (const check of found.ruleChecks) errors.push(...check());
  return [...errors, ...total.problems(path)];
}

/** What each rule of a schema, and each message that is computed, is estimated to cost in one object. */
export function estimatedCosts(schema: JsonSchema): readonly ObservedCost[] {
  const total = createCostTotal();
  for (const check of validateKeywords(schema, '', rootContext({ total, anyOfOne: true })).ruleChecks) check();
  return total.observed;
}

const rootContext = (costs: CostLimits): Context => ({
  isRoot: true,
  insideMetadata: false,
  noDefaults: undefined,
  uncorrelatable: undefined,
  times: 1,
  costs,
});

const ROOT_FIELDS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );

/** With a status subresource only these may stand at the root, so that the schema of the status can be taken out. */
function validateRootFields(schema: JsonSchema, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== '' && schema.type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${path}.type`, schema.type, detail)];
  }
  const offending = Object.keys(schema).some((name) => !ROOT_FIELDS.includes(goFieldName(name)));
  const detail = `only [${ROOT_FIELDS.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return offending ? [invalid(path, goStruct(schema), detail)] : [];
}

const goFieldName = (name: string): string =>
  name.startsWith('x-kubernetes-') ? `X${name.slice('x-kubernetes-'.length).split('-').map(capitalized).join('')}` : capitalized(name);
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
/** Messages show Go structs with their own names of fields. */
const goStruct = (value: object): object => Object.fromEntries(Object.entries(value).map(([name, each]) => [goFieldName(name), each]));

/** Defaults must be valid and free of what pruning would drop. */
function validateDefaults(schema: JsonSchema, path: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && !isRoot) errors.push(...validateDefault(schema, `${path}.default`));
  const items = itemsOf(schema);
  if (items !== undefined) errors.push(...validateDefaults(items, `${path}.items`, false));
  for (const [name, property] of sortedProperties(schema)) errors.push(...validateDefaults(property, `${path}.properties[${name}]`, false));
  return errors;
}

function validateDefault(schema: JsonSchema, path: string): FieldError[] {
  const value = structuredClone(schema.default);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  pruneUnknownFields(value, schema, isEmbedded);
  const unknown = jsonEquals(value, schema.default) ? [] : [invalid(path, schema.default, 'must not have unknown fields')];
  const below = (errors: readonly FieldError[]): FieldError[] =>
    errors.map((error) => ({ ...error, field: error.field === '<nil>' ? path : `${path}.${error.field}` }));
  const embedded = isEmbedded ? validateEmbedded(schema.default, schema, path) : [];
  if (embedded.length > 0) return [...unknown, ...embedded];
  const found = validateValue(schema.default, schema);
  return [...unknown, ...below(found.length > 0 ? found : brokenRules(schema))];
}

/** The rules that a default breaks, as a change and as a beginning. Rules that do not compile are found elsewhere. */
function brokenRules(schema: JsonSchema): FieldError[] {
  try {
    const rules = compileRules(schema);
    const unchanged = rules?.(schema.default, { value: schema.default }, []) ?? [];
    return unchanged.length > 0 ? unchanged : (rules?.(schema.default) ?? []);
  } catch (error) {
    if (error instanceof CelCompileError) return [];
    throw error;
  }
}

type Context = {
  readonly isRoot: boolean;
  readonly insideMetadata: boolean;
  /** Why defaults are forbidden here. */
  readonly noDefaults: string | undefined;
  /** The schema above whose parts cannot be told apart over time; rules below it may not use oldSelf. */
  readonly uncorrelatable: string | undefined;
  readonly times: Times;
  readonly costs: CostLimits;
};
type Findings = { readonly schemaErrors: FieldError[]; readonly ruleChecks: (() => FieldError[])[] };

function validateKeywords(schema: JsonSchema, path: string, context: Context): Findings {
  const schemaErrors: FieldError[] = [...validateStandard(schema, path, context)];
  const ruleChecks: Findings['ruleChecks'] = [];
  const descend = (child: JsonSchema, at: string, change: Partial<Context>, withRules: boolean): void => {
    const found = validateKeywords(child, `${path}.${at}`, {
      ...context,
      isRoot: false,
      times: timesInside(schema, context.times),
      ...change,
    });
    schemaErrors.push(...found.schemaErrors);
    if (withRules) ruleChecks.push(...found.ruleChecks);
  };
  if (schema.uniqueItems === true) {
    schemaErrors.push(forbidden(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  }
  const values = valuesOf(schema);
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (hasProperties && (values !== undefined || schema.additionalProperties === false)) {
    schemaErrors.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  if (values !== undefined) {
    const noDefaults = context.insideMetadata ? 'inside additionalProperties applying to object metadata' : context.noDefaults;
    descend(values, 'additionalProperties', { noDefaults }, true);
  }
  for (const [name, property] of sortedProperties(schema)) {
    descend(property, `properties[${name}]`, propertyContext(schema, name, path, context), true);
  }
  for (const [name, child] of combinationEntries(schema)) descend(child, name, {}, false);
  const items = itemsOf(schema);
  if (items !== undefined) {
    const correlates = schema['x-kubernetes-list-type'] === 'map';
    descend(items, 'items', { uncorrelatable: context.uncorrelatable ?? (correlates ? undefined : path) }, true);
  }
  schemaErrors.push(...validateExtensionKeywords(schema, path));
  const rules = schema['x-kubernetes-validations'] ?? [];
  const isObjectRoot = context.isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const checkRule = rules.length === 0 ? undefined : ruleChecker(schema, isObjectRoot);
  if (rules.length > 0 && checkRule === undefined) ruleChecks.push(() => [internalError(`${path}.x-kubernetes-validations`, UNTYPED)]);
  const checkCost = ruleCostCheck(schema, isObjectRoot, context.times, context.costs);
  for (const [i, rule] of rules.entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    schemaErrors.push(...validateRuleFields(schema, rule, at));
    if (checkRule === undefined) continue;
    ruleChecks.push(() => {
      const checked = checkRule(rule);
      return [...checkCost(checked, at), ...compileErrors(rule, checked, at, context)];
    });
  }
  return { schemaErrors, ruleChecks };
}

function propertyContext(schema: JsonSchema, name: string, path: string, context: Context): Partial<Context> {
  const correlates = schema['x-kubernetes-map-type'] !== 'atomic';
  const uncorrelatable = context.uncorrelatable ?? (correlates ? undefined : path);
  const entersMetadata =
    (context.isRoot || schema['x-kubernetes-embedded-resource'] === true) && ['metadata', 'kind', 'apiVersion'].includes(name);
  if (!entersMetadata) return { uncorrelatable };
  return { uncorrelatable, insideMetadata: true, noDefaults: context.isRoot ? `in top-level ${name}` : context.noDefaults };
}

const combinationEntries = (schema: JsonSchema): [string, JsonSchema][] => [
  ...(schema.not === undefined ? [] : [['not', schema.not] satisfies [string, JsonSchema]]),
  ...(schema.allOf ?? []).map((each, i): [string, JsonSchema] => [`allOf[${i}]`, each]),
  ...(schema.oneOf ?? []).map((each, i): [string, JsonSchema] => [`oneOf[${i}]`, each]),
  ...(schema.anyOf ?? []).map((each, i): [string, JsonSchema] => [`anyOf[${i}]`, each]),
];

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const REFUSED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

function validateStandard(schema: JsonSchema, path: string, { noDefaults, insideMetadata }: Context): FieldError[] {
  const { type = '' } = schema;
  return [
    ...(type !== '' && !TYPES.includes(type) ? [notSupported(`${path}.type`, type, TYPES)] : []),
    ...(schema.default !== undefined && noDefaults !== undefined ? [forbidden(`${path}.default`, `must not be set ${noDefaults}`)] : []),
    ...REFUSED.flatMap((name) => (schema[name] === undefined ? [] : [forbidden(`${path}.${name}`, `${name} is not supported`)])),
    ...(type === 'null' ? [forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')] : []),
    ...(Array.isArray(schema.items) ? [forbidden(`${path}.items`, 'items must be a schema object and not an array')] : []),
    ...(insideMetadata && schema['x-kubernetes-embedded-resource'] === true
      ? [forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
  ];
}

const UNTYPED =
  'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasNewlines = (text: string): boolean => /[\n\r]/.test(text);

function validateRuleFields(schema: JsonSchema, rule: ValidationRule, path: string): FieldError[] {
  const { rule: expression = '', message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const errors: FieldError[] = [];
  if (expression.trim() === '') errors.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '') errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  else if (hasNewlines(message.trim())) errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasNewlines(expression.trim()) && message.trim() === '') {
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, REASONS));
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  }
  if (hasNewlines(fieldPath)) errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (fieldPath !== '' && 'problem' in readFieldPath(fieldPath, schema, { brackets: true })) {
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function compileErrors(rule: ValidationRule, { problems }: CheckedRule, path: string, context: Context): FieldError[] {
  const errors = problems.map(({ field, detail }) => invalid(`${path}.${field}`, goRule(rule), detail));
  if (usesOldSelf(rule)) {
    if (context.uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelatable}`;
      errors.push(invalid(`${path}.rule`, rule.rule, detail));
    }
  } else if (rule.optionalOldSelf !== undefined) {
    errors.push(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
  }
  return errors;
}

const goRule = (rule: ValidationRule): object => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});
