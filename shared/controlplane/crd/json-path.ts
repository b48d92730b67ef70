import { isRecord } from './schema-defaults.ts';

/** A compiled JSONPath of the small kind that CRDs use: `.spec.size`, `.list[0].a`, `.list[?(@.type=="A")].status`, `.map['a.b']`. */
export type JsonPath = {
  /** All values found, in order. */
  find(root: unknown): unknown[];
};

type Step = (value: unknown) => unknown[];

const TOKEN =
  /\.?\[\s*\?\(\s*@\.([\w.-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\s*\)\s*\]|\.?\[\s*(?:"([^"]*)"|'([^']*)'|(\*)|(-?\d+))\s*\]|\.?(\*|(?:\\.|[^.[\]\\])+)/gy;

/** Compiles a path; undefined when it is not one. The leading dot may be missing. */
export function compileJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    steps.push(stepOf(match));
  }
  return { find: (root) => steps.reduce<unknown[]>((values, step) => values.flatMap(step), [root]) };
}

function stepOf(match: RegExpExecArray): Step {
  const [, filterField, operator, double, single, bare, quoted, quotedSingle, star, index, name] = match;
  if (filterField !== undefined) {
    const wanted = double ?? single ?? bare ?? '';
    const holds = (element: unknown): boolean => String(dig(element, filterField.split('.'))) === wanted;
    return (value) => elementsOf(value).filter((element) => holds(element) === (operator === '=='));
  }
  if (star !== undefined || name === '*') return elementsOf;
  if (index !== undefined) return (value) => (Array.isArray(value) ? present(value.at(Number(index))) : []);
  const field = quoted ?? quotedSingle ?? (name ?? '').replace(/\\(.)/g, '$1');
  return (value) => (isRecord(value) && Object.hasOwn(value, field) ? present(value[field]) : []);
}

const present = (value: unknown): unknown[] => (value === undefined ? [] : [value]);
const elementsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
};
const dig = (value: unknown, fields: readonly string[]): unknown =>
  fields.reduce<unknown>((at, field) => (isRecord(at) ? at[field] : undefined), value);
