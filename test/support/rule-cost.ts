import { Environment } from '@marcbachmann/cel-js';

/**
 * What a kube-apiserver estimates that the rules of a definition cost, before it takes the definition: the worst case, with every list and text at its greatest
 * length, by the costs of cel-go's checker and of Kubernetes' library. Of these it has what our rules use; anything else is an error, to be looked up first.
 */
export type RuleCost = { readonly at: string; readonly rule: string; readonly cost: number };

/** Of one rule, times how often it is judged in one object. */
export const RULE_COST_MAX = 10_000_000;
/** Of all rules of a definition. */
export const DEFINITION_COST_MAX = 100_000_000;

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
};
/** The size is 1 for what has none, and Infinity where the server cannot bound it. */
type Sized = { readonly cost: number; readonly size: number; readonly schema?: Schema | undefined };
type Scope = ReadonlyMap<string, Pick<Sized, 'size' | 'schema'>>;
type Node = { readonly op: string; readonly args: unknown };

const REQUEST_BYTES_MAX = 3 * 1024 * 1024;
const PER_CHARACTER = 0.1;
const parser = new Environment({ unlistedVariablesAreDyn: true });

export function ruleCosts(schema: Schema, at = '', times = 1): RuleCost[] {
  const here = (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => {
    const self = { size: sizeOf(schema), schema: withName(schema, at) };
    const scope: Scope = new Map([
      ['self', self],
      ['oldSelf', self],
    ]);
    return { at, rule, cost: times * costOf(parser.parse(rule).ast as Node, scope).cost };
  });
  const { properties = {}, items, additionalProperties: values } = schema;
  return [
    ...here,
    ...Object.entries(properties).flatMap(([name, each]) => ruleCosts(each, `${at}.${name}`, times)),
    ...(items === undefined ? [] : ruleCosts(items, `${at}[]`, times * sizeOf(schema))),
    ...(values === undefined ? [] : ruleCosts(values, `${at}{}`, times * sizeOf(schema))),
  ];
}

/** At the root of an object rules know its name, of unknown length. */
const withName = (schema: Schema, at: string): Schema =>
  at === ''
    ? { ...schema, properties: { ...schema.properties, metadata: { type: 'object', properties: { name: { type: 'string' } } } } }
    : schema;

function sizeOf(schema: Schema): number {
  // API servers before 1.33 do not heed the length of what may be a number, too.
  if (schema['x-kubernetes-int-or-string'] === true) return REQUEST_BYTES_MAX;
  switch (schema.type) {
    case 'array':
      return schema.maxItems ?? Infinity;
    case 'object':
      return schema.additionalProperties === undefined ? 1 : (schema.maxProperties ?? Infinity);
    case 'string':
      // A character has up to four bytes.
      if (schema.maxLength !== undefined) return schema.maxLength * 4;
      return schema.enum === undefined ? REQUEST_BYTES_MAX : Math.max(...schema.enum.map((word) => word.length));
    default:
      return 1;
  }
}

const ofSchema = (cost: number, schema: Schema | undefined): Sized => ({
  cost,
  size: schema === undefined ? Infinity : sizeOf(schema),
  schema,
});
const traversing = (size: number): number => Math.ceil(size * PER_CHARACTER);

function costOf({ op, args }: Node, scope: Scope): Sized {
  switch (op) {
    case 'value':
      return { cost: 0, size: typeof args === 'string' ? args.length : 1 };
    case 'id':
      return { ...(scope.get(args as string) ?? { size: 1 }), cost: 1 };
    case '.': {
      const [of, field] = args as [Node, string];
      const target = costOf(of, scope);
      return ofSchema(target.cost + 1, target.schema?.properties?.[field]);
    }
    case '[]': {
      const [list, index] = (args as Node[]).map((each) => costOf(each, scope)) as [Sized, Sized];
      return ofSchema(list.cost + index.cost + 1, list.schema?.items);
    }
    case 'list': {
      const items = (args as Node[]).map((each) => costOf(each, scope));
      return { cost: 10 + sum(items.map(({ cost }) => cost)), size: items.length };
    }
    case '!_':
      return { cost: 1 + costOf(args as Node, scope).cost, size: 1 };
    case '?:': {
      const [condition, yes, no] = (args as Node[]).map((each) => costOf(each, scope)) as [Sized, Sized, Sized];
      return { cost: condition.cost + Math.max(yes.cost, no.cost), size: Math.max(yes.size, no.size) };
    }
    case 'call':
    case 'rcall':
      return costOfCall(op, args as unknown[], scope);
    default: {
      const [left, right] = (args as Node[]).map((each) => costOf(each, scope)) as [Sized, Sized];
      return { cost: left.cost + right.cost + costOfOperator(op, left, right), size: 1 };
    }
  }
}

function costOfOperator(op: string, left: Sized, right: Sized): number {
  if (op === '&&' || op === '||') return 0;
  if (op === 'in') return right.size;
  if (op === '==' || op === '!=') return traversing(Math.min(left.size, right.size));
  if (['<', '<=', '>', '>=', '+', '*'].includes(op)) return Math.max(1, traversing(Math.min(left.size, right.size)));
  throw new Error(`the cost of ${op} is not known here: look it up in cel-go's checker`);
}

/** `accumulate` and `condition` are what a macro adds to each round, `result` what it adds at the end. */
const MACROS: Readonly<Record<string, { readonly round: number; readonly end: number }>> = {
  all: { round: 1 + 2, end: 1 },
  exists: { round: 1 + 3, end: 1 },
  exists_one: { round: 3, end: 2 },
};

function costOfCall(op: 'call' | 'rcall', args: unknown[], scope: Scope): Sized {
  const [name, ...rest] = args as [string, ...unknown[]];
  const target = op === 'rcall' ? costOf(rest.shift() as Node, scope) : undefined;
  const operands = rest[0] as Node[];
  const macro = MACROS[name];
  if (target !== undefined && macro !== undefined) {
    const [variable, body] = operands as [Node, Node];
    const values = target.schema?.additionalProperties === undefined ? target.schema?.items : undefined;
    const each = costOf(
      body,
      new Map([...scope, [variable.args as string, { size: values === undefined ? Infinity : sizeOf(values), schema: values }]]),
    );
    return { cost: target.cost + target.size * (each.cost + macro.round) + macro.end, size: 1 };
  }
  const given = operands.map((each) => costOf(each, scope));
  const before = (target?.cost ?? 0) + sum(given.map(({ cost }) => cost));
  switch (name) {
    case 'has':
    case 'size':
    case 'type':
    case 'int':
    case 'quantity': // As a function of no target, whose text upstream does not count.
    case 'compareTo':
      return { cost: before + 1, size: 1 };
    case 'string':
      return { cost: before + 1, size: 20 };
    case 'startsWith':
    case 'endsWith':
      return { cost: before + traversing(given[0]?.size ?? Infinity), size: 1 };
    default:
      throw new Error(`the cost of ${name}() is not known here: look it up in Kubernetes' CEL library`);
  }
}

const sum = (costs: readonly number[]): number => costs.reduce((total, each) => total + each, 0);
