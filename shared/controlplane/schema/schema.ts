/**
 * What the server knows about the shape of a kind, on the wire. One description serves decoding, the omission of empty
 * fields, strategic merge patch, server-side apply and OpenAPI. Schemas of recursive types are cyclic graphs.
 */
export type Schema = ScalarSchema | ObjectSchema | MapSchema | ListSchema | AnySchema;

export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'double'
  /** Base64 in JSON. */
  | 'bytes'
  /** metav1.Time: whole seconds. */
  | 'time'
  /** metav1.MicroTime. */
  | 'micro-time'
  | 'quantity'
  | 'int-or-string';

export type ScalarSchema = { readonly kind: 'scalar'; readonly type: ScalarType };

/** JSON of any shape, kept as it is. For server-side apply it is one leaf; `deduced`: its objects are merged field by field. */
export type AnySchema = {
  readonly kind: 'any';
  readonly deduced?: boolean;
  /** What its objects, or those of a list, are: JSONSchemaPropsOrBool and its like have several forms. */
  readonly objects?: ObjectSchema;
};

export type ObjectSchema = {
  readonly kind: 'object';
  /** Name of the Go type in error messages, such as `JobSpec`. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** Server-side apply owns it as one leaf (`+structType=atomic`). */
  readonly atomic?: boolean;
  /** Fields that are not listed are kept (x-kubernetes-preserve-unknown-fields). */
  readonly open?: boolean;
  /** On the schema of a whole object: which kind it is. */
  readonly type?: KindName;
  /** Names of the fields whose `emit` is `always`. */
  readonly alwaysEmitted?: readonly string[];
  /** Names of the fields that are, or contain, lists which are always emitted. */
  readonly alwaysListsBelow?: readonly string[];
  /** On the schema of a custom resource: decoding types only apiVersion, kind and metadata, and leaves the rest to this. */
  readonly custom?: CustomShape;
};

export type CustomShape = {
  /**
   * Drops what the structural schema does not specify, and returns the paths of what it dropped. Changes the object. Throws
   * TypeMismatch for an embedded object whose metadata is none.
   */
  prune(object: { [field: string]: unknown }): string[];
  /** The schema as the CustomResourceDefinition gives it, for OpenAPI. */
  readonly openApi?: { readonly [keyword: string]: unknown };
  /** False: without the subresource `status` is a field like any other. */
  readonly hasStatusSubresource?: boolean;
};

export type KindName = { readonly group: string; readonly version: string; readonly kind: string };

export type Field = {
  readonly schema: Schema;
  readonly emit: Emit;
  readonly patchStrategy?: PatchStrategy;
  /** Given by OpenAPI's `required`. */
  readonly required?: boolean;
  /** Emitted as null, not {}, when an object that is always emitted is absent. */
  readonly nullable?: boolean;
  /** Key by which strategic merge patch finds an element of this list; absent for lists of scalars. */
  readonly patchMergeKey?: string;
};

/**
 * When a field of a built-in kind appears in an answer.
 * `pointer`: whenever it was given. `omit-empty`: unless it is zero or empty (`omitempty` of a plain value).
 * `always`: also when absent, as its zero value: null for a list, a map or a time, {} for an object.
 */
export type Emit = 'pointer' | 'omit-empty' | 'always';

export type PatchStrategy = { readonly merge?: boolean; readonly replace?: boolean; readonly retainKeys?: boolean };

/** A string-keyed map of equal values. */
export type MapSchema = { readonly kind: 'map'; readonly values: Schema; readonly atomic?: boolean };

export type ListSchema = {
  readonly kind: 'list';
  readonly items: Schema;
  /** How server-side apply merges it. */
  readonly listType: 'atomic' | 'set' | 'map';
  /** Keys of a list of type `map`. */
  readonly keys: readonly string[];
  /** Values of keys that may be left out, such as protocol TCP. */
  readonly keyDefaults?: Readonly<Record<string, unknown>>;
};

/** Validation of query parameter `fieldValidation`; the server's default is Warn. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export const stringSchema: ScalarSchema = { kind: 'scalar', type: 'string' };
export const anySchema: AnySchema = { kind: 'any' };
/** Fields below x-kubernetes-preserve-unknown-fields. */
export const deducedSchema: AnySchema = { kind: 'any', deduced: true };
