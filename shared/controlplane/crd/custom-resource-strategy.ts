import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';
import { subdomainName, validateAnyObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { jsonEquals } from '../apimachinery/json.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { compileRules, type RuleValidator } from './cel-rules.ts';
import type { CrdVersion } from './crd.ts';
import { hasEmbeddedResources, validateEmbedded } from './embedded-validation.ts';
import { compileJsonPath } from './json-path.ts';
import { type JsonSchema, propertyOf } from './json-schema.ts';
import { validateListTypes } from './list-type-validation.ts';
import { customTable } from './printer-columns.ts';
import { applySchemaDefaults } from './schema-defaults.ts';
import { validateScaleSpec, validateScaleStatus } from './scale.ts';
import { validateValue } from './value-validation.ts';

/** How custom resources of one version behave (customresource.strategy of apiextensions). */
export function customResourceStrategy(version: CrdVersion, namespaced: boolean): ResourceStrategy {
  const schema: JsonSchema = version.schema?.openAPIV3Schema ?? {};
  const rules = compileRules(schema);
  const hasStatus = version.subresources?.status !== undefined;
  const { validateCreate, validateUpdate, validateStatusUpdate } = validationOf(version, schema, rules, namespaced);

  return {
    applyDefaults: (object) => applySchemaDefaults(object, schema),
    prepareForCreate: (object) => {
      if (hasStatus) delete object['status'];
      object.metadata.generation = 1;
    },
    validateCreate,
    warningsOnCreate: (object) => finalizerWarnings(object.metadata.finalizers ?? []),
    prepareForUpdate: (next, previous) => {
      if (hasStatus) restore(next, previous, 'status');
      const changed = !jsonEquals(withoutMetadata(next, hasStatus), withoutMetadata(previous, hasStatus));
      next.metadata.generation = (previous.metadata.generation ?? 0) + (changed ? 1 : 0);
    },
    validateUpdate,
    warningsOnUpdate: (next, previous) => {
      const tolerated: FieldError[] = [];
      rules?.(next, { value: previous }, tolerated);
      const known = previous.metadata.finalizers ?? [];
      return [
        ...tolerated.map(({ field, body }) => `${field}: ${body}`),
        ...finalizerWarnings((next.metadata.finalizers ?? []).filter((each) => !known.includes(each))),
      ];
    },
    ...(hasStatus ? { status: { prepareForUpdate: keepAllButStatus, validateUpdate: validateStatusUpdate } } : {}),
    ...selectableFieldsOf(version),
    unsupportedField: (field) => `field label not supported: ${field}`,
    table: customTable(version.additionalPrinterColumns),
  };
}

type ValidateUpdate = (next: AnyObject, previous: AnyObject) => FieldError[];
type Validation = {
  readonly validateCreate: (object: AnyObject) => FieldError[];
  readonly validateUpdate: ValidateUpdate;
  readonly validateStatusUpdate: ValidateUpdate;
};

function validationOf(version: CrdVersion, schema: JsonSchema, rules: RuleValidator | undefined, namespaced: boolean): Validation {
  const hasEmbedded = hasEmbeddedResources(schema);
  const statusSchema = propertyOf(schema, 'status');
  const scalePaths = version.subresources?.scale;
  const embedded = (object: AnyObject): FieldError[] => (hasEmbedded ? validateEmbedded(object, schema) : []);

  const validateCreate = (object: AnyObject): FieldError[] =>
    withRules(
      rules,
      [
        ...validateAnyObjectMeta(object.metadata, namespaced, subdomainName),
        ...validateValue(object, schema),
        ...validateScaleSpec(object, scalePaths),
        ...validateScaleStatus(object, scalePaths),
        ...embedded(object),
        ...validateListTypes(object, schema),
      ],
      object,
    );
  const validateUpdate = (next: AnyObject, previous: AnyObject): FieldError[] =>
    withRules(
      rules,
      [
        ...validateObjectMetaUpdate(next.metadata, previous.metadata),
        ...validateValue(next, schema, { value: previous }),
        ...validateScaleSpec(next, scalePaths),
        ...validateScaleStatus(next, scalePaths),
        ...embedded(next),
        ...newRepetitions(schema, next, previous),
      ],
      next,
      previous,
    );
  /** The status is looked at by itself: messages carry the path below it. */
  const validateStatusUpdate = (next: AnyObject, previous: AnyObject): FieldError[] =>
    withRules(
      rules,
      [
        ...validateObjectMetaUpdate(next.metadata, previous.metadata),
        ...(next['status'] === undefined || statusSchema === undefined
          ? []
          : validateValue(next['status'], statusSchema, previousValue(previous, 'status')).map(belowStatus)),
        ...validateScaleStatus(next, scalePaths),
        ...newRepetitions(schema, next, previous),
      ],
      next,
      previous,
    );
  return { validateCreate, validateUpdate, validateStatusUpdate };
}

/** Rules come last, and only where the shape is right. */
function withRules(rules: RuleValidator | undefined, errors: FieldError[], object: AnyObject, old?: AnyObject): FieldError[] {
  if (rules === undefined) return errors;
  if (errors.some(blocksRules)) return [...errors, RULES_NOT_CHECKED];
  return [...errors, ...rules(object, old === undefined ? undefined : { value: old })];
}

/** What was repeated before may be so still. */
function newRepetitions(schema: JsonSchema, object: AnyObject, old: AnyObject): FieldError[] {
  const found = validateListTypes(object, schema);
  return found.length > 0 && validateListTypes(old, schema).length > 0 ? [] : found;
}

function selectableFieldsOf({ selectableFields = [] }: CrdVersion): Pick<ResourceStrategy, 'selectableFields'> {
  const selectable = selectableFields.map(({ jsonPath = '' }) => ({ field: jsonPath.replace(/^\./, ''), path: compileJsonPath(jsonPath) }));
  if (selectable.length === 0) return {};
  return {
    selectableFields: (object) => Object.fromEntries(selectable.map(({ field, path }) => [field, textOf(path?.find(object)[0])])),
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

const previousValue = (previous: AnyObject, field: string): { readonly value: unknown } | undefined =>
  previous[field] === undefined ? undefined : { value: previous[field] };

const belowStatus = (error: FieldError): FieldError => ({
  ...error,
  field: error.field === '<nil>' ? 'status' : `status.${error.field}`,
});

/** Finalizers of custom resources are not refused for their name, but it should say whose they are (generateWarningsFromObj). */
function finalizerWarnings(finalizers: readonly string[]): string[] {
  return [...new Set(finalizers)].toSorted().flatMap((finalizer) => {
    const about = `metadata.finalizers: ${JSON.stringify(finalizer)}: `;
    const problems = qualifiedNameProblems(finalizer).map((problem) => about + problem);
    if (finalizer.includes('/') || ['orphan', 'foregroundDeletion', 'kubernetes'].includes(finalizer)) return problems;
    const form = finalizer.includes('.') ? ' including a path (/)' : '';
    return [
      ...problems,
      `${about}prefer a domain-qualified finalizer name${form} to avoid accidental conflicts with other finalizer writers`,
    ];
  });
}

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
