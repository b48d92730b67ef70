/** JSONSchemaProps of apiextensions.k8s.io/v1, as far as a structural schema may use it. */
export type JsonSchema = {
  readonly description?: string;
  readonly title?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  // Known to the API, and refused in CRDs.
  readonly id?: string;
  readonly $ref?: string;
  readonly $schema?: string;
  readonly additionalItems?: unknown;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly externalDocs?: unknown;
  readonly example?: unknown;
};

/** One entry of x-kubernetes-validations. */
export type ValidationRule = {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  /** JSON path, relative to the schema of the rule: `.spec.replicas`. */
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

/** The schema of the elements of an array; arrays of schemas are refused in CRDs. */
export const itemsOf = (schema: JsonSchema | undefined): JsonSchema | undefined => {
  const items = schema?.items;
  return items === undefined || Array.isArray(items) ? undefined : (items as JsonSchema);
};

/** The schema of the values of a map; undefined when there is none or it is only `true`. */
export const valuesOf = (schema: JsonSchema | undefined): JsonSchema | undefined =>
  typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;

/** The property of that name, if the schema itself has one. */
export const propertyOf = (schema: JsonSchema | undefined, name: string): JsonSchema | undefined =>
  schema?.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** Properties in the order in which they are visited, by name: Go's own order changes from run to run. */
export const sortedProperties = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries(schema.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** Whether `predicate` holds for a schema or anything inside it. */
export function someSchema(schema: JsonSchema, predicate: (schema: JsonSchema) => boolean): boolean {
  if (predicate(schema)) return true;
  return childrenOf(schema).some((child) => someSchema(child, predicate));
}

function childrenOf(schema: JsonSchema): JsonSchema[] {
  return [
    ...Object.values(schema.properties ?? {}),
    ...[itemsOf(schema), valuesOf(schema), schema.not].filter((each) => each !== undefined),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ];
}
