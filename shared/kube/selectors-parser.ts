import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';

/**
 * Reads a label selector string as apimachinery's labels.Parse does, with its messages, because an API server
 * repeats them to its callers. Returns the requirements, sorted by key, or the message of what is wrong.
 */
export function parseRequirements(text: string): readonly LabelRequirement[] | string {
  const simple = parseSimple(text);
  if (simple !== undefined) return simple;
  try {
    return new Parser(tokenize(text)).parse();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** One term of a label selector. `Gt` and `Lt` compare integers (node affinity, and `key>5` in a selector string). */
export type LabelRequirement = {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values: readonly string[];
};

/** The common case, `key=value` terms of plain characters, without the machinery. */
const SIMPLE_TERM = /^([A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)=([A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
function parseSimple(text: string): LabelRequirement[] | undefined {
  if (text === '') return [];
  const match = SIMPLE_TERM.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return [{ key: match[1], operator: 'In', values: [match[2]] }];
}

class Refusal extends Error {}

type TokenKind = 'identifier' | 'in' | 'notin' | 'end' | 'error' | '!' | '=' | '==' | '!=' | ')' | '(' | ',' | '>' | '<';
type Token = { readonly kind: TokenKind; readonly text: string };

const SYMBOLS: readonly TokenKind[] = ['!', '=', '==', '!=', ')', '(', ',', '>', '<'];
const SYMBOL_CHARACTERS = '=!(),><';

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text.charAt(position);
    if (' \t\r\n'.includes(character)) {
      position++;
      continue;
    }
    const token = SYMBOL_CHARACTERS.includes(character) ? scanSymbol(text, position) : scanWord(text, position);
    tokens.push(token);
    position += token.text.length;
    if (token.kind === 'error') break;
  }
  return tokens;
}

/** The longest symbol at this place, in one run of symbol characters. */
function scanSymbol(text: string, start: number): Token {
  const two = SYMBOLS.find((symbol) => symbol === text.slice(start, start + 2));
  if (two !== undefined) return { kind: two, text: two };
  const one = SYMBOLS.find((symbol) => symbol === text.charAt(start));
  return one === undefined ? { kind: 'error', text: text.charAt(start) } : { kind: one, text: one };
}

function scanWord(text: string, start: number): Token {
  let end = start;
  while (end < text.length && !` \t\r\n${SYMBOL_CHARACTERS}`.includes(text.charAt(end))) end++;
  const word = text.slice(start, end);
  return { kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word };
}

const BINARY_OPERATORS = 'in, notin, =, ==, !=, gt, lt';
const END: Token = { kind: 'end', text: '' };

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const { kind, text } = this.#peekValue();
      if (kind === 'end') return sorted(requirements);
      if (kind !== 'identifier' && kind !== '!') throw new Refusal(`found '${text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const separator = this.#takeValue();
      if (separator.kind === 'end') return sorted(requirements);
      if (separator.kind !== ',') throw new Refusal(`found '${separator.text}', expected: ',' or 'end of string'`);
      const next = this.#peekValue();
      if (next.kind !== 'identifier' && next.kind !== '!') throw new Refusal(`found '${next.text}', expected: identifier after ','`);
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#parseRequirement();
    } catch (error) {
      if (error instanceof Refusal) throw new Refusal(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #parseRequirement(): LabelRequirement {
    const negated = this.#peekValue().kind === '!';
    if (negated) this.#takeValue();
    const { kind, text: key } = this.#takeValue();
    if (kind !== 'identifier') throw new Refusal(`found '${key}', expected: identifier`);
    // The parser has no field path here, and prints that as Go prints nil.
    const problems = labelKeyProblems(key);
    if (problems.length > 0) throw new Refusal(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join('; ')}`);
    const after = this.#peekValue().kind;
    if (negated) return { key, operator: 'DoesNotExist', values: [] };
    if (after === 'end' || after === ',') return { key, operator: 'Exists', values: [] };
    return this.#comparison(key);
  }

  #comparison(key: string): LabelRequirement {
    const { kind, text } = this.#take();
    switch (kind) {
      case 'in':
        return requirement(key, 'In', this.#values());
      case 'notin':
        return requirement(key, 'NotIn', this.#values());
      case '=':
      case '==':
        return requirement(key, 'In', [this.#exactValue()]);
      case '!=':
        return requirement(key, 'NotIn', [this.#exactValue()]);
      case '>':
        return requirement(key, 'Gt', [this.#exactValue()]);
      case '<':
        return requirement(key, 'Lt', [this.#exactValue()]);
      default:
        throw new Refusal(`found '${text}', expected: ${BINARY_OPERATORS}`);
    }
  }

  #exactValue(): string {
    const next = this.#peekValue();
    if (next.kind === 'end' || next.kind === ',') return '';
    const { kind, text } = this.#takeValue();
    if (kind !== 'identifier') throw new Refusal(`found '${text}', expected: identifier`);
    return text;
  }

  #values(): string[] {
    const open = this.#takeValue();
    if (open.kind !== '(') throw new Refusal(`found '${open.text}' expected: '('`);
    const first = this.#peekValue();
    // An empty set holds the empty value.
    if (first.kind === ')') {
      this.#takeValue();
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') throw new Refusal(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#valueList();
    if (this.#takeValue().kind !== ')') throw new Refusal(`found '${first.text}', expected: ')'`);
    return [...values].sort();
  }

  /** Values between commas; an empty place between two commas, or between a comma and a parenthesis, is the value ''. */
  #valueList(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const { kind, text } = this.#takeValue();
      const next = this.#peekValue();
      if (kind === 'identifier') {
        values.add(text);
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw new Refusal(`found '${next.text}', expected: ',' or ')'`);
      } else if (kind === ',') {
        if (values.size === 0) values.add('');
        if (next.kind === ')') {
          values.add('');
          return values;
        }
        if (next.kind === ',') {
          this.#takeValue();
          values.add('');
        }
      } else {
        throw new Refusal(`found '${text}', expected: ',', or identifier`);
      }
    }
  }

  #take(): Token {
    return this.#tokens[this.#position++] ?? END;
  }
  /** Where a key or a value may stand, the words `in` and `notin` are ordinary words. */
  #takeValue(): Token {
    return asValue(this.#take());
  }
  #peekValue(): Token {
    return asValue(this.#tokens[this.#position] ?? END);
  }
}

const asValue = (token: Token): Token => (token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token);

const sorted = (requirements: LabelRequirement[]): LabelRequirement[] =>
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

function requirement(key: string, operator: LabelRequirement['operator'], values: string[]): LabelRequirement {
  const problems: string[] = [];
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    problems.push(`values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`);
  }
  for (const [index, value] of values.entries()) {
    if ((operator === 'Gt' || operator === 'Lt') && !isInt64(value)) {
      problems.push(`values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
    }
  }
  for (const [index, value] of values.entries()) {
    const found = labelValueProblems(value);
    if (found.length > 0) problems.push(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${found.join('; ')}`);
  }
  if (problems.length > 0) throw new Refusal(problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`);
  return { key, operator, values };
}

const isInt64 = (text: string): boolean =>
  /^[+-]?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text.replace('+', ''))) === BigInt(text.replace('+', ''));
