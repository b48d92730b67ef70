import type { V1PersistentVolumeSpec, V1PersistentVolumeStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { parseQuantity } from '../../kube/quantity.ts';
import { forbidden, invalid, notSupported, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { accessModesText, validateAccessModes } from './access-modes.ts';
import { ageOf } from './age.ts';
import { validateFormat, validateOptionalChoice } from './choice-validation.ts';
import { validateResourceQuantity } from './container-resources-validation.ts';
import type { Decoded, DecodedVolume } from './decoded.ts';
import { restore } from './generation.ts';
import { validateImmutable } from './immutable-field.ts';
import { validateNoBacksteps } from './path-validation.ts';
import { validateNodeSelectorTerms } from './pod-scheduling-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';
import { uncheckedStatus } from './unchecked-status.ts';
import { VOLUME_SOURCES } from './volume-source-validation.ts';

export type DecodedVolumeSpec = Decoded<Wire<V1PersistentVolumeSpec>>;
type DecodedPersistentVolume = AnyObject & {
  spec?: DecodedVolumeSpec | undefined;
  status?: Decoded<Wire<V1PersistentVolumeStatus>> | undefined;
};
/** The registry hands this strategy decoded PersistentVolumes only. */
const asVolume = (object: AnyObject): DecodedPersistentVolume => object as DecodedPersistentVolume;

/** core/v1 PersistentVolume: kept and checked; nothing binds, recycles or deletes what it stands for. */
export const persistentVolumeStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const { spec = {}, status = {} } = asVolume(object);
    Object.assign(object, { spec, status });
    spec.persistentVolumeReclaimPolicy ||= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
    status.phase ||= 'Pending';
  },
  prepareForCreate: (object) => {
    object['status'] = { phase: 'Pending', lastPhaseTransitionTime: object.metadata.creationTimestamp };
  },
  validateCreate: (object) => validateVolume(asVolume(object)),
  prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
  validateUpdate: (object, stored) => {
    const [{ metadata, spec: next = {} }, { metadata: metadataBefore, spec: previous = {} }] = [asVolume(object), asVolume(stored)];
    return [
      ...validateObjectMetaUpdate(metadata, metadataBefore),
      ...validateVolume(asVolume(object)),
      ...(semanticEqual(sourcesOf(next), sourcesOf(previous))
        ? []
        : [forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')]),
      ...validateImmutable(next.volumeMode, previous.volumeMode, 'volumeMode'),
      ...(previous.nodeAffinity === undefined ? [] : validateImmutable(next.nodeAffinity, previous.nodeAffinity, 'nodeAffinity')),
    ];
  },
  status: uncheckedStatus,
  table: {
    columns: [
      NAME_COLUMN,
      column('Capacity', "capacity is the description of the persistent volume's resources and capacity."),
      column('Access Modes', 'accessModes contains all ways the volume can be mounted.'),
      column('Reclaim Policy', 'persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim.'),
      column('Status', 'phase indicates if a volume is available, bound to a claim, or released by a claim.'),
      column('Claim', 'claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim.'),
      column('StorageClass', 'storageClassName is the name of StorageClass to which this persistent volume belongs.'),
      column('VolumeAttributesClass', 'Name of VolumeAttributesClass to which this persistent volume belongs.'),
      column(
        'Reason',
        'reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.',
      ),
      AGE_COLUMN,
      column(
        'VolumeMode',
        'volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state.',
        {
          wide: true,
        },
      ),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asVolume(object);
      return [
        metadata.name,
        spec.capacity?.['storage'] ?? '0',
        accessModesText(spec.accessModes ?? []),
        spec.persistentVolumeReclaimPolicy ?? '',
        metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
        spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
        spec.storageClassName ?? '',
        spec.volumeAttributesClassName ?? '<unset>',
        status.reason ?? '',
        ageOf(metadata.creationTimestamp, now),
        spec.volumeMode ?? '<unset>',
      ];
    },
  },
};

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const CSI_DRIVER_MAX = 63;

function validateVolume({ metadata, spec = {} }: DecodedPersistentVolume): FieldError[] {
  const { capacity = {}, persistentVolumeReclaimPolicy: policy = '', hostPath } = spec;
  return [
    ...validateObjectMeta(metadata, false, subdomainName),
    ...validateAccessModes(spec.accessModes ?? [], 'spec'),
    ...validateCapacity(capacity),
    ...validateOptionalChoice(policy, 'spec.persistentVolumeReclaimPolicy', RECLAIM_POLICIES),
    ...validateVolumeSpec(spec, 'spec'),
    ...(policy === 'Recycle' && /^\/+$/.test(hostPath?.path ?? '')
      ? [forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
  ];
}

/** ValidatePersistentVolumeSpec of what stands inline in a VolumeAttachment: of a CSI volume, and of nothing that is bound. */
export function validateInlineVolumeSpec(spec: DecodedVolumeSpec, path: string): FieldError[] {
  const alien = (['claimRef', 'capacity', 'nodeAffinity'] as const).filter((field) => spec[field] !== undefined);
  return [
    ...alien.map((field) => forbidden(`${path}.${field}`, 'may not be specified in the context of inline volumes')),
    ...(spec.csi === undefined ? [required(`${path}.csi`, 'has to be specified in the context of inline volumes')] : []),
    ...validateAccessModes(spec.accessModes ?? [], path),
    ...((spec.persistentVolumeReclaimPolicy ?? 'Retain') === 'Retain'
      ? []
      : [forbidden(`${path}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes')]),
    ...validateVolumeSpec(spec, path),
  ];
}

function validateVolumeSpec(spec: DecodedVolumeSpec, path: string): FieldError[] {
  const { storageClassName = '' } = spec;
  const constraints = spec.nodeAffinity?.required;
  const terms = constraints?.nodeSelectorTerms ?? [];
  return [
    ...(spec.nodeAffinity === undefined
      ? []
      : constraints === undefined
        ? [required(`${path}.nodeAffinity.required`, 'must specify required node constraints')]
        : validateNodeSelectorTerms(terms, `${path}.nodeAffinity.required.nodeSelectorTerms`)),
    ...validateSource(spec, path),
    ...(spec.local !== undefined && terms.length === 0 ? [required('metadata.annotations', 'Local volume requires node affinity')] : []),
    ...(storageClassName === '' ? [] : validateFormat(storageClassName, `${path}.storageClassName`, dns1123SubdomainProblems)),
    ...validateOptionalChoice(spec.volumeMode, `${path}.volumeMode`, ['Block', 'Filesystem']),
  ];
}

function validateCapacity(capacity: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(capacity);
  if (entries.length === 0) return [required('spec.capacity')];
  return [
    ...(entries.length > 1 || capacity['storage'] === undefined ? [notSupported('spec.capacity', capacity, ['storage'])] : []),
    ...entries.flatMap(([name, amount]) => [
      ...validateResourceQuantity(name, amount, `spec.capacity[${name}]`),
      ...(parseQuantity(amount).nanos <= 0n ? [invalid(`spec.capacity[${name}]`, amount, 'must be greater than zero')] : []),
    ]),
  ];
}

type SourceName = (typeof VOLUME_SOURCES)[number]['field'] | 'local';
const isOfPods = (field: string): boolean => VOLUME_SOURCES.some((source) => source.field === field);
const sourcesOf = (spec: DecodedVolumeSpec): Record<string, object> =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => field === 'local' || isOfPods(field))) as Record<string, object>;

/** Exactly one source. But for CSI and local ones they are those of pods, to the fields that are checked. */
function validateSource(spec: DecodedVolumeSpec, path: string): FieldError[] {
  const [first, ...others] = Object.entries(sourcesOf(spec)) as [SourceName, object][];
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const [field, source] = first;
  return [
    ...(field === 'csi' || field === 'local' ? [] : validateSourceOfPods(field, source, path)),
    ...(spec.csi === undefined ? [] : validateCsi(spec.csi, `${path}.csi`)),
    ...(spec.local === undefined ? [] : validateLocal(spec.local.path ?? '', `${path}.local.path`)),
    ...others.map(([name]) => forbidden(`${path}.${name}`, 'may not specify more than 1 volume type')),
  ];
}

function validateSourceOfPods(field: SourceName, source: object, path: string): FieldError[] {
  const known = VOLUME_SOURCES.find((each) => each.field === field);
  const volume: DecodedVolume = { [field]: source };
  return known?.validate(volume, `${path}.${known.path ?? field}`, { podName: '' }) ?? [];
}

const validateLocal = (local: string, path: string): FieldError[] => (local === '' ? [required(path)] : validateNoBacksteps(local, path));

function validateCsi({ driver = '', volumeHandle = '' }: NonNullable<DecodedVolumeSpec['csi']>, path: string): FieldError[] {
  return [...validateDriverName(driver, `${path}.driver`), ...(volumeHandle === '' ? [required(`${path}.volumeHandle`)] : [])];
}

/** ValidateCSIDriverName. */
export function validateDriverName(driver: string, path: string): FieldError[] {
  if (driver === '') return [required(path)];
  return [
    ...(driver.length > CSI_DRIVER_MAX ? [tooLong(path, CSI_DRIVER_MAX)] : []),
    ...validateFormat(driver.toLowerCase(), path, dns1123SubdomainProblems),
  ];
}
