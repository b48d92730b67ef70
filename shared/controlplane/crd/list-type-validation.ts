import { duplicate, type FieldError, invalid } from '../apimachinery/field-error.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

/** Sets and lists with keys must not repeat themselves (ValidateListSetsAndMaps of apiextensions). */
export function validateListTypes(value: unknown, schema: JsonSchema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    const strange = schema['x-kubernetes-list-type'] === 'map' ? value.findIndex((each) => each !== null && !isRecord(each)) : -1;
    return [
      ...(strange < 0 ? [] : [invalid(`${path}[${strange}]`, value[strange], 'must be an object for an array of list-type map')]),
      ...repetitions(strange < 0 ? value.map((each) => identityOf(each, schema)) : [], path),
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
      if (!isRecord(element)) return {};
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

/** The first repetition of each. */
function repetitions(identities: readonly unknown[], path: string): FieldError[] {
  return identities.flatMap((identity, i) => {
    if (identity === undefined) return [];
    const before = identities.slice(0, i).filter((each) => jsonEquals(each, identity)).length;
    return before === 1 ? [duplicate(`${path}[${i}]`, identity)] : [];
  });
}
