import type { CheckedExpression } from '../checker/check-expression.ts';
import type { Resolution } from '../checker/check-types.ts';
import type { Overload } from '../checker/declarations.ts';
import type { Expression, Fold } from '../checker/expression.ts';
import { DYN, isOptional, type StaticType } from '../checker/static-type.ts';
import { add, exactly, multiply, NOTHING, type Range, sum, union, UNKNOWN } from './estimate-range.ts';
import { languageCost } from './language-cost.ts';
import { libraryCost } from './library-cost.ts';
import type { CallCost, Operand, SizeOfPath } from './operand.ts';
import { appended, partsOf, pathTo, type SharedPath } from './shared-path.ts';

/** The accumulator of all macros but those that bind a variable. */
const ACCUMULATOR = '@result';
const NEW_LIST = 10;
const NEW_MAP = 30;
const ACCESS = exactly(1);

/** The sizes of what is in a list or map: of keys or indices, and of values. */
type EntrySize = { readonly container: 'list' | 'map'; readonly key: Range; readonly value: Range };

/** What is known of a variable of a macro. */
type LocalVariable = {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySize | undefined;
};
type Path = SharedPath | undefined;
type Call = Extract<Expression, { kind: 'call' }>;

/**
 * From what a checked expression costs at least to what it costs at most, in CEL cost units (cel-go's checker.Cost, with Kubernetes'
 * libraries and options: `has` costs nothing by itself). The order of steps is upstream's, for some sizes depend on what has been looked at
 * before.
 */
export function estimateCost(checked: CheckedExpression, declared: SizeOfPath): Range {
  return new Estimate(checked, declared).costOf(checked.expression);
}

class Estimate {
  readonly #checked: CheckedExpression;
  readonly #declared: SizeOfPath;
  readonly #paths = new Map<Expression, Path>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entrySizes = new Map<Expression, EntrySize>();
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedExpression, declared: SizeOfPath) {
    this.#checked = checked;
    this.#declared = declared;
  }

  costOf(node: Expression): Range {
    switch (node.kind) {
      case 'literal':
      case 'struct':
        return NOTHING;
      case 'ident':
        return this.#costOfName(node, node.name);
      case 'select':
        return this.#costOfSelection(node);
      case 'call':
        return this.#costOfCall(node);
      case 'list':
        return this.#costOfList(node);
      case 'map':
        return this.#costOfMap(node);
      case 'fold':
        return isBinding(node) ? this.#costOfBinding(node) : this.#costOfComprehension(node);
    }
  }

  #costOfName(node: Expression, name: string): Range {
    const variable = this.#local(name);
    this.#paths.set(node, variable === undefined ? pathTo(name) : variable.path);
    return ACCESS;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #costOfSelection(node: Extract<Expression, { kind: 'select' }>): Range {
    // Names with dots, of types for one, are not taken apart.
    if (this.#checked.typeOf(node.operand).kind === 'error') return this.#costOfName(node, node.field);
    const operand = this.costOf(node.operand);
    if (node.isTest) return operand;
    this.#paths.set(node, appended(this.#pathOf(node.operand), node.field));
    const { kind } = this.#checked.typeOf(node.operand);
    return kind === 'map' || kind === 'object' ? add(operand, ACCESS) : operand;
  }

  #pathOf(node: Expression): Path {
    const variable = node.kind === 'ident' ? this.#local(node.name) : undefined;
    return variable === undefined ? this.#paths.get(node) : variable.path;
  }

  #costOfCall(node: Call): Range {
    const [first] = node.args;
    if (node.name === 'dyn' && first !== undefined) {
      const cost = this.costOf(first);
      this.#setSize(node, this.#sizeOf(first));
      this.#setEntries(node, this.#entriesOf(first));
      return add(cost, exactly(1));
    }
    const argCosts: Range[] = [];
    const args = node.args.map((each) => {
      argCosts.push(this.costOf(each));
      return this.#operandOf(each);
    });
    const { name, overloads } = this.#checked.resolutionOf(node) ?? OPTIONAL_SELECTION;
    const called = overloads[0]?.isMember === true ? node.target : undefined;
    const targetCost = called === undefined ? NOTHING : this.costOf(called);
    const target = called === undefined ? undefined : this.#operandOf(called);
    let cost: Range = { min: Infinity, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const found = this.#costOfOverload(node, name, overload, target, args, argCosts);
      cost = union(cost, found.cost);
      if (found.size !== undefined) size = size === undefined ? found.size : union(size, found.size);
      const container = name === '_[_]' ? overload.args[0]?.kind : undefined;
      if (first !== undefined && (container === 'list' || container === 'map')) {
        size = this.#entriesOf(first)?.value;
        this.#paths.set(node, appended(this.#pathOf(first), container === 'list' ? '@items' : '@values'));
      }
      size ??= this.#sizeOf(node);
    }
    this.#setSize(node, size);
    return add(targetCost, cost);
  }

  #setSize(node: Expression, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(node, size);
  }

  #sizeOf(node: Expression): Range | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node);
    if (known !== undefined) return known;
    const path = this.#pathOf(node);
    const byDeclaration = path === undefined ? undefined : this.#declared(partsOf(path));
    if (byDeclaration !== undefined) {
      this.#sizes.set(node, byDeclaration);
      return byDeclaration;
    }
    if (isScalar(this.#checked.typeOf(node))) return exactly(1);
    return node.kind === 'ident' ? this.#local(node.name)?.size : undefined;
  }

  #setEntries(node: Expression, entries: EntrySize | undefined): void {
    if (entries !== undefined) this.#entrySizes.set(node, entries);
  }

  #entriesOf(node: Expression): EntrySize | undefined {
    return this.#entrySizes.get(node) ?? (node.kind === 'ident' ? this.#local(node.name)?.entries : undefined);
  }

  #operandOf(node: Expression): Operand {
    const path = this.#pathOf(node);
    const parts = path === undefined ? undefined : partsOf(path);
    return { path: parts?.[0] === ACCUMULATOR ? undefined : parts, type: this.#checked.typeOf(node), node, size: this.#sizeOf(node) };
  }

  #costOfOverload(
    node: Call,
    name: string,
    overload: Overload,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): CallCost {
    const own = libraryCost(name, overload, target, args, this.#declared);
    if (own !== undefined) return { cost: add(own.cost, sum(argCosts)), size: own.size };
    if (name === '_?_:_' || (name === '_+_' && ADDED_BY_LENGTH.has(overload.args[0]?.kind ?? ''))) {
      const [left, right] = node.args.slice(-2);
      this.#setEntries(node, unitedEntries(left && this.#entriesOf(left), right && this.#entriesOf(right)));
    }
    return languageCost(name, overload, target, args, argCosts);
  }

  #costOfList(node: Extract<Expression, { kind: 'list' }>): Range {
    const elements = node.elements.map(({ value }) => ({ cost: this.costOf(value), size: this.#sizeOf(value) ?? UNKNOWN }));
    this.#setEntries(node, { container: 'list', key: exactly(1), value: spanOf(elements.map(({ size }) => size)) });
    return add(sum(elements.map(({ cost }) => cost)), exactly(NEW_LIST));
  }

  #costOfMap(node: Extract<Expression, { kind: 'map' }>): Range {
    const entries = node.entries.map(({ key, value }) => ({
      cost: add(this.costOf(key), this.costOf(value)),
      key: this.#sizeOf(key) ?? UNKNOWN,
      value: this.#sizeOf(value) ?? UNKNOWN,
    }));
    this.#setEntries(node, {
      container: 'map',
      key: spanOf(entries.map(({ key }) => key)),
      value: spanOf(entries.map(({ value }) => value)),
    });
    return add(sum(entries.map(({ cost }) => cost)), exactly(NEW_MAP));
  }

  /** A variable that a macro binds, written as a loop over nothing. */
  #costOfBinding(node: Fold): Range {
    const before = add(this.costOf(node.range), this.costOf(node.init));
    this.#push(node.accumulator, { path: this.#pathOf(node.init), size: this.#sizeOf(node.init), entries: this.#entriesOf(node.init) });
    const result = this.costOf(node.result);
    this.#pop(node.accumulator);
    this.#setSize(node, this.#sizeOf(node.result));
    this.#setEntries(node, this.#entriesOf(node.result));
    return add(before, result);
  }

  #push(name: string, variable: LocalVariable): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), variable]);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #costOfComprehension(node: Fold): Range {
    const before = add(this.costOf(node.range), this.costOf(node.init));
    this.#push(node.accumulator, { path: this.#pathOf(node.init), size: this.#sizeOf(node.init), entries: this.#entriesOf(node.init) });
    const variables = this.#loopVariables(node);
    for (const [name, variable] of variables) this.#push(name, variable);
    const round = add(this.costOf(node.condition), this.costOf(node.step));
    for (const [name] of variables) this.#pop(name);
    const result = this.costOf(node.result);
    this.#pop(node.accumulator);
    const rounds = this.#sizeOf(node.range) ?? UNKNOWN;
    if (node.init.kind === 'literal') this.#setSize(node, this.#sizeOf(node.init));
    else if (node.init.kind === 'list' || node.init.kind === 'map') {
      this.#setSize(node, rounds);
      this.#setEntries(node, this.#entriesOf(node.step));
    }
    return add(add(before, result), multiply(rounds, round));
  }

  #loopVariables({ range, variables: [variable = '', second] }: Fold): readonly (readonly [string, LocalVariable])[] {
    const entries = this.#entriesOf(range);
    const path = this.#pathOf(range);
    const isList = (entries?.container ?? this.#checked.typeOf(range).kind) === 'list';
    const values = (): LocalVariable => ({ path: appended(path, isList ? '@items' : '@values'), size: entries?.value, entries: undefined });
    const keys = (): LocalVariable => ({ path: appended(path, isList ? '@indices' : '@keys'), size: entries?.key, entries: undefined });
    if (second === undefined) return [[variable, isList ? values() : keys()] as const];
    const ofKeys = keys();
    return [[variable, ofKeys] as const, [second, values()] as const];
  }
}

const OPTIONAL_SELECTION: Resolution = { name: '_?._', overloads: [{ isMember: false, args: [], result: DYN }] };
const ADDED_BY_LENGTH: ReadonlySet<string> = new Set(['string', 'bytes', 'list']);

const isBinding = ({ accumulator }: Fold): boolean => accumulator !== ACCUMULATOR;

function literalSize(node: Expression): Range | undefined {
  if (node.kind === 'literal') return exactly(typeof node.value === 'string' ? lengthOf(node.value, node.type) : 1);
  if (node.kind === 'list') return exactly(node.elements.length);
  return node.kind === 'map' ? exactly(node.entries.length) : undefined;
}

/** In characters, and of bytes in bytes. */
const lengthOf = (text: string, type: string): number => (type === 'bytes' ? Buffer.byteLength(text) : Array.from(text).length);

/** Types whose values have all the same size, which counts as 1. */
function isScalar(type: StaticType): boolean {
  const [value] = type.parameters;
  if (isOptional(type)) return value !== undefined && isScalar(value);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}

const spanOf = (sizes: readonly Range[]): Range => (sizes.length === 0 ? NOTHING : sizes.reduce(union));

function unitedEntries(left: EntrySize | undefined, right: EntrySize | undefined): EntrySize | undefined {
  if (left === undefined || right === undefined) return undefined;
  return { container: left.container, key: union(left.key, right.key), value: union(left.value, right.value) };
}
