import { parseQuantity } from '../../kube/quantity.ts';
import { duplicate, fieldNotFound, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat, validateOptionalChoice } from './choice-validation.ts';
import type { DecodedContainer, DecodedVolume } from './decoded.ts';
import { dns1123LabelProblems } from '../apimachinery/name-formats.ts';

type Item = { key?: string | undefined; path?: string | undefined; mode?: number | undefined };

const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const FILE_MODE_RULE = 'must be a number between 0 and 0777 (octal), both inclusive';
const FILE_MODE_MAX = 0o777;

export const validateVolumes = (volumes: readonly DecodedVolume[], path: string): FieldError[] => {
  const names = new Set<string>();
  return volumes.flatMap((volume, i) => {
    const at = `${path}[${i}]`;
    const { name = '' } = volume;
    const errors = validateSource(volume, at);
    if (name === '') errors.push(required(`${at}.name`));
    else errors.push(...validateFormat(name, `${at}.name`, dns1123LabelProblems));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    return errors;
  });
};

const validateSource = (volume: DecodedVolume, path: string): FieldError[] => {
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  const errors = sources.slice(1).map((source) => forbidden(`${path}.${source}`, 'may not specify more than 1 volume type'));
  if (sources.length === 0) errors.push(required(path, 'must specify a volume type'));
  return [...validateKnownSource(volume, path), ...errors];
};

const validateKnownSource = (volume: DecodedVolume, path: string): FieldError[] => {
  const { emptyDir, hostPath, secret, configMap, persistentVolumeClaim } = volume;
  if (emptyDir?.sizeLimit !== undefined && parseQuantity(emptyDir.sizeLimit).nanos < 0n) {
    return [forbidden(`${path}.emptyDir.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
  }
  if (hostPath) {
    return [
      ...((hostPath.path ?? '') === '' ? [required(`${path}.hostPath.path`)] : []),
      ...validateOptionalChoice(hostPath.type, `${path}.hostPath.type`, HOST_PATH_TYPES),
    ];
  }
  if (secret) {
    return [
      ...((secret.secretName ?? '') === '' ? [required(`${path}.secret.secretName`)] : []),
      ...validateFiles(secret, `${path}.secret`),
    ];
  }
  if (configMap) {
    return [
      ...((configMap.name ?? '') === '' ? [required(`${path}.configMap.name`)] : []),
      ...validateFiles(configMap, `${path}.configMap`),
    ];
  }
  if (persistentVolumeClaim && (persistentVolumeClaim.claimName ?? '') === '') return [required(`${path}.persistentVolumeClaim.claimName`)];
  return [];
};

const validateFiles = (source: { defaultMode?: number | undefined; items?: Item[] | undefined }, path: string): FieldError[] => [
  ...validateMode(source.defaultMode, `${path}.defaultMode`),
  ...(source.items ?? []).flatMap((item, i) => {
    const at = `${path}.items[${i}]`;
    return [
      ...((item.key ?? '') === '' ? [required(`${at}.key`)] : []),
      ...((item.path ?? '') === '' ? [required(`${at}.path`)] : validateDescendingPath(item.path ?? '', `${at}.path`)),
      ...validateMode(item.mode, `${at}.mode`),
    ];
  }),
];

const validateMode = (mode: number | undefined, path: string): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > FILE_MODE_MAX) ? [invalid(path, mode, FILE_MODE_RULE)] : [];

/** A path that stays below where it starts. */
const validateDescendingPath = (target: string, path: string): FieldError[] => [
  ...(target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : []),
  ...(target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : []),
];

export const validateVolumeMounts = (container: DecodedContainer, path: string, volumes: readonly DecodedVolume[]): FieldError[] => {
  const devices = container.volumeDevices ?? [];
  const paths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, i) => {
    const at = `${path}[${i}]`;
    const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount;
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.some((volume) => (volume.name ?? '') === name)) errors.push(fieldNotFound(`${at}.name`, name));
    if (mountPath === '') errors.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (devices.some((device) => device.name === name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    // Upstream names the list, not the mount, in the paths of what follows.
    if (subPath !== '') errors.push(...validateDescendingPath(subPath, `${path}.subPath`));
    if (subPathExpr !== '' && subPath !== '') {
      errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    }
    if (subPathExpr !== '') errors.push(...validateDescendingPath(subPathExpr, `${path}.subPathExpr`));
    return errors;
  });
};
