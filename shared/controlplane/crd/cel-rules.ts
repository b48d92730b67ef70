import { Optional } from '@marcbachmann/cel-js';
import type { CelEnvironment } from '../../cel/cel-environment.ts';
import type { CheckedExpression } from '../../cel/checker/check-expression.ts';
import { CostBudget, OutOfBudgetError } from '../../cel/cost-budget.ts';
import { COST_LIMIT_EXCEEDED } from '../../cel/cost-meter.ts';
import { CelCompileError, type CelProgram, CelProgramError, checkCel, compileCel, kubernetesEnvironment } from '../../cel/environment.ts';
import { duplicate, type FieldError, forbidden, invalid, OMIT_VALUE, required } from '../apimachinery/field-error.ts';
import { optionalOf } from '../../cel/checker/static-type.ts';
import { celTypeOf } from './cel-types.ts';
import { type Correlated, correlatedField, correlatedItem, isUnchanged } from './correlation.ts';
import { declaredType } from './declared-type.ts';
import { itemsOf, type JsonSchema, propertyOf, sortedProperties, someSchema, type ValidationRule, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/**
 * The x-kubernetes-validations of a schema, ready to judge values. What an unchanged value violates is not an error; it is
 * added to `tolerated`. Rules are evaluated until their budget is spent: the last error says so.
 */
export type RuleValidator = (value: unknown, old?: { readonly value: unknown }, tolerated?: FieldError[]) => FieldError[];

/** What the compiler found; paths are relative to the rule: `rule` or `messageExpression`. */
export type RuleProblem = { readonly field: 'rule' | 'messageExpression'; readonly detail: string };

/** A rule after the compiler has looked at it. What did not compile is undefined. */
export type CheckedRule = {
  readonly problems: readonly RuleProblem[];
  readonly rule: CheckedExpression | undefined;
  readonly message: CheckedExpression | undefined;
};

const MAX_MESSAGE_BYTES = 5120;
/** RuntimeCELCostBudget of apiserver: for all rules of an object and their messages. */
const COST_BUDGET = 10_000_000;

type CompiledRule = {
  readonly rule: ValidationRule;
  readonly program: CelProgram;
  readonly message: CelProgram | undefined;
  readonly usesOldSelf: boolean;
};

type RuleNode = {
  readonly schema: JsonSchema;
  readonly hasRules: boolean;
  /** Compiled when they are first asked for. Throws a CelCompileError. */
  readonly rules: () => readonly CompiledRule[];
  readonly toValue: (json: unknown) => unknown;
  readonly properties: readonly (readonly [string, RuleNode])[];
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  readonly allOf: readonly RuleNode[];
};

export const hasRules = (schema: JsonSchema): boolean => someSchema(schema, (each) => (each['x-kubernetes-validations']?.length ?? 0) > 0);
export const usesOldSelf = (rule: ValidationRule): boolean => /\boldSelf\b/.test(`${rule.rule ?? ''} ${rule.messageExpression ?? ''}`);

/**
 * The rules of a schema; undefined when there are none. Those of each part are compiled when the first value of it is judged, which throws
 * a CelCompileError where the schema has not been accepted.
 */
export function compileRules(schema: JsonSchema): RuleValidator | undefined {
  const root = compileNode(schema, schema, true);
  if (root === undefined) return undefined;
  return (value, old, tolerated = []) => {
    const previous = old === undefined ? undefined : { value: old.value, schema };
    const findings: Findings = { errors: [], tolerated, budget: new CostBudget(COST_BUDGET) };
    try {
      judge(root, value, { old: previous, parentUnchanged: false, findings }, '');
    } catch (error) {
      if (!(error instanceof RulesStopped)) throw error;
    }
    return findings.errors;
  };
}

/** Says what is wrong with a rule itself, seen from the schema that carries it; undefined for a schema that has no type for rules. */
export function ruleChecker(schema: JsonSchema, isObjectRoot: boolean): ((rule: ValidationRule) => CheckedRule) | undefined {
  if (declaredType(schema, isObjectRoot) === undefined) return undefined;
  const views = viewsOf(schema, isObjectRoot);
  return (rule) => checkRule(rule, views(rule.optionalOldSelf === true).environment);
}

function checkRule(rule: ValidationRule, environment: CelEnvironment): CheckedRule {
  const problems: RuleProblem[] = [];
  const check = (field: RuleProblem['field'], expression: string, wanted: string): CheckedExpression | undefined => {
    try {
      const checked = checkCel(environment, expression);
      if (compileCel(environment, expression, checked).type === wanted) return checked;
      problems.push({ field, detail: `${field === 'rule' ? 'cel expression' : 'messageExpression'} must evaluate to a ${wanted}` });
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      const detail = error instanceof CelProgramError ? error.message : `compilation failed: ${error.message}`;
      problems.push({ field, detail: `${field === 'rule' ? '' : 'messageExpression '}${detail}` });
    }
    return undefined;
  };
  const checked = check('rule', rule.rule ?? '', 'bool');
  const message = rule.messageExpression ?? '';
  const hasMessage = message !== '' && checked !== undefined;
  return { problems, rule: checked, message: hasMessage ? check('messageExpression', message, 'string') : undefined };
}

type View = { readonly environment: CelEnvironment; readonly toValue: (json: unknown) => unknown };

/** How rules see the values of a schema, made when it is first asked for: that of a great schema takes milliseconds. */
function viewsOf(schema: JsonSchema, isObjectRoot: boolean): (optionalOldSelf: boolean) => View {
  const made = new Map<boolean, View>();
  return (optionalOldSelf) => {
    const view = made.get(optionalOldSelf) ?? viewOf(schema, isObjectRoot, optionalOldSelf);
    made.set(optionalOldSelf, view);
    return view;
  };
}

function viewOf(schema: JsonSchema, isObjectRoot: boolean, optionalOldSelf: boolean): View {
  const environment = kubernetesEnvironment.clone();
  const type = celTypeOf(environment, schema, 'Object', isObjectRoot);
  const declared = declaredType(schema, isObjectRoot);
  environment
    .registerVariable('self', type.name, declared)
    .registerVariable(
      'oldSelf',
      optionalOldSelf ? `optional<${type.name}>` : type.name,
      optionalOldSelf && declared !== undefined ? optionalOf(declared) : declared,
    );
  return { environment, toValue: type.toValue };
}

/** `given` has the rules, `schema` the types: they differ below allOf, which may have rules but no types. */
function compileNode(given: JsonSchema, schema: JsonSchema, isRoot: boolean): RuleNode | undefined {
  if (!hasRules(given)) return undefined;
  const views = viewsOf(schema, isRoot);
  const rules = given['x-kubernetes-validations'] ?? [];
  let compiled: readonly CompiledRule[] | undefined;
  const child = (rules: JsonSchema | undefined, types: JsonSchema | undefined): RuleNode | undefined =>
    rules === undefined || types === undefined ? undefined : compileNode(rules, types, types['x-kubernetes-embedded-resource'] === true);
  return {
    schema,
    toValue: (json) => views(false).toValue(json),
    hasRules: rules.length > 0,
    rules: () => (compiled ??= rules.map((rule) => compileRule(rule, views(rule.optionalOldSelf === true).environment))),
    properties: sortedProperties(given).flatMap(([name, property]) => {
      const node = child(property, propertyOf(schema, name));
      return node === undefined ? [] : [[name, node] as const];
    }),
    values: child(valuesOf(given), valuesOf(schema)),
    items: child(itemsOf(given), itemsOf(schema)),
    allOf: (given.allOf ?? []).flatMap((each) => compileNode(each, schema, isRoot) ?? []),
  };
}

function compileRule(rule: ValidationRule, environment: CelEnvironment): CompiledRule {
  const message = rule.messageExpression?.trim() ?? '';
  return {
    rule,
    program: compileCel(environment, rule.rule?.trim() ?? ''),
    message: message === '' ? undefined : compileCel(environment, message),
    usesOldSelf: usesOldSelf(rule),
  };
}

type Findings = { readonly errors: FieldError[]; readonly tolerated: FieldError[]; readonly budget: CostBudget };

/** No further rule is evaluated. What was found stays. */
class RulesStopped extends Error {
  override readonly name = 'RulesStopped';
}

/** What was there before. Where that cannot be told of a part, the part is unchanged if what it is a part of is. */
type Past = { readonly old: Correlated; readonly parentUnchanged: boolean; readonly findings: Findings };

/** Throws RulesStopped. */
function judge(node: RuleNode, value: unknown, past: Past, path: string): void {
  if (value === null) return;
  const { old, findings } = past;
  if (node.hasRules) judgeRules(node, value, past, path);
  const { properties, values, items } = node;
  // What a rule of allOf finds is tolerated only where the whole around is unchanged.
  for (const each of node.allOf) judge(each, value, { ...past, old: undefined }, path);
  const unchanged = staysAsItWas(value, past);
  const inside = (correlated: Correlated): Past => ({ old: correlated, parentUnchanged: unchanged, findings });
  if (Array.isArray(value) && items !== undefined) {
    for (const [i, each] of value.entries()) judge(items, each, inside(correlatedItem(old, each)), `${path}[${i}]`);
  }
  if (!isRecord(value)) return;
  for (const [name, property] of properties) {
    if (!Object.hasOwn(value, name)) continue;
    judge(property, value[name], inside(correlatedField(old, name)), path === '' ? name : `${path}.${name}`);
  }
  if (values === undefined) return;
  for (const name of Object.keys(value)) judge(values, value[name], inside(correlatedField(old, name)), `${path}[${name}]`);
}

const staysAsItWas = (value: unknown, { old, parentUnchanged }: Past): boolean =>
  old === undefined ? parentUnchanged : isUnchanged(value, old);

function judgeRules({ schema, rules, toValue }: RuleNode, value: unknown, past: Past, path: string): void {
  const { old, findings } = past;
  const compiled = rules();
  const subject: Subject = {
    path,
    shown: schema.type === 'object' || schema.type === 'array' ? OMIT_VALUE : value,
    type: schema.type ?? '',
    unchanged: staysAsItWas(value, past),
    findings,
  };
  if (findings.budget.isSpent) stopBecause(findings.errors, invalid(fieldAt(path), subject.type, new OutOfBudgetError().message));
  const self = toValue(value);
  const oldSelf = old === undefined ? undefined : toValue(old.value);
  for (const each of compiled) {
    const optional = each.rule.optionalOldSelf === true;
    if (each.usesOldSelf && (old?.value ?? null) === null && !optional) continue;
    const wrapped = optional ? (old === undefined ? Optional.none() : Optional.of(oldSelf)) : oldSelf;
    judgeRule(each, each.usesOldSelf ? { self, oldSelf: wrapped } : { self }, subject);
  }
}

/** The value that rules are about. */
type Subject = {
  readonly path: string;
  readonly shown: unknown;
  readonly type: string;
  readonly unchanged: boolean;
  readonly findings: Findings;
};

const fieldAt = (path: string): string => (path === '' ? '<nil>' : path);

function stopBecause(found: FieldError[], error: FieldError): never {
  found.push(error);
  throw new RulesStopped();
}

function judgeRule(
  { rule, program, message, usesOldSelf: isTransition }: CompiledRule,
  variables: Record<string, unknown>,
  subject: Subject,
): void {
  const { path, shown, type, unchanged, findings } = subject;
  const { value, error, cost } = program.run(variables);
  const field = fieldAt(path);
  const sentence = (rule.message?.trim() ?? '') || (rule.rule?.trim() ?? '');
  const { errors } = findings;
  if (!canPay(findings.budget, cost)) stopBecause(errors, invalid(field, type, new OutOfBudgetError().message));
  if (error === COST_LIMIT_EXCEEDED) {
    const why = `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${sentence}`;
    stopBecause(errors, invalid(field, type, why));
  }
  if (error === 'no such overload') {
    const why = `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${sentence}`;
    errors.push(invalid(field, type, why));
    return;
  }
  if (error !== undefined) {
    errors.push(invalid(field, type, `${error} evaluating rule: ${sentence}`));
    return;
  }
  if (value === true) return;
  // Unchanged values are not judged anew, unless the rule is about change or cannot even be evaluated.
  const found = unchanged && !isTransition ? findings.tolerated : errors;
  const target = rule.fieldPath === undefined || rule.fieldPath === '' ? field : joinPath(path, rule.fieldPath.trim());
  const computed = computedMessage(message, variables, findings.budget);
  if (computed.stops !== undefined) stopBecause(found, invalid(target, type, computed.stops));
  const detail = computed.text ?? ((rule.message?.trim() ?? '') || `failed rule: ${sentence}`);
  found.push(errorOf(rule.reason, target, shown, detail));
}

/** Pays, if there is enough left. */
function canPay(budget: CostBudget, cost: number): boolean {
  try {
    budget.spend(cost);
    return true;
  } catch (error) {
    if (error instanceof OutOfBudgetError) return false;
    throw error;
  }
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

type ComputedMessage = { readonly text?: string /** Why nothing more is evaluated. */; readonly stops?: string };

/**
 * A message that fails, is empty, too long or of several lines gives way to the fixed one. One that costs too much is an error of its own.
 */
function computedMessage(message: CelProgram | undefined, variables: Record<string, unknown>, budget: CostBudget): ComputedMessage {
  if (message === undefined) return {};
  const { value, error, cost } = message.run(variables);
  if (!canPay(budget, cost)) {
    return { stops: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run' };
  }
  if (error === COST_LIMIT_EXCEEDED) {
    const source = JSON.stringify(message.expression);
    return { stops: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}` };
  }
  if (typeof value !== 'string') return {};
  const text = value.trim();
  return text === '' || /[\n\r]/.test(text) || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? {} : { text };
}

const joinPath = (path: string, relative: string): string => {
  const tail = relative.replace(/\['([^']*)'\]/g, '[$1]');
  return path === '' ? tail.replace(/^\./, '') : `${path}${tail.startsWith('.') || tail.startsWith('[') ? '' : '.'}${tail}`;
};
