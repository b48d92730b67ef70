import { forbidden, invalid, required, tooLong, type FieldError } from './field-error.ts';
import type { AnyMeta, AnyObject } from './object.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from '../../kube/name-formats.ts';
import { semanticEqual } from './semantic-equal.ts';

/** What a kind demands of its names; `isPrefix` when it is a generateName, to which characters will be appended. */
export type NameRule = (name: string, isPrefix: boolean) => string[];

/** A prefix may end in a dash, because something follows it. */
const withoutTrailingDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

export const subdomainName: NameRule = (name, isPrefix) => dns1123SubdomainProblems(isPrefix ? withoutTrailingDash(name) : name);
export const labelName: NameRule = (name, isPrefix) => dns1123LabelProblems(isPrefix ? withoutTrailingDash(name) : name);
/** The rule of kinds that have no other: a name must be one segment of a path. */
export const pathSegmentName: NameRule = (name, isPrefix) =>
  pathSegmentProblems(name).filter((problem) => !isPrefix || problem.startsWith('may not contain'));

export const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** ValidateObjectMeta of apimachinery: what every kind demands of metadata, whoever wrote it. */
export const validateAnyObjectMeta = (meta: AnyMeta, namespaced: boolean, nameRule: NameRule, path = 'metadata'): FieldError[] => [
  ...validateNames(meta, nameRule, path),
  ...validateNamespace(meta, namespaced, path),
  ...((meta.generation ?? 0) < 0 ? [invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0')] : []),
  ...validateLabels(meta.labels, `${path}.labels`),
  ...validateAnnotations(meta.annotations, `${path}.annotations`),
  ...validateOwnerReferences(meta, `${path}.ownerReferences`),
  ...validateFinalizers(meta.finalizers ?? [], `${path}.finalizers`),
];

/** ValidateObjectMeta of the core kinds: the same, and finalizers must be qualified or well known. */
export const validateObjectMeta = (meta: AnyMeta, namespaced: boolean, nameRule: NameRule, path = 'metadata'): FieldError[] => [
  ...validateAnyObjectMeta(meta, namespaced, nameRule, path),
  ...validateStandardFinalizers(meta, path),
];

/** ValidateObjectMetaUpdate of the core kinds: what an update may do to metadata, and once more how finalizers are called. */
export const validateObjectMetaUpdate = (next: AnyMeta, previous: AnyMeta, path = 'metadata'): FieldError[] => [
  ...validateAnyObjectMetaUpdate(next, previous, path),
  ...validateStandardFinalizers(next, path),
];

const validateStandardFinalizers = ({ finalizers = [] }: AnyMeta, path: string): FieldError[] =>
  finalizers.flatMap((finalizer, i) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)
      ? []
      : [invalid(`${path}.finalizers[${i}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  );

/** ValidateObjectMetaUpdate of apimachinery: what an update may do to the metadata of any kind. */
export const validateAnyObjectMetaUpdate = (next: AnyMeta, previous: AnyMeta, path = 'metadata'): FieldError[] => {
  const immutable = (field: keyof AnyMeta & string): FieldError[] =>
    semanticEqual(next[field], previous[field]) ? [] : [invalid(`${path}.${field}`, next[field] ?? null, 'field is immutable')];
  return [
    ...(previous.deletionTimestamp === undefined ? [] : validateNoNewFinalizers(next.finalizers ?? [], previous.finalizers ?? [], path)),
    ...((next.generation ?? 0) < (previous.generation ?? 0)
      ? [invalid(`${path}.generation`, next.generation ?? 0, 'must not be decremented')]
      : []),
    ...immutable('name'),
    ...immutable('namespace'),
    ...immutable('uid'),
    ...immutable('creationTimestamp'),
    ...immutable('deletionTimestamp'),
    ...immutable('deletionGracePeriodSeconds'),
    ...validateLabels(next.labels, `${path}.labels`),
    ...validateAnnotations(next.annotations, `${path}.annotations`),
    ...validateOwnerReferences(next, `${path}.ownerReferences`),
  ];
};

/** What the generic registry checks in every update, before the strategy adds its own findings. */
export const validateCommonFieldsOnUpdate = (next: AnyObject, previous: AnyObject, namespaced: boolean): FieldError[] => [
  ...validateAnyObjectMeta(next.metadata, namespaced, pathSegmentName),
  ...validateAnyObjectMetaUpdate(next.metadata, previous.metadata),
];

/** What the generic registry checks in every create, once the strategy has found nothing wrong. */
export const validateCommonFieldsOnCreate = (object: AnyObject, namespaced: boolean): FieldError[] =>
  validateAnyObjectMeta(object.metadata, namespaced, pathSegmentName);

const validateNames = (meta: AnyMeta, nameRule: NameRule, path: string): FieldError[] => {
  const prefix = meta.generateName ?? '';
  const ofPrefix = prefix === '' ? [] : nameRule(prefix, true).map((problem) => invalid(`${path}.generateName`, prefix, problem));
  const name = meta.name ?? '';
  if (name === '') return [...ofPrefix, required(`${path}.name`, 'name or generateName is required')];
  return [...ofPrefix, ...nameRule(name, false).map((problem) => invalid(`${path}.name`, name, problem))];
};

const validateNamespace = (meta: AnyMeta, namespaced: boolean, path: string): FieldError[] => {
  const namespace = meta.namespace ?? '';
  if (!namespaced) return namespace === '' ? [] : [forbidden(`${path}.namespace`, 'not allowed on this type')];
  if (namespace === '') return [required(`${path}.namespace`)];
  return dns1123LabelProblems(namespace).map((problem) => invalid(`${path}.namespace`, namespace, problem));
};

export const validateLabels = (labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of qualifiedNameProblems(key)) errors.push(invalid(path, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalid(path, value, problem));
  }
  return errors;
};

export const validateAnnotations = (annotations: Readonly<Record<string, string>> | undefined, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Upstream checks keys in lower case: the case of a prefix does not matter for annotations.
    for (const problem of qualifiedNameProblems(key.toLowerCase())) errors.push(invalid(path, key, problem));
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > ANNOTATIONS_MAX_BYTES) errors.push(tooLong(path, ANNOTATIONS_MAX_BYTES));
  return errors;
};

type OwnerReference = NonNullable<AnyMeta['ownerReferences']>[number];

const validateOwnerReferences = (meta: AnyMeta, path: string): FieldError[] => {
  const references = meta.ownerReferences ?? [];
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const reference of references) {
    errors.push(...validateOwnerReference(reference, path));
    if (reference.controller !== true) continue;
    const current = `${reference.kind}/${reference.name}`;
    if (controller === undefined) controller = current;
    else {
      const found = `Found "true" in references for ${controller} and ${current}`;
      errors.push(invalid(path, references.map(inOrder), `Only one reference can have Controller set to true. ${found}`));
    }
  }
  return errors;
};

/** A reference with its fields in the order in which Go writes them. */
const inOrder = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: Partial<OwnerReference>): object => ({
  apiVersion: apiVersion ?? '',
  kind: kind ?? '',
  name: name ?? '',
  uid: uid ?? '',
  controller,
  blockOwnerDeletion,
});

const validateOwnerReference = (reference: Partial<OwnerReference>, path: string): FieldError[] => {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
  const errors: FieldError[] = [];
  // "group/" names a group and no version; "a/b/c" is no group and version, and taken for neither.
  if (!/^[^/]*\/?[^/]+$/.test(apiVersion)) errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(invalid(`${path}.kind`, kind, 'must not be empty'));
  if (name === '') errors.push(invalid(`${path}.name`, name, 'must not be empty'));
  if (uid === '') errors.push(invalid(`${path}.uid`, uid, 'must not be empty'));
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.push(invalid(path, inOrder(reference), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
};

const validateFinalizers = (finalizers: readonly string[], path: string): FieldError[] => {
  const errors = finalizers.flatMap((finalizer) => qualifiedNameProblems(finalizer).map((problem) => invalid(path, finalizer, problem)));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
};

const validateNoNewFinalizers = (next: readonly string[], previous: readonly string[], path: string): FieldError[] => {
  const added = [...new Set(next)].filter((finalizer) => !previous.includes(finalizer)).toSorted();
  if (added.length === 0) return [];
  const listed = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  return [forbidden(`${path}.finalizers`, `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`)];
};
