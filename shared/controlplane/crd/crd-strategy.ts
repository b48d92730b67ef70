import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { column, NAME_COLUMN } from '../kinds/table-columns.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceDefinition, ResourceStrategy } from '../resources/strategy.ts';
import { asCrd, CLEANUP_FINALIZER, type Crd } from './crd.ts';
import { withCondition } from './crd-conditions.ts';
import { validateCrd, validateCrdStatusUpdate, validateCrdUpdate } from './crd-validation.ts';
import { checkedFormat } from './formats.ts';
import { type JsonSchema, someSchema } from './json-schema.ts';

const strategy: ResourceStrategy = {
  forbidUnconditionalUpdate: true,
  applyDefaults: (object) => {
    const { spec } = asCrd(object);
    if (spec === undefined) return;
    const { names } = spec;
    const kind = names?.kind ?? '';
    if (names !== undefined) {
      if ((names.singular ?? '') === '') names.singular = kind.toLowerCase();
      if ((names.listKind ?? '') === '' && kind !== '') names.listKind = `${kind}List`;
    }
    spec.conversion ??= { strategy: 'None' };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service !== undefined) service.port ??= 443;
  },
  prepareForCreate: (object) => {
    const crd = asCrd(object);
    crd.metadata.generation = 1;
    crd.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    addStorageVersion(crd);
  },
  validateCreate: (object) => validateCrd(asCrd(object)),
  warningsOnCreate: (object) => formatWarnings(asCrd(object), undefined),
  prepareForUpdate: (object, old) => {
    const [next, previous] = [asCrd(object), asCrd(old)];
    if (previous.status === undefined) delete next.status;
    else next.status = structuredClone(previous.status);
    const changed = !semanticEqual(next.spec, previous.spec);
    next.metadata.generation = (previous.metadata.generation ?? 0) + (changed ? 1 : 0);
    addStorageVersion(next);
  },
  validateUpdate: (next, previous) => validateCrdUpdate(asCrd(next), asCrd(previous)),
  warningsOnUpdate: (next, previous) => formatWarnings(asCrd(next), asCrd(previous)),
  status: {
    prepareForUpdate: (object, old) => {
      const [next, previous] = [asCrd(object), asCrd(old)];
      if (previous.spec === undefined) delete next.spec;
      else next.spec = structuredClone(previous.spec);
      // Metadata stays as it is asked for: upstream means to keep it, but compares it with itself.
    },
    validateUpdate: (next, previous) => validateCrdStatusUpdate(asCrd(next), asCrd(previous)),
  },
  // The first deletion only marks: the finalizer that removes the custom resources comes with it, and without a grace period.
  keptAfterDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
  markDeleting: (object) => {
    const crd = asCrd(object);
    const { metadata } = crd;
    const finalizers = metadata.finalizers ?? [];
    if (finalizers.includes(CLEANUP_FINALIZER)) return;
    metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
    delete metadata.deletionGracePeriodSeconds;
    // Marking a CRD does not count as a change of it.
    if (metadata.generation !== undefined) metadata.generation -= 1;
    const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
    const at = metadata.deletionTimestamp ?? '';
    crd.status = withCondition(crd.status, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message }, at);
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Created At', 'CreationTimestamp is a timestamp representing the server time when this object was created.', { type: 'date' }),
    ],
    cells: ({ metadata }: AnyObject) => [metadata.name, metadata.creationTimestamp],
  },
};

/** CustomResourceDefinition of apiextensions.k8s.io/v1. */
export const CRD_RESOURCE: ResourceDefinition = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  listKind: 'CustomResourceDefinitionList',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  strategy,
};

function addStorageVersion(crd: Crd): void {
  const storage = crd.spec?.versions?.find((version) => version.storage === true)?.name;
  const stored = crd.status?.storedVersions ?? [];
  if (crd.status !== undefined && storage !== undefined && !stored.includes(storage)) crd.status.storedVersions = [...stored, storage];
}

/** Formats that nothing will check, unless the previous object had them already. */
function formatWarnings(crd: Crd, previous: Crd | undefined): string[] {
  const known = new Set(previous === undefined ? [] : unrecognizedFormats(previous));
  return unrecognizedFormats(crd)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unrecognizedFormats(crd: Crd): string[] {
  const found = new Set<string>();
  const note = (schema: JsonSchema): boolean => {
    if (schema.format !== undefined && schema.format !== '' && checkedFormat(schema) === '') found.add(schema.format);
    return false;
  };
  for (const { schema } of crd.spec?.versions ?? []) if (schema?.openAPIV3Schema !== undefined) someSchema(schema.openAPIV3Schema, note);
  return [...found].sort();
}
