import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { subdomainName, validateAnyObjectMeta } from '../apimachinery/object-meta-validation.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { compileRules } from './cel-rules.ts';
import type { OldValue } from './correlation.ts';
import type { CrdVersion } from './crd.ts';
import { hasEmbeddedResources, validateEmbedded } from './embedded-validation.ts';
import { compileJsonPath } from './json-path.ts';
import type { JsonSchema } from './json-schema.ts';
import { validateListTypes } from './list-type-validation.ts';
import { customTable } from './printer-columns.ts';
import { applySchemaDefaults } from './schema-defaults.ts';
import { validateScale } from './scale.ts';
import { validateValue } from './value-validation.ts';

/** How custom resources of one version behave (customresource.strategy of apiextensions). */
export function customResourceStrategy(version: CrdVersion, namespaced: boolean): ResourceStrategy {
  const schema: JsonSchema = version.schema?.openAPIV3Schema ?? {};
  const rules = compileRules(schema);
  const hasEmbedded = hasEmbeddedResources(schema);
  const hasStatus = version.subresources?.status !== undefined;

  const validate = (object: AnyObject, old: AnyObject | undefined): FieldError[] => {
    const before: OldValue = old === undefined ? undefined : { value: old };
    const lists = validateListTypes(object, schema);
    const tolerated = old !== undefined && lists.length > 0 && validateListTypes(old, schema).length > 0;
    const errors = [
      ...validateValue(object, schema, before),
      ...validateScale(object, version.subresources?.scale),
      ...(hasEmbedded ? validateEmbedded(object, schema) : []),
      ...(tolerated ? [] : lists),
    ];
    if (rules === undefined) return errors;
    return [...errors, ...(errors.some(blocksRules) ? [RULES_NOT_CHECKED] : rules(object, before))];
  };
  const selectable = (version.selectableFields ?? []).map(({ jsonPath = '' }) => ({
    field: jsonPath.replace(/^\./, ''),
    path: compileJsonPath(jsonPath),
  }));

  return {
    applyDefaults: (object) => applySchemaDefaults(object, schema),
    prepareForCreate: (object) => {
      if (hasStatus) delete object['status'];
      object.metadata.generation = 1;
    },
    validateCreate: (object) => [...validateAnyObjectMeta(object.metadata, namespaced, subdomainName), ...validate(object, undefined)],
    prepareForUpdate: (next, previous) => {
      if (hasStatus) restore(next, previous, 'status');
      const changed = !jsonEquals(withoutMetadata(next, hasStatus), withoutMetadata(previous, hasStatus));
      next.metadata.generation = (previous.metadata.generation ?? 0) + (changed ? 1 : 0);
    },
    validateUpdate: validate,
    ...(rules === undefined
      ? {}
      : {
          warningsOnUpdate: (next: AnyObject, previous: AnyObject): string[] => {
            const tolerated: FieldError[] = [];
            rules(next, { value: previous }, tolerated);
            return tolerated.map(({ field, body }) => `${field}: ${body}`);
          },
        }),
    ...(hasStatus ? { status: { prepareForUpdate: keepAllButStatus, validateUpdate: validate } } : {}),
    ...(selectable.length === 0
      ? {}
      : {
          selectableFields: (object: AnyObject) =>
            Object.fromEntries(selectable.map(({ field, path }) => [field, textOf(path?.find(object)[0])])),
        }),
    unsupportedField: (field) => `field label not supported: ${field}`,
    table: customTable(version.additionalPrinterColumns),
  };
}

const BLOCKING: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueRequired',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
/** Rules are written for objects of the right shape. */
const blocksRules = ({ type }: FieldError): boolean => BLOCKING.has(type);
const RULES_NOT_CHECKED = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

const restore = (next: AnyObject, previous: AnyObject, field: string): void => {
  if (previous[field] === undefined) delete next[field];
  else next[field] = structuredClone(previous[field]);
};

/** A write of the status changes nothing else, metadata included. */
function keepAllButStatus(next: AnyObject, previous: AnyObject): void {
  const { managedFields, resourceVersion } = next.metadata;
  for (const field of Object.keys({ ...next, ...previous })) {
    if (field !== 'status' && field !== 'kind' && field !== 'apiVersion') restore(next, previous, field);
  }
  next.metadata.resourceVersion = resourceVersion;
  if (managedFields === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = managedFields;
}

function withoutMetadata(object: AnyObject, withoutStatus: boolean): object {
  const { metadata: _metadata, kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  if (!withoutStatus) return rest;
  const { status: _status, ...content } = rest;
  return content;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value));
