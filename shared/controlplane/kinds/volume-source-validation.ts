import { parseQuantity } from '../../kube/quantity.ts';
import { forbidden, invalid, notSupported, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { validateChoice, validateFormat, validateOptionalChoice } from './choice-validation.ts';
import { validateClaimTemplate } from './claim-template-validation.ts';
import type { DecodedVolume } from './decoded.ts';
import { validateDownwardFile, validateKeyToPath, validateMode } from './file-projection-validation.ts';
import { validateRange } from './number-validation.ts';
import { validateDescendingPath, validateNoBacksteps } from './path-validation.ts';
import { validateProjected } from './projected-volume-validation.ts';

/** `podName` is '' for templates, whose pods have no names yet. */
export type VolumeOptions = { readonly podName: string };

type VolumeField = Exclude<keyof DecodedVolume, 'name'>;
type VolumeSource = {
  readonly field: VolumeField;
  /** Where upstream's messages look for it, if that is not where it is. */
  readonly path?: string;
  /** The same of the message about one source too many. */
  readonly forbiddenPath?: string;
  readonly validate: (volume: DecodedVolume, path: string, options: VolumeOptions) => FieldError[];
};

const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const CSI_DRIVER_MAX_BYTES = 63;

const missing = (source: object | undefined, fields: readonly string[], path: string): FieldError[] => {
  const given = new Map<string, unknown>(Object.entries(source ?? {}));
  return fields.filter((field) => (given.get(field) ?? '') === '').map((field) => required(`${path}.${field}`));
};
const needs =
  (field: VolumeField, ...fields: string[]) =>
  (volume: DecodedVolume, path: string): FieldError[] =>
    missing(volume[field] as object | undefined, fields, path);
const emptyList = (list: readonly unknown[] | undefined, path: string): FieldError[] => ((list ?? []).length === 0 ? [required(path)] : []);

/** Every kind of volume, in the order in which validateVolumeSource looks for them. */
export const VOLUME_SOURCES: readonly VolumeSource[] = [
  {
    field: 'emptyDir',
    validate: ({ emptyDir }, path) =>
      emptyDir?.sizeLimit !== undefined && parseQuantity(emptyDir.sizeLimit).nanos < 0n
        ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
        : [],
  },
  {
    field: 'hostPath',
    validate: ({ hostPath }, path) =>
      (hostPath?.path ?? '') === ''
        ? [required(`${path}.path`)]
        : [
            ...validateNoBacksteps(hostPath?.path ?? '', `${path}.path`),
            ...validateOptionalChoice(hostPath?.type, `${path}.type`, HOST_PATH_TYPES),
          ],
  },
  {
    field: 'gitRepo',
    validate: ({ gitRepo }, path) => [
      ...missing(gitRepo, ['repository'], path),
      ...validateDescendingPath(gitRepo?.directory ?? '', `${path}.directory`),
    ],
  },
  {
    field: 'gcePersistentDisk',
    path: 'persistentDisk',
    validate: ({ gcePersistentDisk: disk }, path) => [...missing(disk, ['pdName'], path), ...validatePartition(disk?.partition ?? 0, path)],
  },
  {
    field: 'awsElasticBlockStore',
    validate: ({ awsElasticBlockStore: disk }, path) => [
      ...missing(disk, ['volumeID'], path),
      ...validatePartition(disk?.partition ?? 0, path),
    ],
  },
  {
    field: 'secret',
    validate: ({ secret }, path) => [...missing(secret, ['secretName'], path), ...validateFiles(secret, path)],
  },
  {
    field: 'nfs',
    validate: ({ nfs }, path) => [
      ...missing(nfs, ['server', 'path'], path),
      ...((nfs?.path ?? '').startsWith('/') ? [] : [invalid(`${path}.path`, nfs?.path ?? '', 'must be an absolute path')]),
    ],
  },
  { field: 'iscsi', validate: ({ iscsi }, path) => validateIscsi(iscsi ?? {}, path) },
  { field: 'glusterfs', validate: needs('glusterfs', 'endpoints', 'path') },
  { field: 'flocker', validate: ({ flocker }, path) => validateFlocker(flocker ?? {}, path) },
  { field: 'persistentVolumeClaim', validate: needs('persistentVolumeClaim', 'claimName') },
  {
    field: 'rbd',
    validate: ({ rbd }, path) => [...emptyList(rbd?.monitors, `${path}.monitors`), ...missing(rbd, ['image'], path)],
  },
  {
    field: 'cinder',
    validate: ({ cinder }, path) => [
      ...missing(cinder, ['volumeID'], path),
      ...(cinder?.secretRef && (cinder.secretRef.name ?? '') === '' ? [required(`${path}.secretRef.name`)] : []),
    ],
  },
  { field: 'cephfs', forbiddenPath: 'cephFS', validate: ({ cephfs }, path) => emptyList(cephfs?.monitors, `${path}.monitors`) },
  { field: 'quobyte', validate: ({ quobyte }, path) => validateQuobyte(quobyte ?? {}, path) },
  {
    field: 'downwardAPI',
    // Upstream's spelling.
    forbiddenPath: 'downwarAPI',
    validate: ({ downwardAPI }, path) => [
      ...validateMode(downwardAPI?.defaultMode, `${path}.defaultMode`),
      // Files are reported as if they were the volume.
      ...(downwardAPI?.items ?? []).flatMap((file) => validateDownwardFile(file, path)),
    ],
  },
  { field: 'fc', validate: ({ fc }, path) => validateFibreChannel(fc ?? {}, path) },
  {
    field: 'flexVolume',
    validate: ({ flexVolume }, path) => [
      ...missing(flexVolume, ['driver'], path),
      ...Object.keys(flexVolume?.options ?? {})
        .filter((key) => /\.(kubernetes|k8s)\.io$/.test(`.${(key.split('/', 1)[0] ?? key).toLowerCase()}`))
        .map((key) => invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')),
    ],
  },
  {
    field: 'configMap',
    validate: ({ configMap }, path) => [...missing(configMap, ['name'], path), ...validateFiles(configMap, path)],
  },
  { field: 'azureFile', validate: needs('azureFile', 'secretName', 'shareName') },
  { field: 'vsphereVolume', validate: needs('vsphereVolume', 'volumePath') },
  { field: 'photonPersistentDisk', validate: needs('photonPersistentDisk', 'pdID') },
  { field: 'portworxVolume', validate: needs('portworxVolume', 'volumeID') },
  { field: 'azureDisk', validate: ({ azureDisk }, path) => validateAzureDisk(azureDisk ?? {}, path) },
  { field: 'storageos', validate: needs('storageos', 'volumeName') },
  { field: 'projected', validate: ({ projected }, path) => validateProjected(projected ?? {}, path) },
  { field: 'scaleIO', validate: needs('scaleIO', 'gateway', 'system', 'volumeName') },
  { field: 'csi', validate: ({ csi }, path) => validateCsi(csi ?? {}, path) },
  {
    field: 'ephemeral',
    validate: ({ ephemeral }, path) =>
      ephemeral?.volumeClaimTemplate === undefined
        ? [required(`${path}.volumeClaimTemplate`)]
        : validateClaimTemplate(ephemeral.volumeClaimTemplate, `${path}.volumeClaimTemplate`),
  },
  {
    field: 'image',
    validate: ({ image }, path) => [
      ...missing(image, ['reference'], path),
      ...validateChoice(image?.pullPolicy ?? '', `${path}.pullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ],
  },
];

type FileSource = {
  readonly defaultMode?: number | undefined;
  readonly items?: { key?: string | undefined; path?: string | undefined; mode?: number | undefined }[] | undefined;
};

const validateFiles = (source: FileSource | undefined, path: string): FieldError[] => [
  ...validateMode(source?.defaultMode, `${path}.defaultMode`),
  ...(source?.items ?? []).flatMap((item, i) => validateKeyToPath(item, `${path}.items[${i}]`)),
];

const validatePartition = (partition: number, path: string): FieldError[] =>
  partition < 0 || partition > 255 ? [invalid(`${path}.partition`, partition, 'must be between 1 and 255, inclusive')] : [];

const IQN = /iqn\.\d{4}-\d{2}\.([\p{L}\p{N}.-]+)(:[^,;*&$|\s]+)$/u;
const hasIqnForm = (name: string): boolean => {
  if (name.startsWith('iqn')) return IQN.test(name);
  return name.startsWith('eui') ? /^eui.[A-Za-z0-9]{16}$/.test(name) : /^naa.[A-Za-z0-9]{32}$/.test(name);
};
const validateIqn = (name: string, path: string): FieldError[] => {
  if (!/^(iqn|eui|naa)/.test(name)) return [invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return hasIqnForm(name) ? [] : [invalid(path, name, 'must be valid format')];
};

const validateIscsi = (iscsi: NonNullable<DecodedVolume['iscsi']>, path: string): FieldError[] => [
  ...missing(iscsi, ['targetPortal', 'iqn'], path),
  ...((iscsi.iqn ?? '') === '' ? [] : validateIqn(iscsi.iqn ?? '', `${path}.iqn`)),
  ...validateRange(iscsi.lun ?? 0, 0, 255, `${path}.lun`),
  ...((iscsi.chapAuthDiscovery === true || iscsi.chapAuthSession === true) && iscsi.secretRef === undefined
    ? [required(`${path}.secretRef`)]
    : []),
  ...(iscsi.initiatorName === undefined ? [] : validateIqn(iscsi.initiatorName, `${path}.initiatorname`)),
];

const validateFlocker = ({ datasetName = '', datasetUUID = '' }: NonNullable<DecodedVolume['flocker']>, path: string): FieldError[] => [
  ...(datasetName === '' && datasetUUID === '' ? [required(path, 'one of datasetName and datasetUUID is required')] : []),
  ...(datasetName !== '' && datasetUUID !== ''
    ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
    : []),
  ...(datasetName.includes('/') ? [invalid(`${path}.datasetName`, datasetName, "must not contain '/'")] : []),
];

const validateQuobyte = (quobyte: NonNullable<DecodedVolume['quobyte']>, path: string): FieldError[] => {
  const { registry = '', tenant = '' } = quobyte;
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const errors: FieldError[] = [];
  if (registry === '') errors.push(required(`${path}.registry`, pairs));
  else if (tenant.length >= 65) {
    errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    for (const pair of registry.split(',')) {
      if (!/^([^:[\]]*|\[[^[\]]*\]):[^:]*$/.test(pair)) errors.push(invalid(`${path}.registry`, registry, pairs));
    }
  }
  return [...errors, ...missing(quobyte, ['volume'], path)];
};

const validateFibreChannel = ({ targetWWNs = [], wwids = [], lun }: NonNullable<DecodedVolume['fc']>, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.push(invalid(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  }
  if (targetWWNs.length === 0) return errors;
  if (lun === undefined) return [...errors, required(`${path}.lun`, 'lun is required if targetWWNs is specified')];
  return [...errors, ...validateRange(lun, 0, 255, `${path}.lun`)];
};

const MANAGED_DISK_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const validateAzureDisk = (disk: NonNullable<DecodedVolume['azureDisk']>, path: string): FieldError[] => {
  const { diskURI = '', kind } = disk;
  const errors = [
    ...missing(disk, ['diskName', 'diskURI'], path),
    ...validateOptionalChoice(disk.cachingMode, `${path}.cachingMode`, ['None', 'ReadOnly', 'ReadWrite']),
    ...validateOptionalChoice(kind, `${path}.kind`, ['Dedicated', 'Managed', 'Shared']),
  ];
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/'))
    errors.push(notSupported(`${path}.diskURI`, diskURI, [MANAGED_DISK_URI]));
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(notSupported(`${path}.diskURI`, diskURI, [BLOB_DISK_URI]));
  }
  return errors;
};

const validateCsi = ({ driver = '', nodePublishSecretRef }: NonNullable<DecodedVolume['csi']>, path: string): FieldError[] => {
  const secret = nodePublishSecretRef?.name ?? '';
  return [
    ...(driver === '' ? [required(`${path}.driver`)] : []),
    ...(Buffer.byteLength(driver) > CSI_DRIVER_MAX_BYTES ? [tooLong(`${path}.driver`, CSI_DRIVER_MAX_BYTES)] : []),
    ...dns1123SubdomainProblems(driver.toLowerCase()).map((problem) => invalid(`${path}.driver`, driver, problem)),
    ...(nodePublishSecretRef === undefined
      ? []
      : secret === ''
        ? [required(`${path}.nodePublishSecretRef.name`)]
        : validateFormat(secret, `${path}.name`, dns1123SubdomainProblems)),
  ];
};
