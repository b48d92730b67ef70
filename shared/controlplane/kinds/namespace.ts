import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { keepSpec, restore } from './generation.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';
import { labelName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

/** Names the namespace to selectors; nobody can change it. */
const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Held by the namespace controller until the namespace is empty. */
const NAMESPACE_FINALIZER = 'kubernetes';
/** Namespaces that every cluster has from the start. */
export const SYSTEM_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Namespaces that cannot be deleted. */
export const IMMORTAL_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public'];

type DecodedNamespace = AnyObject & { spec?: { finalizers?: readonly string[] }; status?: { phase?: string } };
/** The registry hands this strategy decoded Namespaces only. */
const asNamespace = (object: AnyObject): DecodedNamespace => object as DecodedNamespace;

/** core/v1 Namespace. */
export const namespaceStrategy: ResourceStrategy = {
  applyDefaults: (object) => labelWithName(object),
  prepareForCreate: (object) => {
    const namespace = asNamespace(object);
    const finalizers = namespace.spec?.finalizers ?? [];
    labelWithName(namespace);
    namespace.spec = { finalizers: finalizers.includes(NAMESPACE_FINALIZER) ? finalizers : [...finalizers, NAMESPACE_FINALIZER] };
    namespace.status = { phase: 'Active' };
  },
  validateCreate: (object) => validateNamespace(asNamespace(object)),
  prepareForUpdate: (next, previous) => {
    keepSpec(next, previous);
    restore(next, previous, 'status');
  },
  validateUpdate: (next, previous) => [
    ...validateNamespace(asNamespace(next)),
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validatePhase(asNamespace(next)),
    ],
  },
  finalize: {
    prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...(asNamespace(next).spec?.finalizers ?? []).flatMap((finalizer, i) => validateFinalizer(finalizer, `spec.finalizers[${i}]`)),
    ],
  },
  markDeleting: (object) => {
    object['status'] = { ...asNamespace(object).status, phase: 'Terminating' };
  },
  keptAfterDeletion: (object) => (asNamespace(object).spec?.finalizers ?? []).length > 0,
  selectableFields: (object) => ({ 'status.phase': asNamespace(object).status?.phase ?? '' }),
  table: {
    columns: [NAME_COLUMN, column('Status', 'The status of the namespace'), AGE_COLUMN],
    cells: (object, now) => {
      const { metadata, status } = asNamespace(object);
      return [metadata.name, status?.phase ?? '', ageOf(metadata.creationTimestamp, now)];
    },
  },
};

const labelWithName = ({ metadata }: AnyObject): void => {
  if ((metadata.name ?? '') === '' || metadata.labels?.[NAME_LABEL] === metadata.name) return;
  metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
};

const validateNamespace = (namespace: DecodedNamespace): FieldError[] => [
  ...validateObjectMeta(namespace.metadata, false, labelName),
  ...validateSpecFinalizers(namespace),
];

const validateSpecFinalizers = ({ spec }: DecodedNamespace): FieldError[] =>
  (spec?.finalizers ?? []).flatMap((finalizer) => validateFinalizer(finalizer, 'spec.finalizers'));

const validateFinalizer = (finalizer: string, path: string): FieldError[] => [
  ...validateFormat(finalizer, path, qualifiedNameProblems),
  ...(finalizer.includes('/') || ['kubernetes', 'orphan', 'foregroundDeletion'].includes(finalizer)
    ? []
    : [invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]),
];

/** Upstream spells the field with a capital. */
const validatePhase = ({ metadata, status }: DecodedNamespace): FieldError[] => {
  const phase = status?.phase ?? '';
  if (metadata.deletionTimestamp === undefined) {
    return phase === 'Active' ? [] : [invalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === 'Terminating' ? [] : [invalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
};
