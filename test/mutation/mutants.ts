/** The ways to break a source file, one place at a time: each mutant is a program that differs from ours in one expression or statement. */
import { parseSync } from 'vite';

export type Mutant = {
  /** Path from the root of the project. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** What is replaced, as offsets into the text of the file. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

/** All mutants of a file in the order of their places; a few of them are no programs (`isProgram`). */
export function mutantsOf(file: string, text: string): Mutant[] {
  const edits: Edit[] = [];
  walk(parseSync(file, text).program as unknown as Node, undefined, text, edits);
  const lines = lineStarts(text);
  const known = new Set<string>();
  return edits
    .filter((edit) => {
      const key = `${edit.start}-${edit.end}:${edit.replacement}`;
      return !known.has(key) && known.add(key);
    })
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map((edit) => ({ file, line: lines.findLastIndex((start) => start <= edit.start) + 1, ...edit }));
}

/** Whether the text still parses with the mutant in it. A parsed text takes much memory: ask for mutants that are wanted only. */
export const isProgram = (text: string, mutant: Mutant): boolean => parseSync(mutant.file, mutate(text, mutant)).errors.length === 0;

/** The text with the mutant's change in it. */
export const mutate = (text: string, { start, end, replacement }: Pick<Mutant, 'start' | 'end' | 'replacement'>): string =>
  text.slice(0, start) + replacement + text.slice(end);

/** `before → after`, on one line. */
export function changeOf(text: string, { start, end, replacement }: Mutant): string {
  const before = onOneLine(text.slice(start, end));
  return replacement === '' || replacement === ';' ? `${before} → (dropped)` : `${before} → ${onOneLine(replacement)}`;
}

type Edit = { readonly start: number; readonly end: number; readonly replacement: string };
type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [field: string]: unknown };

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

const onOneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 100 ? `${line.slice(0, 60)} … ${line.slice(-35)}` : line;
};

function walk(node: Node, parent: Node | undefined, text: string, edits: Edit[]): void {
  if (isLeftAlone(node, text)) return;
  edits.push(...(OPERATORS[node.type]?.(node, text, parent) ?? []));
  for (const [field, value] of Object.entries(node)) {
    // The name of a field is no value.
    if (field === 'key' && node['computed'] !== true) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, node, text, edits);
  }
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/** Expressions in TypeScript's clothes. All other nodes of its own are types, which are gone at run time. */
const DRESSED = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);
const LOG_CALL = /(^|[.#])log\??\.(trace|debug|info|warn|error)$/;

/** Types, imports, what is only logged, and the words of errors. */
function isLeftAlone(node: Node, text: string): boolean {
  if (node.type.startsWith('TS')) return !DRESSED.has(node.type);
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true;
  if (node.type === 'ExpressionStatement') return isLeftAlone(field(node, 'expression'), text);
  if (node.type === 'IfStatement' && node['alternate'] === null) return isLeftAlone(field(node, 'consequent'), text);
  if (node.type === 'NewExpression') return sourceOf(field(node, 'callee'), text).endsWith('Error');
  return node.type === 'CallExpression' && LOG_CALL.test(sourceOf(field(node, 'callee'), text));
}

const field = (node: Node, name: string): Node => node[name] as Node;
const sourceOf = ({ start, end }: Node, text: string): string => text.slice(start, end);
const replace = ({ start, end }: Node, replacement: string): Edit => ({ start, end, replacement });
const instead = (node: Node, part: Node, text: string): Edit => replace(node, `(${sourceOf(part, text)})`);
const negated = (node: Node, text: string): Edit => replace(node, `!(${sourceOf(node, text)})`);

type Operator = (node: Node, text: string, parent: Node | undefined) => readonly Edit[];

const OPERATORS: Readonly<Record<string, Operator>> = {
  IfStatement: (node, text) => [
    negated(field(node, 'test'), text),
    ...(node['alternate'] === null && leaves(field(node, 'consequent')) ? [replace(node, ';')] : []),
  ],
  ConditionalExpression: (node, text) => [negated(field(node, 'test'), text)],
  WhileStatement: (node) => [replace(field(node, 'test'), 'false')],
  ForStatement: (node) => (isNode(node['test']) ? [replace(node['test'], 'false')] : []),
  LogicalExpression: (node, text) => {
    const left = instead(node, field(node, 'left'), text);
    return node['operator'] === '??' ? [left] : [left, instead(node, field(node, 'right'), text)];
  },
  BinaryExpression: (node, text) => swapped(node, BINARY, text),
  AssignmentExpression: (node, text) => swapped(node, ASSIGNMENT, text),
  UpdateExpression: (node, text) => {
    const source = sourceOf(node, text);
    return [replace(node, source.includes('++') ? source.replace('++', '--') : source.replace('--', '++'))];
  },
  UnaryExpression: (node, text) =>
    node['operator'] === '!' || node['operator'] === '-' ? [instead(node, field(node, 'argument'), text)] : [],
  ExpressionStatement: (node, text) => (sourceOf(node, text).startsWith('super(') ? [] : [replace(node, ';')]),
  ThrowStatement: (node) => [replace(node, ';')],
  ReturnStatement: (node, text) => {
    const value = node['argument'];
    return isNode(value) && sourceOf(value, text) !== 'undefined' ? [replace(value, 'undefined')] : [];
  },
  AwaitExpression: (node, text) => [instead(node, field(node, 'argument'), text)],
  ObjectExpression: (node, text) => (node['properties'] as Node[]).map((property) => withoutEntry(property, text)),
  ArrayExpression: (node, text) =>
    (node['elements'] as (Node | null)[]).flatMap((element) => (element?.type === 'SpreadElement' ? [withoutEntry(element, text)] : [])),
  AssignmentPattern: (node, text) => [replace(node, sourceOf(field(node, 'left'), text))],
  Literal: (node) => otherConstant(node),
  CallExpression: otherCall,
};

/** What follows is not reached. */
function leaves(node: Node): boolean {
  if (node.type === 'BlockStatement') {
    const last = (node['body'] as Node[]).at(-1);
    return last !== undefined && leaves(last);
  }
  return ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'].includes(node.type);
}

const BINARY: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '**': '*',
};
const ASSIGNMENT: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '*=': '/=', '??=': '=' };

function swapped(node: Node, operators: Readonly<Record<string, string>>, text: string): Edit[] {
  const [operator, left, right] = [String(node['operator']), field(node, 'left'), field(node, 'right')];
  const other = operators[operator];
  const joinsText = operator === '+' && [left, right].some((side) => /^['"`]/.test(sourceOf(side, text)));
  if (other === undefined || joinsText) return [];
  const at = text.indexOf(operator, left.end);
  return [{ start: at, end: at + operator.length, replacement: other }];
}

/** An entry of a literal list, with its comma. */
function withoutEntry({ start, end }: Node, text: string): Edit {
  const comma = /^\s*,/.exec(text.slice(end));
  return { start, end: end + (comma?.[0].length ?? 0), replacement: '' };
}

function otherConstant(node: Node): Edit[] {
  const { value } = node;
  if (typeof value === 'boolean') return [replace(node, String(!value))];
  if (typeof value !== 'number') return [];
  return [replace(node, value < 2 ? String(1 - value) : String(value * 2))];
}

const OTHER_METHOD: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
};
const CAN_BE_LEFT_OUT = new Set(['filter', 'toSorted', 'toReversed', 'slice', 'trim', 'concat']);
const TAKES_PREDICATE = new Set(['filter', 'some', 'every', 'find', 'findIndex', 'findLast']);

function otherCall(node: Node, text: string): Edit[] {
  const callee = field(node, 'callee');
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return [];
  const property = field(callee, 'property');
  const name = sourceOf(property, text);
  const other = OTHER_METHOD[name];
  return [
    ...(other === undefined ? [] : [replace(property, other)]),
    ...(CAN_BE_LEFT_OUT.has(name) ? [instead(node, field(callee, 'object'), text)] : []),
    ...(TAKES_PREDICATE.has(name) ? (node['arguments'] as Node[]).flatMap((argument) => otherPredicate(argument, text)) : []),
  ];
}

/** `has(x)` negated; of comparisons and the like the parts are broken one by one. */
function otherPredicate(argument: Node, text: string): Edit[] {
  if (argument.type !== 'ArrowFunctionExpression') return [];
  const body = field(argument, 'body');
  return body.type === 'CallExpression' || body.type === 'MemberExpression' ? [negated(body, text)] : [];
}
