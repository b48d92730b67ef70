import { forbidden, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import type { PlacedContainer } from './containers.ts';
import type { DecodedPodSpec } from './decoded.ts';

/** Settings of Linux, in upstream's order: of the pod's security context (or of its spec, where the name says so), and of a container's. */
const LINUX_POD_FIELDS = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
] as const;
const LINUX_CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** validateOS, and what a pod of that system may not ask for. */
export const validateOs = (spec: DecodedPodSpec, path: string, containers: readonly PlacedContainer[]): FieldError[] => {
  if (spec.os === undefined) return [];
  const { name = '' } = spec.os;
  switch (name) {
    case '':
      return [required(`${path}.os.name`)];
    case 'linux':
      return validateLinux(spec, path, containers);
    case 'windows':
      return validateWindows(spec, path, containers);
    default:
      return [notSupported(`${path}.os`, name, ['linux', 'windows'])];
  }
};

const validateLinux = (spec: DecodedPodSpec, path: string, containers: readonly PlacedContainer[]): FieldError[] =>
  [
    ...(spec.securityContext?.windowsOptions === undefined ? [] : [path]),
    ...containers.filter(({ container }) => container.securityContext?.windowsOptions !== undefined).map((placed) => placed.path),
  ].map((owner) => forbidden(`${owner}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'));

const validateWindows = (spec: DecodedPodSpec, path: string, containers: readonly PlacedContainer[]): FieldError[] => {
  const ofSpec = new Map<string, unknown>(Object.entries(spec));
  const ofContext = new Map<string, unknown>(Object.entries(spec.securityContext ?? {}));
  const isSet = (field: string): boolean => {
    const inContext = field.startsWith('securityContext.');
    const value = inContext ? ofContext.get(field.slice('securityContext.'.length)) : ofSpec.get(field);
    // A plain boolean that is false, and an empty list, are not there upstream.
    if (field === 'hostPID' || field === 'hostIPC') return value === true;
    return Array.isArray(value) ? value.length > 0 : value !== undefined;
  };
  const refuse = (field: string): FieldError => forbidden(field, 'cannot be set for a windows pod');
  return [
    ...LINUX_POD_FIELDS.filter(isSet).map((field) => refuse(`${path}.${field}`)),
    ...containers.flatMap(({ container, path: at }) =>
      LINUX_CONTAINER_FIELDS.filter((field) => container.securityContext?.[field] !== undefined).map((field) =>
        refuse(`${at}.securityContext.${field}`),
      ),
    ),
  ];
};
