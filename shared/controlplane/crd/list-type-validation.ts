import { duplicate, type FieldError } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** Sets and lists with keys must not repeat themselves (ValidateListSetsAndMaps of apiextensions). */
export function validateListTypes(value: unknown, schema: JsonSchema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return [
      ...repetitions(
        value.map((each) => identityOf(each, schema)),
        path,
      ),
      ...value.flatMap((each, i) => validateListTypes(each, items, `${path}[${i}]`)),
    ];
  }
  if (!isRecord(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const property = propertyOf(schema, name);
    if (property !== undefined) return validateListTypes(value[name], property, path === '' ? name : `${path}.${name}`);
    return validateListTypes(value[name], valuesOf(schema), `${path}[${name}]`);
  });
}

/** What makes an element unique; undefined in lists that may repeat. */
function identityOf(element: unknown, schema: JsonSchema): unknown {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return element;
    case 'map':
      if (!isRecord(element)) return undefined;
      return Object.fromEntries(
        (schema['x-kubernetes-list-map-keys'] ?? [])
          .toSorted()
          .filter((key) => key in element)
          .map((key) => [key, element[key]]),
      );
    default:
      return undefined;
  }
}

function repetitions(identities: readonly unknown[], path: string): FieldError[] {
  return identities.flatMap((identity, i) =>
    identity !== undefined && identities.findIndex((each) => jsonEquals(each, identity)) < i ? [duplicate(`${path}[${i}]`, identity)] : [],
  );
}
