import { fieldNotFound, forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateOptionalChoice } from './choice-validation.ts';
import type { DecodedContainer } from './decoded.ts';
import { validateDescendingPath } from './path-validation.ts';
import type { ValidVolumes } from './volume-validation.ts';

type Mount = NonNullable<DecodedContainer['volumeMounts']>[number];

/** ValidateVolumeMounts. */
export const validateVolumeMounts = (container: DecodedContainer, path: string, volumes: ValidVolumes): FieldError[] => {
  const devices = new Map((container.volumeDevices ?? []).map(({ name = '', devicePath = '' }) => [name, devicePath]));
  const devicePaths = [...devices.values()];
  const paths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, i) => {
    const at = `${path}[${i}]`;
    const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount;
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(fieldNotFound(`${at}.name`, name));
    if (mountPath === '') errors.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (devices.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devicePaths.includes(mountPath)) {
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    // Upstream names the list, not the mount, in the paths of what follows.
    if (subPath !== '') errors.push(...validateDescendingPath(subPath, `${path}.subPath`));
    if (subPathExpr !== '' && subPath !== '') {
      errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    }
    if (subPathExpr !== '') errors.push(...validateDescendingPath(subPathExpr, `${path}.subPathExpr`));
    return [
      ...errors,
      ...validatePropagation(mount, container.securityContext?.privileged === true, `${path}.mountPropagation`),
      ...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`),
    ];
  });
};

const validatePropagation = ({ mountPropagation }: Mount, isPrivileged: boolean, path: string): FieldError[] => [
  ...validateOptionalChoice(mountPropagation, path, ['Bidirectional', 'HostToContainer', 'None']),
  ...(mountPropagation === 'Bidirectional' && !isPrivileged
    ? [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')]
    : []),
];

const validateRecursiveReadOnly = ({ recursiveReadOnly, readOnly, mountPropagation }: Mount, path: string): FieldError[] => {
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    return [notSupported(path, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible'])];
  }
  return [
    ...(readOnly === true ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === undefined || mountPropagation === 'None'
      ? []
      : [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]),
  ];
};

/** ValidateVolumeDevices: claims only, each once. */
export const validateVolumeDevices = (container: DecodedContainer, path: string, volumes: ValidVolumes): FieldError[] => {
  const mounts = new Map((container.volumeMounts ?? []).map(({ name = '', mountPath = '' }) => [name, mountPath]));
  const mountPaths = [...mounts.values()];
  const names = new Set<string>();
  const paths = new Set<string>();
  return (container.volumeDevices ?? []).flatMap(({ name = '', devicePath = '' }, i) => {
    const at = `${path}[${i}]`;
    const volume = volumes.get(name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    if (volume !== undefined && volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      errors.push(invalid(`${at}.name`, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'));
    }
    if (volume === undefined) errors.push(fieldNotFound(`${at}.name`, name));
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'));
    if (devicePath.split('/').includes('..')) errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mounts.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mountPaths.includes(devicePath)) {
      errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
    return errors;
  });
};
