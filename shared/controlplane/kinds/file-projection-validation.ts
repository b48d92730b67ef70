import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { DecodedVolume } from './decoded.ts';
import { validateFieldRef, validateResourceRef } from './downward-validation.ts';
import { validateNonReservedPath } from './path-validation.ts';

type KeyToPath = { key?: string | undefined; path?: string | undefined; mode?: number | undefined };
type DownwardFile = NonNullable<NonNullable<DecodedVolume['downwardAPI']>['items']>[number];

const FILE_MODE_RULE = 'must be a number between 0 and 0777 (octal), both inclusive';
const FILE_MODE_MAX = 0o777;
/** Fields of a pod that a file can hold, in the order in which messages list them. */
const POD_FIELDS: readonly string[] = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

export const validateMode = (mode: number | undefined, path: string): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > FILE_MODE_MAX) ? [invalid(path, mode, FILE_MODE_RULE)] : [];

/** validateKeyToPath. */
export const validateKeyToPath = ({ key = '', path: target = '', mode }: KeyToPath, path: string): FieldError[] => [
  ...(key === '' ? [required(`${path}.key`)] : []),
  ...(target === '' ? [required(`${path}.path`)] : []),
  ...validateNonReservedPath(target, `${path}.path`),
  ...validateMode(mode, `${path}.mode`),
];

/** validateDownwardAPIVolumeFile. */
export const validateDownwardFile = (file: DownwardFile, path: string): FieldError[] => {
  const { path: target = '', fieldRef, resourceFieldRef, mode } = file;
  const errors = [...(target === '' ? [required(`${path}.path`)] : []), ...validateNonReservedPath(target, `${path}.path`)];
  if (fieldRef !== undefined) {
    errors.push(...validateFieldRef(fieldRef, `${path}.fieldRef`, POD_FIELDS));
    if (resourceFieldRef !== undefined) {
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    }
  } else if (resourceFieldRef !== undefined) {
    errors.push(...validateResourceRef(resourceFieldRef, `${path}.resourceFieldRef`, { namesContainer: true }));
  } else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...validateMode(mode, `${path}.mode`)];
};
