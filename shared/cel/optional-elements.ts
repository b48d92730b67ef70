import { Optional, type Environment } from '@marcbachmann/cel-js';
import { readTokens, type Token } from './checker/tokens.ts';
import { evaluationOf, isNode, nameOf, nodesOf, type Node } from './syntax-node.ts';

/** Name of a function that expressions cannot call: the checker does not know it. */
const ELEMENT = 'switchyard_optional_element';

/** Value of an optional element or entry, until its list or map is made. */
class OptionalElement {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export function registerOptionalElements(environment: Environment): void {
  environment.registerFunction(`${ELEMENT}(dyn): dyn`, (value: unknown) => new OptionalElement(value));
}

/**
 * A bracket that is open. `kind`: what its commas part. `isKey`: the key of an optional entry is being read. `isElement`: a call was begun
 * that ends with the element.
 */
type Bracket = { readonly kind: 'list' | 'map' | 'other'; ternaries: number; isKey: boolean; isElement: boolean };

/**
 * An expression as the interpreter takes it, which knows no optional elements: `[?x]` becomes `[f(x)]`, and `{?k: x}` becomes `{k: f(x)}`.
 */
export function withoutOptionalElements(source: string): string {
  const { tokens } = readTokens(source);
  const brackets: Bracket[] = [];
  let [text, from] = ['', 0];
  const replace = (at: number, end: number, by: string): void => {
    text += source.slice(from, at) + by;
    from = end;
  };
  for (const [index, { text: mark, kind, at, end }] of tokens.entries()) {
    if (kind !== 'punctuation') continue;
    const bracket = brackets.at(-1);
    const before = tokens[index - 1];
    if ('[{('.includes(mark)) brackets.push({ kind: kindOf(mark, before), ternaries: 0, isKey: false, isElement: false });
    else if (bracket === undefined) continue;
    else if (mark === '?' && bracket.kind !== 'other' && [',', '[', '{'].includes(before?.text ?? '')) {
      bracket.isKey = bracket.kind === 'map';
      bracket.isElement = bracket.kind === 'list';
      replace(at, end, bracket.kind === 'map' ? '' : `${ELEMENT}(`);
    } else if (mark === '?') bracket.ternaries += 1;
    else if (mark === ':' && bracket.ternaries > 0) bracket.ternaries -= 1;
    else if (mark === ':' && bracket.isKey) {
      replace(end, end, ` ${ELEMENT}(`);
      bracket.isKey = false;
      bracket.isElement = true;
    } else if (',]})'.includes(mark)) {
      if (bracket.isElement) replace(at, at, ')');
      bracket.isElement = false;
      if (mark !== ',') brackets.pop();
    }
  }
  return text + source.slice(from);
}

/** A list stands where no operand is before it: after one the bracket asks for an element. */
function kindOf(mark: string, before: Token | undefined): Bracket['kind'] {
  if (mark === '{') return 'map';
  const isAfterOperand = before !== undefined && (before.kind !== 'punctuation' || [')', ']', '}'].includes(before.text));
  return mark === '[' && !isAfterOperand ? 'list' : 'other';
}

/** Has lists and maps take what their optional elements hold, and leave out those that hold nothing. For a checked expression. */
export function fillOptionalElements(node: unknown): void {
  if (Array.isArray(node)) {
    for (const each of node) fillOptionalElements(each);
    return;
  }
  if (!isNode(node)) return;
  fillOptionalElements(node.args);
  if ((node.op !== 'list' && node.op !== 'map') || !nodesOf(node.args).some(isOptionalElement)) return;
  const evaluate = evaluationOf(node);
  node.evaluate = (evaluator, _, context) => filled(evaluate(evaluator, node, context));
}

/** A call that costs nothing: cel-go has none there. */
export const isOptionalElement = (node: Node): boolean => node.op === 'call' && nameOf(node) === ELEMENT;

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => (each instanceof OptionalElement ? elementsOf(each) : [each]));
  const entries = value instanceof Map ? [...(value as ReadonlyMap<unknown, unknown>)] : Object.entries(value as object);
  const kept = entries.flatMap(([key, each]: [unknown, unknown]) =>
    each instanceof OptionalElement ? entriesOf(key, each) : [[key, each] as const],
  );
  return value instanceof Map ? new Map(kept) : Object.fromEntries(kept);
}

function elementsOf({ value }: OptionalElement): readonly unknown[] {
  if (!(value instanceof Optional)) throw new Error(`cannot initialize optional list element from non-optional value ${String(value)}`);
  return value.hasValue() ? [value.value()] : [];
}

function entriesOf(key: unknown, { value }: OptionalElement): readonly (readonly [unknown, unknown])[] {
  if (!(value instanceof Optional))
    throw new Error(`cannot initialize optional entry '${String(key)}' from non-optional value ${String(value)}`);
  return value.hasValue() ? [[key, value.value()]] : [];
}
