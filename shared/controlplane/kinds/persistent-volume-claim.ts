import type { V1PersistentVolumeClaimSpec, V1PersistentVolumeClaimStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';
import { forbidden, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { accessModesText } from './access-modes.ts';
import { ageOf } from './age.ts';
import { validateClaimSpec } from './claim-template-validation.ts';
import { validateResourceQuantity } from './container-resources-validation.ts';
import type { Decoded } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { validateImmutable } from './immutable-field.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedSpec = Decoded<Wire<V1PersistentVolumeClaimSpec>>;
type DecodedClaim = AnyObject & {
  spec?: DecodedSpec | undefined;
  status?: Decoded<Wire<V1PersistentVolumeClaimStatus>> | undefined;
};
/** The registry hands this strategy decoded PersistentVolumeClaims only. */
const asClaim = (object: AnyObject): DecodedClaim => object as DecodedClaim;

/** core/v1 PersistentVolumeClaim: kept and checked; nothing binds it, and no class is chosen for one that names none. */
export const persistentVolumeClaimStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const { spec = {}, status = {} } = asClaim(object);
    Object.assign(object, { spec, status });
    spec.volumeMode ??= 'Filesystem';
    status.phase ||= 'Pending';
  },
  prepareForCreate: (object) => {
    object['status'] = { phase: 'Pending' };
  },
  validateCreate: (object) => validateClaim(asClaim(object)),
  prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateClaim(asClaim(next)),
    ...validateChange(asClaim(next), asClaim(previous)),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...Object.entries(asClaim(next).status?.capacity ?? {}).flatMap(([name, amount]) =>
        validateResourceQuantity(name, amount, `status.capacity[${name}]`),
      ),
    ],
  },
  returnsDeletedObject: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'phase represents the current phase of PersistentVolumeClaim.'),
      column('Volume', 'volumeName is the binding reference to the PersistentVolume backing this claim.'),
      column('Capacity', 'capacity represents the actual resources of the underlying volume.'),
      column('Access Modes', 'accessModes contains the actual access modes the volume backing the PVC has.'),
      column('StorageClass', 'storageClassName is the name of the StorageClass required by the claim.'),
      column('VolumeAttributesClass', 'volumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim.'),
      AGE_COLUMN,
      column('VolumeMode', 'volumeMode defines what type of volume is required by the claim.', { wide: true }),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asClaim(object);
      const isBound = (spec.volumeName ?? '') !== '';
      return [
        metadata.name,
        metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
        spec.volumeName ?? '',
        isBound ? (status.capacity?.['storage'] ?? '0') : '',
        isBound ? accessModesText(status.accessModes ?? []) : '',
        spec.storageClassName ?? '',
        spec.volumeAttributesClassName ?? '<unset>',
        ageOf(metadata.creationTimestamp, now),
        spec.volumeMode ?? '<unset>',
      ];
    },
  },
};

const validateClaim = ({ metadata, spec = {} }: DecodedClaim): FieldError[] => [
  ...validateObjectMeta(metadata, true, subdomainName),
  ...validateClaimSpec(spec, 'spec'),
];

/** A claim gets a volume once, and a class while it has none. One that is bound may ask for more, and for less until it got that. */
function validateChange({ spec: next = {} }: DecodedClaim, { spec: previous = {}, status = {} }: DecodedClaim): FieldError[] {
  const allowed: DecodedSpec = { ...previous };
  if ((previous.volumeName ?? '') === '') allowed.volumeName = next.volumeName;
  if (previous.storageClassName === undefined) allowed.storageClassName = next.storageClassName;
  if (status.phase === 'Bound') Object.assign(allowed, { resources: withStorage(previous, next) });
  allowed.volumeAttributesClassName = next.volumeAttributesClassName;
  const [size, before, has] = [storageOf(next), storageOf(previous), status.capacity?.['storage']];
  const shrinks = size !== undefined && before !== undefined && compareQuantities(parseQuantity(size), parseQuantity(before)) < 0;
  const isLessThanThere = shrinks && has !== undefined && compareQuantities(parseQuantity(size), parseQuantity(has)) <= 0;
  return [
    ...(semanticEqual(next, allowed)
      ? []
      : [forbidden('spec', 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims')]),
    ...(isLessThanThere ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')] : []),
    ...validateImmutable(next.volumeMode, previous.volumeMode, 'volumeMode'),
  ];
}

const storageOf = ({ resources }: DecodedSpec): string | undefined => resources?.requests?.['storage'];

function withStorage(previous: DecodedSpec, next: DecodedSpec): DecodedSpec['resources'] {
  const storage = storageOf(next);
  return storage === undefined ? previous.resources : { ...previous.resources, requests: { ...previous.resources?.requests, storage } };
}
