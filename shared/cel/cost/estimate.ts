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
  const paths = new Map<Expression, Path>();
  const sizes = new Map<Expression, Range>();
  const entrySizes = new Map<Expression, EntrySize>();
  const locals = new Map<string, LocalVariable[]>();

  const local = (name: string): LocalVariable | undefined => locals.get(name)?.at(-1);
  const push = (name: string, variable: LocalVariable): void => void locals.set(name, [...(locals.get(name) ?? []), variable]);
  const pop = (name: string): void => void locals.get(name)?.pop();

  const pathOf = (node: Expression): Path => {
    const variable = node.kind === 'ident' ? local(node.name) : undefined;
    return variable === undefined ? paths.get(node) : variable.path;
  };

  const sizeOf = (node: Expression): Range | undefined => {
    const known = sizes.get(node) ?? literalSize(node);
    if (known !== undefined) return known;
    const path = pathOf(node);
    const byDeclaration = path === undefined ? undefined : declared(partsOf(path));
    if (byDeclaration !== undefined) {
      sizes.set(node, byDeclaration);
      return byDeclaration;
    }
    if (isScalar(checked.typeOf(node))) return exactly(1);
    return node.kind === 'ident' ? local(node.name)?.size : undefined;
  };
  const entriesOf = (node: Expression): EntrySize | undefined =>
    entrySizes.get(node) ?? (node.kind === 'ident' ? local(node.name)?.entries : undefined);
  const setSize = (node: Expression, size: Range | undefined): void => {
    if (size !== undefined) sizes.set(node, size);
  };
  const setEntries = (node: Expression, entries: EntrySize | undefined): void => {
    if (entries !== undefined) entrySizes.set(node, entries);
  };

  const costOf = (node: Expression): Range => {
    switch (node.kind) {
      case 'literal':
      case 'struct':
        return NOTHING;
      case 'ident':
        return costOfName(node, node.name);
      case 'select':
        return costOfSelection(node);
      case 'call':
        return costOfCall(node);
      case 'list':
        return costOfList(node);
      case 'map':
        return costOfMap(node);
      case 'fold':
        return isBinding(node) ? costOfBinding(node) : costOfComprehension(node);
    }
  };

  const costOfName = (node: Expression, name: string): Range => {
    const variable = local(name);
    paths.set(node, variable === undefined ? pathTo(name) : variable.path);
    return ACCESS;
  };

  const costOfSelection = (node: Extract<Expression, { kind: 'select' }>): Range => {
    // Names with dots, of types for one, are not taken apart.
    if (checked.typeOf(node.operand).kind === 'error') return costOfName(node, node.field);
    const operand = costOf(node.operand);
    if (node.isTest) return operand;
    paths.set(node, appended(pathOf(node.operand), node.field));
    const { kind } = checked.typeOf(node.operand);
    return kind === 'map' || kind === 'object' ? add(operand, ACCESS) : operand;
  };

  const operandOf = (node: Expression): Operand => {
    const path = pathOf(node);
    const parts = path === undefined ? undefined : partsOf(path);
    return { path: parts?.[0] === ACCUMULATOR ? undefined : parts, type: checked.typeOf(node), node, size: sizeOf(node) };
  };

  const costOfCall = (node: Call): Range => {
    const [first] = node.args;
    if (node.name === 'dyn' && first !== undefined) {
      const cost = costOf(first);
      setSize(node, sizeOf(first));
      setEntries(node, entriesOf(first));
      return add(cost, exactly(1));
    }
    const argCosts: Range[] = [];
    const args = node.args.map((each) => {
      argCosts.push(costOf(each));
      return operandOf(each);
    });
    const { name, overloads } = checked.resolutionOf(node) ?? OPTIONAL_SELECTION;
    const called = overloads[0]?.isMember === true ? node.target : undefined;
    const targetCost = called === undefined ? NOTHING : costOf(called);
    const target = called === undefined ? undefined : operandOf(called);
    let cost: Range = { min: Infinity, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const found = costOfOverload(node, name, overload, target, args, argCosts);
      cost = union(cost, found.cost);
      if (found.size !== undefined) size = size === undefined ? found.size : union(size, found.size);
      const container = name === '_[_]' ? overload.args[0]?.kind : undefined;
      if (first !== undefined && (container === 'list' || container === 'map')) {
        size = entriesOf(first)?.value;
        paths.set(node, appended(pathOf(first), container === 'list' ? '@items' : '@values'));
      }
      size ??= sizeOf(node);
    }
    setSize(node, size);
    return add(targetCost, cost);
  };

  const costOfOverload = (
    node: Call,
    name: string,
    overload: Overload,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): CallCost => {
    const own = libraryCost(name, overload, target, args, declared);
    if (own !== undefined) return { cost: add(own.cost, sum(argCosts)), size: own.size };
    if (name === '_?_:_' || (name === '_+_' && ADDED_BY_LENGTH.has(overload.args[0]?.kind ?? ''))) {
      const [left, right] = node.args.slice(-2);
      setEntries(node, unitedEntries(left && entriesOf(left), right && entriesOf(right)));
    }
    return languageCost(name, overload, target, args, argCosts);
  };

  const costOfList = (node: Extract<Expression, { kind: 'list' }>): Range => {
    const elements = node.elements.map(({ value }) => ({ cost: costOf(value), size: sizeOf(value) ?? UNKNOWN }));
    setEntries(node, { container: 'list', key: exactly(1), value: spanOf(elements.map(({ size }) => size)) });
    return add(sum(elements.map(({ cost }) => cost)), exactly(NEW_LIST));
  };

  const costOfMap = (node: Extract<Expression, { kind: 'map' }>): Range => {
    const entries = node.entries.map(({ key, value }) => ({
      cost: add(costOf(key), costOf(value)),
      key: sizeOf(key) ?? UNKNOWN,
      value: sizeOf(value) ?? UNKNOWN,
    }));
    setEntries(node, { container: 'map', key: spanOf(entries.map(({ key }) => key)), value: spanOf(entries.map(({ value }) => value)) });
    return add(sum(entries.map(({ cost }) => cost)), exactly(NEW_MAP));
  };

  const costOfComprehension = (node: Fold): Range => {
    const before = add(costOf(node.range), costOf(node.init));
    push(node.accumulator, { path: pathOf(node.init), size: sizeOf(node.init), entries: entriesOf(node.init) });
    const variables = loopVariables(node);
    for (const [name, variable] of variables) push(name, variable);
    const round = add(costOf(node.condition), costOf(node.step));
    for (const [name] of variables) pop(name);
    const result = costOf(node.result);
    pop(node.accumulator);
    const rounds = sizeOf(node.range) ?? UNKNOWN;
    if (node.init.kind === 'literal') setSize(node, sizeOf(node.init));
    else if (node.init.kind === 'list' || node.init.kind === 'map') {
      setSize(node, rounds);
      setEntries(node, entriesOf(node.step));
    }
    return add(add(before, result), multiply(rounds, round));
  };

  const loopVariables = ({ range, variables: [variable = '', second] }: Fold): readonly (readonly [string, LocalVariable])[] => {
    const entries = entriesOf(range);
    const path = pathOf(range);
    const isList = (entries?.container ?? checked.typeOf(range).kind) === 'list';
    const values = (): LocalVariable => ({ path: appended(path, isList ? '@items' : '@values'), size: entries?.value, entries: undefined });
    const keys = (): LocalVariable => ({ path: appended(path, isList ? '@indices' : '@keys'), size: entries?.key, entries: undefined });
    if (second === undefined) return [[variable, isList ? values() : keys()] as const];
    const ofKeys = keys();
    return [[variable, ofKeys] as const, [second, values()] as const];
  };

  /** A variable that a macro binds, written as a loop over nothing. */
  const costOfBinding = (node: Fold): Range => {
    const before = add(costOf(node.range), costOf(node.init));
    push(node.accumulator, { path: pathOf(node.init), size: sizeOf(node.init), entries: entriesOf(node.init) });
    const result = costOf(node.result);
    pop(node.accumulator);
    setSize(node, sizeOf(node.result));
    setEntries(node, entriesOf(node.result));
    return add(before, result);
  };

  return costOf(checked.expression);
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
