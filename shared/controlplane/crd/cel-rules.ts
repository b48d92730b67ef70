import { type Environment, Optional } from '@marcbachmann/cel-js';
import { CelCompileError, type CelProgram, compileCel, kubernetesEnvironment } from '../cel/environment.ts';
import { duplicate, type FieldError, forbidden, invalid, OMIT_VALUE, required } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { celTypeOf } from './cel-types.ts';
import { correlatedField, correlatedItem, type OldValue } from './correlation.ts';
import { itemsOf, type JsonSchema, sortedProperties, someSchema, type ValidationRule, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/**
 * The x-kubernetes-validations of a schema, ready to judge values. What an unchanged value violates is not an error; it is
 * added to `tolerated`.
 */
export type RuleValidator = (value: unknown, old?: OldValue, tolerated?: FieldError[]) => FieldError[];

/** What the compiler found; paths are relative to the rule: `rule` or `messageExpression`. */
export type RuleProblem = { readonly field: 'rule' | 'messageExpression'; readonly detail: string };

const MAX_MESSAGE_BYTES = 5120;

type CompiledRule = {
  readonly rule: ValidationRule;
  readonly program: CelProgram;
  readonly message: CelProgram | undefined;
  readonly usesOldSelf: boolean;
};

type RuleNode = {
  readonly schema: JsonSchema;
  readonly rules: readonly CompiledRule[];
  readonly toValue: (json: unknown) => unknown;
  readonly properties: readonly (readonly [string, RuleNode])[];
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
};

export const hasRules = (schema: JsonSchema): boolean => someSchema(schema, (each) => (each['x-kubernetes-validations']?.length ?? 0) > 0);
export const usesOldSelf = (rule: ValidationRule): boolean => /\boldSelf\b/.test(`${rule.rule ?? ''} ${rule.messageExpression ?? ''}`);

/** Compiles all rules of a schema that has been accepted; undefined when there are none. Throws a CelCompileError. */
export function compileRules(schema: JsonSchema): RuleValidator | undefined {
  const root = compileNode(schema, true);
  return root === undefined ? undefined : (value, old, tolerated = []) => judge(root, value, old, '', tolerated);
}

/** What is wrong with the rule itself, seen from the schema that carries it. */
export function checkRule(schema: JsonSchema, rule: ValidationRule, isObjectRoot: boolean): RuleProblem[] {
  const environment = environmentOf(schema, isObjectRoot, rule.optionalOldSelf === true).environment;
  const problems: RuleProblem[] = [];
  const check = (field: RuleProblem['field'], expression: string, wanted: string): void => {
    try {
      const { type } = compileCel(environment, expression);
      if (type !== wanted && type !== 'dyn')
        problems.push({ field, detail: `${field === 'rule' ? 'cel expression' : 'messageExpression'} must evaluate to a ${wanted}` });
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      problems.push({ field, detail: `${field === 'rule' ? '' : 'messageExpression '}compilation failed: ${error.message}` });
    }
  };
  check('rule', rule.rule?.trim() ?? '', 'bool');
  const message = rule.messageExpression?.trim() ?? '';
  if (message !== '') check('messageExpression', message, 'string');
  return problems;
}

function environmentOf(
  schema: JsonSchema,
  isObjectRoot: boolean,
  optionalOldSelf: boolean,
): { environment: Environment; toValue: (json: unknown) => unknown } {
  const environment = kubernetesEnvironment.clone();
  const type = celTypeOf(environment, schema, 'Object', isObjectRoot);
  environment.registerVariable('self', type.name).registerVariable('oldSelf', optionalOldSelf ? `optional<${type.name}>` : type.name);
  return { environment, toValue: type.toValue };
}

function compileNode(schema: JsonSchema, isRoot: boolean): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const { environment, toValue } = environmentOf(schema, isRoot, false);
  const child = (each: JsonSchema | undefined): RuleNode | undefined => (each === undefined ? undefined : compileNode(each, false));
  return {
    schema,
    toValue,
    rules: (schema['x-kubernetes-validations'] ?? []).map((rule) =>
      compileRule(rule, rule.optionalOldSelf === true ? environmentOf(schema, isRoot, true).environment : environment),
    ),
    properties: sortedProperties(schema).flatMap(([name, property]) => {
      const node = child(property);
      return node === undefined ? [] : [[name, node] as const];
    }),
    values: child(valuesOf(schema)),
    items: child(itemsOf(schema)),
  };
}

function compileRule(rule: ValidationRule, environment: Environment): CompiledRule {
  const message = rule.messageExpression?.trim() ?? '';
  return {
    rule,
    program: compileCel(environment, rule.rule?.trim() ?? ''),
    message: message === '' ? undefined : compileCel(environment, message),
    usesOldSelf: usesOldSelf(rule),
  };
}

function judge(node: RuleNode, value: unknown, old: OldValue, path: string, tolerated: FieldError[]): FieldError[] {
  const errors = node.rules.length === 0 || value === null ? [] : judgeRules(node, value, old, path, tolerated);
  const { schema, properties, values, items } = node;
  if (Array.isArray(value) && items !== undefined) {
    for (const [i, each] of value.entries())
      errors.push(...judge(items, each, correlatedItem(old, schema, each), `${path}[${i}]`, tolerated));
  }
  if (!isRecord(value)) return errors;
  for (const [name, property] of properties) {
    if (!Object.hasOwn(value, name)) continue;
    errors.push(...judge(property, value[name], correlatedField(old, schema, name), path === '' ? name : `${path}.${name}`, tolerated));
  }
  if (values !== undefined) {
    for (const name of Object.keys(value)) {
      errors.push(...judge(values, value[name], correlatedField(old, schema, name), `${path}[${name}]`, tolerated));
    }
  }
  return errors;
}

function judgeRules(
  { schema, rules, toValue }: RuleNode,
  value: unknown,
  old: OldValue,
  path: string,
  tolerated: FieldError[],
): FieldError[] {
  const self = toValue(value);
  const oldSelf = old === undefined ? undefined : toValue(old.value);
  const shown = schema.type === 'object' || schema.type === 'array' ? OMIT_VALUE : value;
  const unchanged = old !== undefined && jsonEquals(value, old.value);
  return rules.flatMap((each) => {
    const optional = each.rule.optionalOldSelf === true;
    if (each.usesOldSelf && old === undefined && !optional) return [];
    const wrapped = optional ? (old === undefined ? Optional.none() : Optional.of(oldSelf)) : oldSelf;
    const variables = each.usesOldSelf ? { self, oldSelf: wrapped } : { self };
    const broken = judgeRule(each, variables, path, shown);
    if (broken === undefined) return [];
    // Unchanged values are not judged anew, unless the rule is about change or cannot even be evaluated.
    if (!unchanged || each.usesOldSelf || !broken.evaluated) return [broken.error];
    tolerated.push(broken.error);
    return [];
  });
}

function judgeRule(
  { rule, program, message }: CompiledRule,
  variables: Record<string, unknown>,
  path: string,
  shown: unknown,
): { readonly error: FieldError; readonly evaluated: boolean } | undefined {
  const { value, error } = program.run(variables);
  const field = path === '' ? '<nil>' : path;
  const sentence = (rule.message?.trim() ?? '') || (rule.rule?.trim() ?? '');
  if (error === 'no such overload') {
    const why = `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${sentence}`;
    return { error: invalid(field, shown, why), evaluated: false };
  }
  if (error !== undefined) return { error: invalid(field, shown, `${error} evaluating rule: ${sentence}`), evaluated: false };
  if (value === true) return undefined;
  const detail = messageOf(message, variables) ?? ((rule.message?.trim() ?? '') || `failed rule: ${sentence}`);
  const target = rule.fieldPath === undefined ? field : joinPath(path, rule.fieldPath.trim());
  return { error: errorOf(rule.reason, target, shown, detail), evaluated: true };
}

function errorOf(reason: string | undefined, field: string, shown: unknown, detail: string): FieldError {
  switch (reason) {
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueDuplicate':
      return duplicate(field, shown === OMIT_VALUE ? null : shown);
    default:
      return invalid(field, shown, detail);
  }
}

/** A message that fails, is empty, too long or of several lines gives way to the fixed one. */
function messageOf(message: CelProgram | undefined, variables: Record<string, unknown>): string | undefined {
  const { value } = message?.run(variables) ?? {};
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || /[\n\r]/.test(text) || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}

const joinPath = (path: string, relative: string): string => {
  const tail = relative.replace(/\['([^']*)'\]/g, '[$1]');
  return path === '' ? tail.replace(/^\./, '') : `${path}${tail.startsWith('.') || tail.startsWith('[') ? '' : '.'}${tail}`;
};
