import type { Emit } from './schema.ts';

/** The shape of builtin.json, which scripts/generate-builtin-schema.ts writes. */
export type BuiltInTable = {
  /** Model, group, version and kind of each described kind. */
  readonly kinds: readonly (readonly string[])[];
  /** By name of the model. */
  readonly types: Record<string, BuiltInType>;
};

export type BuiltInType = {
  /** Name of the Go type. */
  readonly name: string;
  readonly fields: Readonly<Record<string, BuiltInField>>;
  readonly atomic?: boolean;
};

export type BuiltInField = {
  /** A scalar type, `any`, `any:` and the model of its objects, a model, or one of these behind `[]` (a list) or `map[]`. */
  readonly type: string;
  readonly emit: Emit;
  readonly required?: boolean;
  /** Null instead of {} when it is emitted unset. */
  readonly nullable?: boolean;
  readonly atomic?: boolean;
  readonly listType?: 'set' | 'map';
  readonly keys?: readonly string[];
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
  readonly patch?: 'merge' | 'merge,retainKeys' | 'retainKeys' | 'replace';
  readonly mergeKey?: string;
};
