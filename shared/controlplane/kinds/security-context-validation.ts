import { duplicate, forbidden, invalid, required, tooLong, notSupported, type FieldError } from '../apimachinery/field-error.ts';
import { validateOptionalChoice } from './choice-validation.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';
import { goValue } from './go-value.ts';
import { validateDescendingPath } from './path-validation.ts';
import { validateWindowsOptions } from './windows-options-validation.ts';

type PodSecurityContext = NonNullable<DecodedPodSpec['securityContext']>;
type SecurityContext = NonNullable<DecodedContainer['securityContext']>;

const ID_MAX = 2 ** 31 - 1;
const SYSCTL = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const SYSCTL_MAX_BYTES = 253;
const APPARMOR_PROFILE_MAX_BYTES = 4095;
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** validatePodSpecSecurityContext. */
export const validatePodSecurityContext = (spec: DecodedPodSpec, path: string): FieldError[] => {
  const context: PodSecurityContext = spec.securityContext ?? {};
  return [
    ...validateId(context.fsGroup, `${path}.fsGroup`),
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
    ...(context.supplementalGroups ?? []).flatMap((group, i) => validateId(group, `${path}.supplementalGroups[${i}]`)),
    ...(spec.shareProcessNamespace === true && spec.hostPID === true
      ? [invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : []),
    ...validateSysctls(spec, context.sysctls ?? [], `${path}.sysctls`),
    ...validateOptionalChoice(context.fsGroupChangePolicy, `${path}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    ...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
    ...validateOptionalChoice(context.supplementalGroupsPolicy, `${path}.supplementalGroupsPolicy`, ['Merge', 'Strict']),
    ...validateOptionalChoice(context.seLinuxChangePolicy, `${path}.seLinuxChangePolicy`, ['MountOption', 'Recursive']),
  ];
};

/** ValidateSecurityContext of one container. */
export const validateSecurityContext = (context: SecurityContext | undefined, path: string, hostUsers: boolean): FieldError[] => {
  if (context === undefined) return [];
  const { privileged, allowPrivilegeEscalation, procMount, capabilities } = context;
  const errors = [...validateId(context.runAsUser, `${path}.runAsUser`), ...validateId(context.runAsGroup, `${path}.runAsGroup`)];
  if (procMount !== undefined) {
    errors.push(...validateOptionalChoice(procMount, `${path}.procMount`, ['Default', 'Unmasked']));
    if (hostUsers && procMount === 'Unmasked') {
      errors.push(invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'));
    }
  }
  errors.push(...validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`));
  if (allowPrivilegeEscalation === false) {
    const contradicts = (what: string): FieldError =>
      invalid(path, goValue(context), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
    if (privileged === true) errors.push(contradicts('`privileged` to true'));
    for (const capability of capabilities?.add ?? []) {
      if (capability === 'CAP_SYS_ADMIN') errors.push(contradicts('`capabilities.Add` CAP_SYS_ADMIN'));
    }
  }
  return [
    ...errors,
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
  ];
};

const validateId = (id: number | undefined, path: string): FieldError[] =>
  id !== undefined && (id < 0 || id > ID_MAX) ? [invalid(path, id, `must be between 0 and ${ID_MAX}, inclusive`)] : [];

const validateSysctls = (spec: DecodedPodSpec, sysctls: NonNullable<PodSecurityContext['sysctls']>, path: string): FieldError[] => {
  const seen = new Set<string>();
  return sysctls.flatMap(({ name = '' }, i) => {
    const at = `${path}[${i}].name`;
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (Buffer.byteLength(name) > SYSCTL_MAX_BYTES || !new RegExp(SYSCTL).test(name)) {
      errors.push(invalid(at, name, `must have at most ${SYSCTL_MAX_BYTES} characters and match regex ${SYSCTL}`));
    } else if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    const namespace = sysctlNamespace(name.replaceAll('/', '.'));
    if (spec.hostNetwork === true && namespace === 'net') errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
    else if (spec.hostIPC === true && namespace === 'ipc') errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"));
    return errors;
  });
};

/** Which namespace of the kernel isolates it. */
const sysctlNamespace = (name: string): 'net' | 'ipc' | undefined => {
  if (name.startsWith('net.')) return 'net';
  return name === 'kernel.sem' || /^(kernel\.(shm|msg)|fs\.mqueue\.)/.test(name) ? 'ipc' : undefined;
};

const validateSeccompProfile = (profile: SecurityContext['seccompProfile'], path: string): FieldError[] => {
  if (profile === undefined) return [];
  const { type = '', localhostProfile } = profile;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'));
  else if (!PROFILE_TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, PROFILE_TYPES));
  if (type === 'Localhost') {
    if (localhostProfile === undefined) {
      errors.push(required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost'));
    } else errors.push(...validateDescendingPath(localhostProfile, `${path}.localhostProfile`));
  } else if (localhostProfile !== undefined) {
    const given = { Type: type, LocalhostProfile: localhostProfile };
    errors.push(invalid(`${path}.localhostProfile`, given, 'can only be set when seccomp type is Localhost'));
  }
  return errors;
};

const validateAppArmorProfile = (profile: SecurityContext['appArmorProfile'], path: string): FieldError[] => {
  if (profile === undefined) return [];
  const { type = '', localhostProfile } = profile;
  const missing = required(`${path}.localhostProfile`, 'must be set when AppArmor type is Localhost');
  switch (type) {
    case 'Localhost': {
      if (localhostProfile === undefined) return [missing];
      const trimmed = localhostProfile.trim();
      return [
        ...(trimmed !== localhostProfile
          ? [invalid(`${path}.localhostProfile`, localhostProfile, 'must not be padded with whitespace')]
          : []),
        ...(localhostProfile === '' ? [missing] : []),
        ...(Buffer.byteLength(localhostProfile) > APPARMOR_PROFILE_MAX_BYTES
          ? [tooLong(`${path}.localhostProfile`, APPARMOR_PROFILE_MAX_BYTES)]
          : []),
      ];
    }
    case 'RuntimeDefault':
    case 'Unconfined':
      return localhostProfile === undefined
        ? []
        : [invalid(`${path}.localhostProfile`, localhostProfile, 'can only be set when AppArmor type is Localhost')];
    case '':
      return [required(`${path}.type`, 'type is required when appArmorProfile is set')];
    default:
      return [notSupported(`${path}.type`, type, PROFILE_TYPES)];
  }
};

/** validateHostUsers: who has users of its own cannot share other namespaces with the host. */
export const validateHostUsers = (
  spec: DecodedPodSpec,
  path: string,
  containers: readonly { container: DecodedContainer; path: string }[],
): FieldError[] => {
  if (spec.hostUsers !== false) return [];
  const refuse = (field: string): FieldError => forbidden(field, 'when `hostUsers` is false');
  return [
    ...(spec.hostNetwork === true ? [refuse(`${path}.hostNetwork`)] : []),
    // Upstream's capitals.
    ...(spec.hostPID === true ? [refuse(`${path}.HostPID`)] : []),
    ...(spec.hostIPC === true ? [refuse(`${path}.HostIPC`)] : []),
    ...containers
      .filter(({ container }) => (container.volumeDevices ?? []).length > 0)
      .map((placed) => refuse(`${placed.path}.volumeDevices`)),
  ];
};
