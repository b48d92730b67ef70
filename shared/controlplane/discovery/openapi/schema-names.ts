import { builtInKinds, modelNames, modelSchema } from '../../schema/builtin.ts';
import type { KindName, ObjectSchema, Schema } from '../../schema/schema.ts';

/** Types that belong to apimachinery. */
const META_TYPES: ReadonlySet<string> = new Set([
  'Condition',
  'DeleteOptions',
  'FieldSelectorRequirement',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
  'Preconditions',
]);
const META_PACKAGE = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CORE_PACKAGE = 'io.k8s.api.core.v1';

/** Names that are not those of Go packages of k8s.io/api. */
const PACKAGES: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'meta.k8s.io': META_PACKAGE,
};

/** `io.k8s.api.batch.v1`: the package of a built-in group. */
const packageOf = (group: string): string => PACKAGES[group] ?? `io.k8s.api.${group === '' ? 'core' : (group.split('.')[0] ?? '')}.v1`;

/** How OpenAPI documents call the types of the built-in kinds, such as `io.k8s.api.core.v1.PodSpec`. */
export interface SchemaNames {
  nameOf(schema: ObjectSchema): string;
}

/** A type belongs to core if a core kind uses it, else to the group whose kinds do. */
export function createSchemaNames(): SchemaNames {
  const names = new Map<string, string>();
  const models = new Map(modelNames().map((model) => [modelSchema(model).fields, model]));
  const modelOf = ({ fields }: ObjectSchema): string => models.get(fields) ?? '';
  const kinds = [...builtInKinds()].sort((left, right) => Number(left.type?.group !== '') - Number(right.type?.group !== ''));
  for (const kind of kinds) {
    const pkg = packageOf(kind.type?.group ?? '');
    forEachObject(kind, (schema) => {
      const model = modelOf(schema);
      if (names.has(model)) return false;
      names.set(model, `${META_TYPES.has(schema.name) ? META_PACKAGE : pkg}.${schema.name}`);
      return true;
    });
  }
  return { nameOf: (schema) => names.get(modelOf(schema)) ?? `${CORE_PACKAGE}.${schema.name}` };
}

/** Visits the object types that a type uses, itself first; `visit` returns whether to go on below. */
export function forEachObject(schema: Schema, visit: (schema: ObjectSchema) => boolean): void {
  if (schema.kind === 'list') forEachObject(schema.items, visit);
  else if (schema.kind === 'map') forEachObject(schema.values, visit);
  else if (schema.kind === 'object' && visit(schema)) {
    for (const field of schema.fields.values()) forEachObject(field.schema, visit);
  }
}

/** `com.example.v1.Widget`: the name of a custom kind, its group reversed. */
export const customName = ({ group, version, kind }: KindName): string => [...group.split('.').reverse(), version, kind].join('.');

/** The model that describes a type, for its prose. */
export const modelNameOf = (): ((schema: ObjectSchema) => string) => {
  const models = new Map(modelNames().map((model) => [modelSchema(model).fields, model]));
  return ({ fields }) => models.get(fields) ?? '';
};
