import { type FieldError, invalid, required } from '../apimachinery/field-error.ts';
import { dns1035LabelProblems } from '../../kube/name-formats.ts';
import { pathSegmentName, validateAnyObjectMeta } from '../apimachinery/object-meta-validation.ts';
import type { AnyMeta } from '../apimachinery/object.ts';
import { itemsOf, type JsonSchema, propertyOf, someSchema, valuesOf } from './json-schema.ts';
import { isRecord } from './schema-defaults.ts';

const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true;

/** Whether validateEmbedded has anything to look at. */
export const hasEmbeddedResources = (schema: JsonSchema): boolean => someSchema(schema, isEmbedded);

/** Objects inside an object (x-kubernetes-embedded-resource) are objects too: they name their kind, and their metadata is valid. */
export function validateEmbedded(value: unknown, schema: JsonSchema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((each, i) => validateEmbedded(each, itemsOf(schema), `${path}[${i}]`));
  if (!isRecord(value)) return [];
  const own = isEmbedded(schema) ? validateObject(value, path) : [];
  const inside = Object.keys(value).flatMap((name) => {
    const property = propertyOf(schema, name);
    if (property !== undefined) return validateEmbedded(value[name], property, path === '' ? name : `${path}.${name}`);
    return validateEmbedded(value[name], valuesOf(schema), `${path}[${name}]`);
  });
  return [...own, ...inside];
}

function validateObject({ apiVersion, kind, metadata }: Record<string, unknown>, path: string): FieldError[] {
  return [
    ...(apiVersion === undefined ? [required(`${path}.apiVersion`)] : []),
    ...(kind === undefined ? [required(`${path}.kind`)] : []),
    ...(apiVersion === undefined ? [] : validateText(apiVersion, `${path}.apiVersion`, groupVersionProblem)),
    ...(kind === undefined ? [] : validateText(kind, `${path}.kind`, kindProblem)),
    ...(isRecord(metadata) ? validateMetadata(metadata, `${path}.metadata`) : []),
  ];
}

function validateText(value: unknown, path: string, problemOf: (text: string) => string | undefined): FieldError[] {
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  if (value === '') return [invalid(path, value, 'must not be empty')];
  const problem = problemOf(value);
  return problem === undefined ? [] : [invalid(path, value, problem)];
}

const groupVersionProblem = (text: string): string | undefined =>
  text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;

function kindProblem(text: string): string | undefined {
  const problems = dns1035LabelProblems(text.toLowerCase());
  return problems.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
}

function validateMetadata(metadata: Record<string, unknown>, path: string): FieldError[] {
  const hasName = typeof metadata['name'] === 'string' && metadata['name'] !== '';
  // An embedded object need not have a name; validation of metadata asks for one.
  const meta = { ...metadata, ...(hasName ? {} : { name: 'fakename' }) } as AnyMeta;
  return validateAnyObjectMeta(meta, (meta.namespace ?? '') !== '', pathSegmentName, path);
}
