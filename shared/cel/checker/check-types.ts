import { FUNCTIONS, type Overload, TYPE_NAMES, type Variables } from './declarations.ts';
import type { Element, Entry, Expression, Fold, Problem } from './expression.ts';
import {
  BOOL,
  DYN,
  ERROR,
  formatType,
  INT,
  isDynamic,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  paramOf,
  readType,
  sameType,
  type StaticType,
  unwrapped,
} from './static-type.ts';
import { assignAll, mostGeneral, substitute, type Substitutions } from './unification.ts';

export type Checked = {
  readonly problems: readonly Problem[];
  readonly typeOf: (expression: Expression) => StaticType;
  /** Undefined for what is no call, or no call that fits. */
  readonly resolutionOf: (call: Expression) => Resolution | undefined;
};

/** The function that is called, and which of its overloads fit: several where the type of an argument is only known at run time. */
export type Resolution = { readonly name: string; readonly overloads: readonly Overload[] };

/** Finds the type of every part of an expression, and what does not fit (cel-go, checker/checker.go). */
export function checkTypes(expression: Expression, variables: Variables): Checked {
  const checker = new Checker(variables);
  checker.check(expression);
  return {
    problems: checker.problems,
    typeOf: (part) => substitute(checker.substitutions, checker.types.get(part) ?? ERROR, true),
    resolutionOf: (call) => checker.resolutions.get(call),
  };
}

class Checker {
  readonly problems: Problem[] = [];
  readonly types = new Map<Expression, StaticType>();
  readonly resolutions = new Map<Expression, Resolution>();
  substitutions: Substitutions = new Map();
  scopes: readonly Variables[];
  fresh = 0;

  constructor(variables: Variables) {
    this.scopes = [variables, TYPE_NAMES];
  }

  check(expression: Expression): StaticType {
    const type = this.infer(expression);
    this.types.set(expression, type);
    return type;
  }

  infer(expression: Expression): StaticType {
    switch (expression.kind) {
      case 'literal':
        return readType(expression.type);
      case 'ident':
        return this.variable(expression.name.replace(/^\./, '')) ?? this.undeclared(expression.at, expression.name);
      case 'select':
        return this.select(expression);
      case 'call':
        return this.call(expression);
      case 'list':
        return this.list(expression.elements);
      case 'map':
        return this.map(expression.entries);
      case 'struct':
        return this.undeclared(expression.at, expression.name);
      case 'fold':
        return this.fold(expression);
    }
  }

  variable(name: string): StaticType | undefined {
    for (const scope of this.scopes) {
      const type = scope.get(name);
      if (type !== undefined) return type;
    }
    return undefined;
  }

  select(expression: Extract<Expression, { kind: 'select' }>): StaticType {
    const name = expression.isTest ? undefined : qualifiedName(expression);
    const variable = name === undefined ? undefined : this.variable(name);
    if (variable !== undefined) return variable;
    const type = this.field(expression.at, expression.operand, expression.field, false);
    return expression.isTest ? BOOL : this.known(type);
  }

  field(at: number, operand: Expression, field: string, isOptionalSelection: boolean): StaticType {
    const operandType = this.known(this.check(operand));
    const type = this.fieldOf(at, unwrapped(operandType), field);
    return isOptional(operandType) || isOptionalSelection ? optionalOf(type) : type;
  }

  fieldOf(at: number, type: StaticType, field: string): StaticType {
    switch (type.kind) {
      case 'map':
        return type.parameters[1] ?? DYN;
      case 'object': {
        if (type.fields === undefined) return this.problem(at, `unexpected failed resolution of '${type.name}'`);
        const found = type.fields.get(field) ?? type.fields.get(`__${field}__`);
        return found ?? this.problem(at, `undefined field '${field}'`);
      }
      case 'param':
        this.assign([DYN], [type]);
        return DYN;
      default:
        if (!isDynamic(type)) this.problem(at, `type '${formatType(type)}' does not support field selection`);
        return DYN;
    }
  }

  call(call: Extract<Expression, { kind: 'call' }>): StaticType {
    const { name, target, args } = call;
    if (name === '_?._') return this.optionalSelection(call);
    for (const arg of args) this.check(arg);
    if (target === undefined) {
      const overloads = FUNCTIONS.get(name.replace(/^\./, ''));
      return overloads === undefined ? this.undeclared(call.at, name) : this.resolve(call, name, overloads, args, false);
    }
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : FUNCTIONS.get(`${prefix}.${name}`);
    if (qualified !== undefined) return this.resolve(call, `${prefix}.${name}`, qualified, args, false);
    this.check(target);
    const overloads = FUNCTIONS.get(name);
    return overloads === undefined ? this.undeclared(call.at, name) : this.resolve(call, name, overloads, [target, ...args], true);
  }

  optionalSelection({ at, args: [operand, field] }: Extract<Expression, { kind: 'call' }>): StaticType {
    if (operand === undefined || field?.kind !== 'literal') return ERROR;
    return this.known(this.field(at, operand, String(field.value), true));
  }

  resolve(call: Expression, name: string, overloads: readonly Overload[], args: readonly Expression[], isMember: boolean): StaticType {
    const types = args.map((arg) => this.types.get(arg) ?? ERROR);
    const fitting: Overload[] = [];
    this.resolutions.set(call, { name, overloads: fitting });
    if (name === '_&&_' || name === '_||_') {
      fitting.push(...overloads);
      return this.logical(args, types);
    }
    let result: StaticType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== isMember) continue;
      const renamed = this.renamer();
      if (!this.assign(types, overload.args.map(renamed))) continue;
      fitting.push(overload);
      const found = this.known(renamed(overload.result));
      if (result === undefined) result = found;
      else if (result.kind !== 'dyn' && !sameType(result, found)) result = DYN;
    }
    if (result !== undefined) return result;
    const shown = types.map((type) => formatType(substitute(this.substitutions, type, true)));
    const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.problem(call.at, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  logical(args: readonly Expression[], types: readonly StaticType[]): StaticType {
    let result = BOOL;
    for (const [i, type] of types.entries()) if (!this.assign([type], [BOOL])) result = this.mismatch(args[i]?.at ?? 0, BOOL, type);
    return result;
  }

  list(elements: readonly Element[]): StaticType {
    let joined: StaticType | undefined;
    for (const element of elements) joined = this.join(joined, this.valueType(element));
    return listOf(joined ?? this.freshType());
  }

  map(entries: readonly Entry[]): StaticType {
    let key: StaticType | undefined;
    let value: StaticType | undefined;
    for (const entry of entries) {
      key = this.join(key, this.check(entry.key));
      value = this.join(value, this.valueType(entry));
    }
    return mapOf(key ?? this.freshType(), value ?? this.freshType());
  }

  valueType({ value, isOptional: isOptionalPart }: Element): StaticType {
    const type = this.check(value);
    if (!isOptionalPart) return type;
    if (!isOptional(type) && !isDynamic(type)) this.mismatch(value.at, optionalOf(type), type);
    return unwrapped(type);
  }

  /** Lists and maps may be mixed here: `literalProblems` refuses them once the types of everything are known. */
  join(previous: StaticType | undefined, current: StaticType): StaticType {
    if (previous === undefined) return current;
    return this.assign([previous], [current]) ? mostGeneral(previous, current) : DYN;
  }

  fold({ range, variables, accumulator, init, condition, step, result }: Fold): StaticType {
    this.check(range);
    const accumulated = this.check(init);
    const { scopes } = this;
    const types = this.itemTypes(range, variables.length);
    const outer = [new Map([[accumulator, accumulated]]), ...scopes];
    this.scopes = [new Map(variables.map((name, i): [string, StaticType] => [name, types[i] ?? DYN])), ...outer];
    this.expect(condition, BOOL);
    this.expect(step, accumulated);
    this.scopes = outer;
    const type = this.check(result);
    this.scopes = scopes;
    return this.known(type);
  }

  itemTypes(range: Expression, width: number): readonly StaticType[] {
    const type = this.known(this.types.get(range) ?? ERROR);
    const [first = DYN, second = DYN] = type.parameters;
    switch (type.kind) {
      case 'list':
        return width === 2 ? [INT, first] : [first];
      case 'map':
        return [first, second];
      case 'dyn':
      case 'error':
      case 'param':
        this.assign([DYN], [type]);
        return [DYN, DYN];
      default:
        this.problem(
          range.at,
          `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }

  expect(expression: Expression, wanted: StaticType): void {
    const type = this.check(expression);
    if (!this.assign([wanted], [type])) this.mismatch(expression.at, wanted, type);
  }

  /** Gives the parameters of one overload names that nothing else has. */
  renamer(): (type: StaticType) => StaticType {
    const renamed: Substitutions = new Map();
    const rename = (type: StaticType): StaticType => {
      if (type.kind === 'param') {
        const fresh = renamed.get(type.name) ?? this.freshType();
        renamed.set(type.name, fresh);
        return fresh;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(rename) };
    };
    return rename;
  }

  freshType(): StaticType {
    return paramOf(`_var${this.fresh++}`);
  }
  known(type: StaticType): StaticType {
    return substitute(this.substitutions, type, false);
  }
  assign(from: readonly StaticType[], to: readonly StaticType[]): boolean {
    const found = assignAll(this.substitutions, from, to);
    if (found !== undefined) this.substitutions = found;
    return found !== undefined;
  }
  undeclared(at: number, name: string): StaticType {
    return this.problem(at, `undeclared reference to '${name}' (in container '')`);
  }
  mismatch(at: number, wanted: StaticType, found: StaticType): StaticType {
    return this.problem(at, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }
  problem(at: number, message: string): StaticType {
    this.problems.push({ at, message });
    return ERROR;
  }
}

/** `a.b.c` where an expression is nothing but names. */
function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'ident') return expression.name.replace(/^\./, '');
  if (expression.kind !== 'select' || expression.isTest) return undefined;
  const operand = qualifiedName(expression.operand);
  return operand === undefined ? undefined : `${operand}.${expression.field}`;
}
