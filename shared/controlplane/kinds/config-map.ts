import { forbidden, invalid, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { configKeyProblems } from '../../kube/name-formats.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

/** Of the values of a ConfigMap or a Secret together. */
export const DATA_MAX_BYTES = 1024 * 1024;
const FIELDS = ['data', 'binaryData'] as const;
const IMMUTABLE = 'field is immutable when `immutable` is set';

type DecodedConfigMap = AnyObject & {
  immutable?: boolean;
  data?: Readonly<Record<string, string>>;
  /** Base64. */
  binaryData?: Readonly<Record<string, string>>;
};
/** The registry hands this strategy decoded ConfigMaps only. */
const asConfigMap = (object: AnyObject): DecodedConfigMap => object as DecodedConfigMap;

/** core/v1 ConfigMap. */
export const configMapStrategy: ResourceStrategy = {
  validateCreate: (object) => validateConfigMap(asConfigMap(object)),
  prepareForStorage: (object) => dropEmpty(object, FIELDS),
  validateUpdate: (object, stored) => {
    const next = asConfigMap(object);
    const previous = asConfigMap(stored);
    return [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateStaysImmutable(next, previous, FIELDS),
      ...validateConfigMap(next),
    ];
  },
  table: {
    columns: [NAME_COLUMN, column('Data', 'Data contains the configuration data.'), AGE_COLUMN],
    cells: (object, now) => {
      const { metadata, data = {}, binaryData = {} } = asConfigMap(object);
      return [metadata.name, Object.keys(data).length + Object.keys(binaryData).length, ageOf(metadata.creationTimestamp, now)];
    },
  },
};

/** Once `immutable` is set neither it nor the fields named may change. */
export const validateStaysImmutable = (
  next: AnyObject & { immutable?: boolean },
  previous: AnyObject & { immutable?: boolean },
  fields: readonly string[],
): FieldError[] => {
  if (previous.immutable !== true) return [];
  return [
    ...(next.immutable === true ? [] : [forbidden('immutable', IMMUTABLE)]),
    ...fields
      // Unlike elsewhere, an empty map is not the same as none.
      .filter((field) => (next[field] === undefined) !== (previous[field] === undefined) || !semanticEqual(next[field], previous[field]))
      .map((field) => forbidden(field, IMMUTABLE)),
  ];
};

/** Storage keeps no empty maps. */
export const dropEmpty = (object: AnyObject, fields: readonly string[]): void => {
  for (const field of fields) if (Object.keys(object[field] ?? {}).length === 0) delete object[field];
};

const validateConfigMap = (object: DecodedConfigMap): FieldError[] => {
  const { metadata, data = {}, binaryData = {} } = object;
  const errors = validateObjectMeta(metadata, true, subdomainName);
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    errors.push(...validateFormat(key, `data[${key}]`, configKeyProblems));
    if (Object.hasOwn(binaryData, key)) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    errors.push(...validateFormat(key, `binaryData[${key}]`, configKeyProblems));
    // Bytes may be null.
    size += Buffer.byteLength(value ?? '', 'base64');
  }
  // Upstream reports the whole object, by a path without a name.
  if (size > DATA_MAX_BYTES) errors.push(tooLong('[]', DATA_MAX_BYTES));
  return errors;
};
