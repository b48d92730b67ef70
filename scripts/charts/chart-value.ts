/** The words in which the values of a chart are described: from them come its schema, its values.yaml and the table of its README. */
import { Type, type TSchema } from 'typebox';
import { keyOf, shapeOf, type Flag, type FlagTable } from '../../shared/runtime/flags.ts';
import type { ValueShape } from '../../shared/runtime/value-shape.ts';

/** A value, or a group of values: JSON Schema with what else is known of it. */
export type ChartValue = TSchema & {
  readonly description?: string;
  /** What values.yaml says; a value without it is shown there as a comment. */
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, ChartValue>>;
  /** The flag that the chart passes it by. */
  readonly 'x-flag'?: string;
  /** What holds where the value is not set. */
  readonly 'x-fallback'?: string;
};

/** Values that belong together; others are refused. */
export const group = (about: string, values: Readonly<Record<string, ChartValue>>): ChartValue =>
  Type.Partial(Type.Object(values), { additionalProperties: false, ...(about === '' ? {} : { description: about }) });

/** A value that is passed to the program by a flag, of which its type and what it means are known. */
export function flagValue<Table extends FlagTable>(
  flags: Table,
  name: keyof Table & string,
  own: { readonly default?: unknown; readonly about?: string; readonly shape?: ValueShape } = {},
): ChartValue {
  const flag: Flag = flags[name] ?? { about: '' };
  const fallback = flag.value === undefined ? 'false' : flag.fallback;
  const isOptional = flag.value !== undefined && flag.fallback === undefined;
  const shape = own.shape ?? shapeOf(flag);
  return Type.Unsafe({
    // Of a flag without a default, an empty value counts as none.
    ...(isOptional ? { anyOf: [shape, { enum: 'type' in shape && shape.type === 'array' ? [[]] : [''] }] } : shape),
    description: own.about ?? sentence(flag.about),
    ...('default' in own ? { default: own.default } : {}),
    'x-flag': name,
    ...(fallback === undefined ? {} : { 'x-fallback': fallback }),
  });
}

/** Some flags by their keys, each with what values.yaml says; undefined: it is not set there, and the program's default holds. */
export const flagValues = <Table extends FlagTable>(
  flags: Table,
  defaults: { readonly [Name in keyof Table & string]?: unknown },
): Record<string, ChartValue> =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [keyOf(name), flagValue(flags, name, value === undefined ? {} : { default: value })]),
  );

const sentence = (about: string): string => `${about.charAt(0).toUpperCase()}${about.slice(1)}${/[.!?]$/.test(about) ? '' : '.'}`;

export const text = (about: string, value = '', rules: { pattern?: string; minLength?: number; maxLength?: number } = {}): ChartValue =>
  Type.String({ ...rules, description: about, default: value });
export const isOn = (about: string, value: boolean): ChartValue => Type.Boolean({ description: about, default: value });
export const wholeNumber = (about: string, value: number, minimum = 0, maximum?: number): ChartValue =>
  Type.Integer({ minimum, ...(maximum === undefined ? {} : { maximum }), description: about, default: value });
export const port = (about: string, value: number): ChartValue => wholeNumber(about, value, 1, 65_535);
export const choice = (about: string, value: string, choices: readonly string[]): ChartValue =>
  Type.Unsafe({ enum: choices, description: about, default: value });
/** Texts by name, as labels and annotations are. */
export const textMap = (about: string, value: Readonly<Record<string, string>> = {}): ChartValue =>
  Type.Unsafe({ type: 'object', additionalProperties: { type: 'string' }, description: about, default: value });
/** A part of an object of Kubernetes, which the API server checks. */
export const kubernetesObject = (about: string, value: object = {}): ChartValue =>
  Type.Unsafe({ type: 'object', description: about, default: value });
export const kubernetesObjects = (about: string, value: readonly object[] = []): ChartValue =>
  Type.Unsafe({ type: 'array', items: { type: 'object' }, description: about, default: value });
/**
 * Who is let through by a NetworkPolicy, or where to: peers of it, or `anywhere`. `minimum` of 1: without any the program could not work.
 */
export const peers = (about: string, value: 'anywhere' | readonly object[], minimum: 0 | 1 = 0): ChartValue =>
  Type.Unsafe({
    anyOf: [{ enum: ['anywhere'] }, { type: 'array', items: { type: 'object', minProperties: 1 }, minItems: minimum }],
    description: about,
    default: value,
  });
export const texts = (about: string, value: readonly string[] = [], pattern?: string): ChartValue =>
  Type.Unsafe({
    type: 'array',
    items: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
    description: about,
    default: value,
  });
/** A number, or a percentage. */
export const share = (about: string, value?: number | string): ChartValue =>
  Type.Unsafe({
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^[0-9]{1,3}%$' },
    ],
    description: about,
    ...(value === undefined ? {} : { default: value }),
  });
export const ports = (about: string, value: readonly number[]): ChartValue =>
  Type.Unsafe({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 }, minItems: 1, description: about, default: value });
