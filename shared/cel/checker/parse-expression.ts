import type { Element, Entry, Expression, Problem } from './expression.ts';
import { expandMacro } from './expand-macro.ts';
import { literalOf } from './literals.ts';
import { BEGINNINGS, extraneous, kindOf, mismatched, missing, notViable, OPERATORS, SUFFIXES, withBeginnings } from './syntax-errors.ts';
import { readTokens, type Token } from './tokens.ts';

/** Parses an expression as cel-go's generated parser does, and finds the same faults, those after a fault among them. */
export function parseExpression(source: string): { readonly expression: Expression; readonly problems: readonly Problem[] } {
  return new Parser(source).parse();
}

/** Thrown where the parser cannot go on with the rule that it is in. */
class Unparsable extends Error {}

/** Deeper expressions are refused, as by cel-go. */
const DEPTH_MAX = 250;
const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const PRECEDENCE: readonly (readonly string[])[] = [['||'], ['&&'], ['==', '!=', '<', '<=', '>', '>=', 'in'], ['+', '-'], ['*', '/', '%']];
const FUNCTIONS: Readonly<Record<string, string>> = { in: '@in' };

class Parser {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly problems: Problem[];
  /** What may follow the rules that are under way, from the outermost to the innermost. */
  readonly follows: ReadonlySet<string>[] = [new Set(['<EOF>'])];
  position = 0;
  depth = 0;
  /** No more faults are reported until a token fits again. */
  isRecovering = false;

  constructor(source: string) {
    this.source = source;
    const { tokens, problems } = readTokens(source);
    this.tokens = tokens;
    this.problems = problems;
  }

  parse(): { readonly expression: Expression; readonly problems: readonly Problem[] } {
    const expression = this.expression();
    try {
      this.match('<EOF>', new Set());
    } catch (error) {
      if (!(error instanceof Unparsable)) throw error;
    }
    return { expression, problems: this.problems };
  }

  expression(): Expression {
    if (++this.depth > DEPTH_MAX) {
      if (!this.isRecovering) this.problems.push({ at: 0, message: `expression recursion limit exceeded: ${DEPTH_MAX}` });
      this.isRecovering = true;
      this.position = this.tokens.length - 1;
    }
    const condition = this.binary(0);
    const question = this.current;
    if (!this.accept("'?'")) {
      this.depth--;
      return condition;
    }
    const yes = this.within(new Set(["':'"]), () => this.binary(0));
    const no = this.rule(condition, () => {
      this.match("':'", BEGINNINGS);
      return this.expression();
    });
    this.depth--;
    return { kind: 'call', at: question.at, name: '_?_:_', args: [condition, yes, no] };
  }

  binary(level: number): Expression {
    const operators = PRECEDENCE[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const { text, at, kind } = this.current;
      if (kind !== 'punctuation' || !operators.includes(text)) return left;
      this.advance();
      left = { kind: 'call', at, name: FUNCTIONS[text] ?? `_${text}_`, args: [left, this.binary(level + 1)] };
    }
  }

  unary(): Expression {
    const first = this.current;
    if (!this.begin(BEGINNINGS)) return errorAt(first);
    const sign = this.current.text;
    if (this.current.kind !== 'punctuation' || (sign !== '!' && sign !== '-')) return this.member();
    if (sign === '-' && /^NUM_(?:INT|FLOAT)$/.test(this.next.kind)) return this.member();
    const { at } = this.current;
    let count = 0;
    while (this.current.text === sign && this.current.kind === 'punctuation') {
      this.advance();
      count++;
    }
    const operand = this.begin(BEGINNINGS) ? this.member() : errorAt(this.current);
    return count % 2 === 0 ? operand : { kind: 'call', at, name: `${sign}_`, args: [operand] };
  }

  member(): Expression {
    let operand = this.primary();
    for (;;) {
      const suffix = this.current;
      if (this.accept("'.'")) operand = this.rule(operand, () => this.selection(operand, suffix));
      else if (this.accept("'['")) operand = this.rule(operand, () => this.index(operand, suffix));
      else return operand;
    }
  }

  selection(operand: Expression, dot: Token): Expression {
    const isOptional = this.accept("'?'");
    const { kind, text, at } = this.current;
    if (kind === 'ESC_IDENTIFIER') {
      this.advance();
      this.problems.push({ at, message: "unsupported syntax: '`'" });
      return errorAt(dot);
    }
    if (kind !== 'IDENTIFIER') throw this.fault(notViable(this.source, dot, this.current));
    this.advance();
    if (isOptional) {
      return { kind: 'call', at: dot.at, name: '_?._', args: [operand, { kind: 'literal', at, type: 'string', value: text }] };
    }
    const open = this.current;
    if (!this.accept("'('")) return { kind: 'select', at: dot.at, operand, field: text, isTest: false };
    const args = this.args();
    this.match("')'", this.following());
    return this.expanded({ kind: 'call', at: open.at, name: text, target: operand, args });
  }

  index(operand: Expression, bracket: Token): Expression {
    if (!this.begin(withBeginnings("'?'"))) return errorAt(bracket);
    const isOptional = this.accept("'?'");
    const index = this.within(new Set(["']'"]), () => this.expression());
    this.match("']'", this.following());
    return { kind: 'call', at: bracket.at, name: isOptional ? '_[?_]' : '_[_]', args: [operand, index] };
  }

  primary(): Expression {
    const token = this.current;
    switch (kindOf(token)) {
      case "'('":
        return this.rule(errorAt(token), () => {
          this.advance();
          const inner = this.within(new Set(["')'"]), () => this.expression());
          this.match("')'", this.following());
          return inner;
        });
      case "'['":
        return this.rule(errorAt(token), () => this.list());
      case "'{'":
        return this.rule(errorAt(token), () => this.map());
      case "'.'":
      case 'IDENTIFIER':
        return this.rule(errorAt(token), () => this.named());
      default:
        return this.literal();
    }
  }

  literal(): Expression {
    const sign = this.current;
    const isNegative = this.accept("'-'");
    const token = this.current;
    this.advance();
    const read = literalOf(token, isNegative);
    if ('message' in read) this.problems.push({ at: sign.at, message: read.message });
    return 'message' in read ? errorAt(sign) : { ...read, kind: 'literal', at: sign.at };
  }

  named(): Expression {
    const first = this.current;
    const isAbsolute = this.accept("'.'");
    if (this.current.kind !== 'IDENTIFIER') throw this.fault(notViable(this.source, first, this.current));
    const typeName = this.typeNameAhead();
    if (typeName !== undefined) return this.struct(typeName);
    const { text, at } = this.current;
    this.advance();
    const isReserved = RESERVED.has(text);
    if (isReserved) this.problems.push({ at: first.at, message: `reserved identifier: ${text}` });
    const name = isAbsolute ? `.${text}` : text;
    const open = this.current;
    if (!this.accept("'('")) return isReserved ? errorAt(first) : { kind: 'ident', at, name };
    const args = this.args();
    this.match("')'", this.following());
    return isReserved ? errorAt(first) : this.expanded({ kind: 'call', at: open.at, name, args });
  }

  /** The name of a message that is to be made: `a.b.C{`. */
  typeNameAhead(): string | undefined {
    let at = this.position;
    const names: string[] = [];
    for (;;) {
      const token = this.tokens[at];
      if (token?.kind !== 'IDENTIFIER') return undefined;
      names.push(token.text);
      const after = this.tokens[at + 1];
      if (after?.text === '{' && after.kind === 'punctuation') return names.join('.');
      if (after?.text !== '.') return undefined;
      at += 2;
    }
  }

  struct(name: string): Expression {
    while (this.current.text !== '{') this.advance();
    const { at } = this.current;
    this.advance();
    const values: Expression[] = [];
    const isField = (): boolean => ['IDENTIFIER', 'ESC_IDENTIFIER'].includes(this.current.kind) || this.current.text === '?';
    const field = (): void => {
      this.accept("'?'");
      this.advance();
      this.match("':'", BEGINNINGS);
      values.push(this.within(new Set(["'}'", "','"]), () => this.expression()));
    };
    if (isField()) this.sequence(new Set(["'}'", "','"]), field, isField);
    this.close("'}'");
    return { kind: 'struct', at, name, values };
  }

  list(): Expression {
    const { at } = this.current;
    this.advance();
    const elements: Element[] = [];
    const element = (): void => {
      const isOptional = this.accept("'?'");
      elements.push({ isOptional, value: this.within(new Set(["']'", "','"]), () => this.expression()) });
    };
    if (!this.begin(withBeginnings("'?'", "']'", "','"))) throw new Unparsable();
    if (this.isExpressionAhead()) this.sequence(new Set(["']'", "','"]), element, () => this.isExpressionAhead());
    this.close("']'");
    return { kind: 'list', at, elements };
  }

  map(): Expression {
    const { at } = this.current;
    this.advance();
    const entries: Entry[] = [];
    const entry = (): void => {
      const isOptional = this.accept("'?'");
      const key = this.within(new Set(["':'"]), () => this.expression());
      this.match("':'", BEGINNINGS);
      entries.push({ isOptional, key, value: this.within(new Set(["'}'", "','"]), () => this.expression()) });
    };
    if (!this.begin(withBeginnings("'?'", "'}'", "','"))) throw new Unparsable();
    if (this.isExpressionAhead()) this.sequence(new Set(["'}'", "','"]), entry, () => this.isExpressionAhead());
    this.close("'}'");
    return { kind: 'map', at, entries };
  }

  args(): Expression[] {
    const args: Expression[] = [];
    if (!this.begin(withBeginnings("')'"))) throw new Unparsable();
    if (kindOf(this.current) === "')'") return args;
    const arg = (): Expression => this.within(new Set(["')'", "','"]), () => this.expression());
    args.push(arg());
    while (this.accept("','")) args.push(arg());
    return args;
  }

  /** Parts separated by commas; a comma that no part follows is left. */
  sequence(follow: ReadonlySet<string>, part: () => void, isPartAhead: () => boolean): void {
    this.within(follow, () =>
      this.rule(undefined, () => {
        part();
        while (kindOf(this.current) === "','") {
          this.advance();
          if (!isPartAhead()) {
            this.position--;
            return undefined;
          }
          part();
        }
        return undefined;
      }),
    );
  }

  /** The end of a list or map, with or without a comma before it. */
  close(bracket: string): void {
    const expected = new Set([bracket, "','"]);
    if (!expected.has(kindOf(this.current)) && !this.isRecovering) {
      if (expected.has(kindOf(this.next))) {
        this.fault(extraneous(this.current, expected));
        this.advance();
      } else throw this.fault(mismatched(this.current, expected));
    }
    this.accept("','");
    this.match(bracket, this.following());
  }

  expanded(call: Extract<Expression, { kind: 'call' }>): Expression {
    const expanded = expandMacro(call);
    if (!('message' in expanded)) return expanded;
    this.problems.push(expanded);
    return errorAt({ at: call.at });
  }

  get current(): Token {
    return this.tokens[this.position] ?? END;
  }
  get next(): Token {
    return this.tokens[this.position + 1] ?? END;
  }
  isExpressionAhead(): boolean {
    return BEGINNINGS.has(kindOf(this.current)) || kindOf(this.current) === "'?'";
  }

  advance(): void {
    if (this.current.kind !== 'EOF') this.position++;
    this.isRecovering = false;
  }
  accept(kind: string): boolean {
    if (kindOf(this.current) !== kind) return false;
    this.advance();
    return true;
  }

  /** Goes past the token, one that is too many before it included; or does as if it were there, where `following` fits. */
  match(kind: string, following: ReadonlySet<string>): void {
    const expected = new Set([kind]);
    if (kindOf(this.current) === kind) return this.advance();
    if (kindOf(this.next) === kind && this.current.kind !== 'EOF') {
      this.fault(extraneous(this.current, expected));
      this.position++;
      return this.advance();
    }
    if (!following.has(kindOf(this.current))) throw this.fault(mismatched(this.current, expected));
    this.fault(missing(this.current, expected));
  }

  /** Whether one of these is ahead, after a token that is too many if need be; otherwise goes on where something fits that may follow. */
  begin(expected: ReadonlySet<string>): boolean {
    if (expected.has(kindOf(this.current))) return true;
    if (expected.has(kindOf(this.next)) && this.current.kind !== 'EOF') {
      this.fault(extraneous(this.current, expected));
      this.position++;
      return true;
    }
    this.fault(mismatched(this.current, expected));
    this.recover(OPERATORS);
    return false;
  }

  rule<T>(instead: T, parse: () => T): T {
    const { length } = this.follows;
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof Unparsable)) throw error;
      this.follows.length = length;
      this.recover(this.following());
      return instead;
    }
  }
  within<T>(follow: ReadonlySet<string>, parse: () => T): T {
    this.follows.push(follow);
    const result = parse();
    this.follows.pop();
    return result;
  }
  following(): ReadonlySet<string> {
    return new Set([...OPERATORS, ...SUFFIXES, ...(this.follows.at(-1) ?? [])]);
  }
  recover(follow: ReadonlySet<string>): void {
    const fits = new Set([...follow, ...this.follows.flatMap((each) => [...each])]);
    while (!fits.has(kindOf(this.current)) && this.current.kind !== 'EOF') this.position++;
  }
  fault(problem: Problem): Unparsable {
    if (!this.isRecovering) this.problems.push(problem);
    this.isRecovering = true;
    return new Unparsable();
  }
}

const END: Token = { kind: 'EOF', text: '<EOF>', at: 0, end: 0 };
/** Stands for what could not be parsed. */
const errorAt = ({ at }: { readonly at: number }): Expression => ({ kind: 'literal', at, type: 'null', value: null });
