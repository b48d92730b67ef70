import { duplicate, fieldNotFound, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateChoice, validateFormat } from './choice-validation.ts';
import { validateContainerResources } from './container-resources-validation.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';
import { validateEnv, validateEnvFrom } from './env-validation.ts';
import { dns1123LabelProblems, portNameProblems } from '../../kube/name-formats.ts';
import { validateRange } from './number-validation.ts';
import { validateLifecycle, validateProbes } from './probe-validation.ts';
import { validateResizePolicy, validateRestartRules, validateRestartRulesOfInit } from './restart-validation.ts';
import { validateSecurityContext } from './security-context-validation.ts';
import { validateVolumeDevices, validateVolumeMounts } from './volume-mount-validation.ts';
import type { ValidVolumes } from './volume-validation.ts';

/** What the rules of a container need to know of its pod. */
export type ContainerContext = {
  readonly spec: DecodedPodSpec;
  readonly volumes: ValidVolumes;
  readonly claimNames: ReadonlySet<string>;
};

const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';
const NO_RESTART_OF_INIT = "must not be set to 'RestartContainer' for non-sidecar initContainers";
const SIDECARS_ONLY = 'may not be set for init containers without restartPolicy=Always';
/** What an ephemeral container may not have: nothing may come to depend on it. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

export const validateContainers = (containers: readonly DecodedContainer[], path: string, context: ContainerContext): FieldError[] => {
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, container] of containers.entries()) {
    const at = `${path}[${i}]`;
    errors.push(...validateAnyContainer(container, at, context), ...validateUnique(names, container.name ?? '', at));
    errors.push(...validateLifecycle(container.lifecycle, `${at}.lifecycle`, context.spec), ...validateProbes(container, at));
    errors.push(...validateRestartRules(container, at));
  }
  return [...errors, ...validateHostPortsDiffer(containers, path)];
};

export const validateInitContainers = (spec: DecodedPodSpec, path: string, context: ContainerContext): FieldError[] => {
  const names = new Set((spec.containers ?? []).map(({ name }) => name ?? ''));
  return (spec.initContainers ?? []).flatMap((container, i) => {
    const at = `${path}[${i}]`;
    return [
      ...validateAnyContainer(container, at, context),
      ...validateRestartRulesOfInit(container, at),
      ...validateUnique(names, container.name ?? '', at),
      // Init containers run one after another, so only the ports of one can collide.
      ...validateHostPortsDiffer([container], path),
      ...(container.restartPolicy === 'Always'
        ? [...validateLifecycle(container.lifecycle, `${at}.lifecycle`, context.spec), ...validateProbes(container, at)]
        : [
            ...(['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
              .filter((field) => container[field] !== undefined)
              .map((field) => forbidden(`${at}.${field}`, SIDECARS_ONLY)),
            ...(container.resizePolicy ?? []).flatMap(({ restartPolicy }, j) =>
              restartPolicy === 'RestartContainer'
                ? [invalid(`${at}.resizePolicy[${j}].restartPolicy`, restartPolicy, NO_RESTART_OF_INIT)]
                : [],
            ),
          ]),
    ];
  });
};

export const validateEphemeralContainers = (spec: DecodedPodSpec, path: string, context: ContainerContext): FieldError[] => {
  const others = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name ?? '');
  const names = new Set(others);
  return (spec.ephemeralContainers ?? []).flatMap((container, i) => {
    const at = `${path}[${i}]`;
    const target = container.targetContainerName ?? '';
    return [
      ...validateAnyContainer(container, at, context),
      ...validateImagesOfPod([container], path).map((error) => ({ ...error, field: `${at}.image` })),
      ...validateUnique(names, container.name ?? '', at),
      ...(target === '' || others.includes(target) ? [] : [fieldNotFound(`${at}.targetContainerName`, target)]),
      ...NOT_FOR_EPHEMERAL.filter((field) => isSet(container[field])).map((field) => forbidden(`${at}.${field}`, NOT_EPHEMERAL)),
      ...(container.volumeMounts ?? []).flatMap((mount, j) =>
        (['subPath', 'subPathExpr'] as const)
          .filter((field) => (mount[field] ?? '') !== '')
          .map((field) => forbidden(`${at}.volumeMounts[${j}].${field}`, NOT_EPHEMERAL)),
      ),
    ];
  });
};

/** Absent and empty are the same here; resources are always there. */
const isSet = (value: object | string | undefined): boolean =>
  value !== undefined && (typeof value !== 'object' || Object.keys(value).length > 0);

/** validateContainerCommon. */
const validateAnyContainer = (container: DecodedContainer, path: string, context: ContainerContext): FieldError[] => {
  const { name = '', image = '' } = container;
  return [
    ...(name === '' ? [required(`${path}.name`)] : validateFormat(name, `${path}.name`, dns1123LabelProblems)),
    ...(image === '' ? [required(`${path}.image`)] : []),
    ...validateChoice(container.terminationMessagePolicy ?? '', `${path}.terminationMessagePolicy`, ['File', 'FallbackToLogsOnError']),
    ...validatePorts(container.ports ?? [], `${path}.ports`),
    ...validateEnv(container.env ?? [], `${path}.env`),
    ...validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`),
    ...validateVolumeMounts(container, `${path}.volumeMounts`, context.volumes),
    ...validateVolumeDevices(container, `${path}.volumeDevices`, context.volumes),
    ...validateChoice(container.imagePullPolicy ?? '', `${path}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...validateContainerResources(container.resources ?? {}, `${path}.resources`, context.claimNames),
    ...validateResizePolicy(container.resizePolicy ?? [], `${path}.resizePolicy`, context.spec.restartPolicy),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`, context.spec.hostUsers !== false),
  ];
};

const validateUnique = (names: Set<string>, name: string, path: string): FieldError[] => {
  if (names.has(name)) return [duplicate(`${path}.name`, name)];
  names.add(name);
  return [];
};

type Ports = NonNullable<DecodedContainer['ports']>;

const validatePorts = (ports: Ports, path: string): FieldError[] => {
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const { name = '', containerPort = 0, hostPort = 0 } = port;
    const errors = name === '' ? [] : validateFormat(name, `${path}[${i}].name`, portNameProblems);
    if (errors.length === 0 && names.has(name)) errors.push(duplicate(`${path}[${i}].name`, name));
    if (name !== '' && errors.length === 0) names.add(name);
    if (containerPort === 0) errors.push(required(`${path}[${i}].containerPort`));
    else errors.push(...validateRange(containerPort, 1, 65_535, `${path}[${i}].containerPort`));
    if (hostPort !== 0) errors.push(...validateRange(hostPort, 1, 65_535, `${path}[${i}].hostPort`));
    errors.push(...validateChoice(port.protocol ?? '', `${path}[${i}].protocol`, ['SCTP', 'TCP', 'UDP']));
    return errors;
  });
};

const validateHostPortsDiffer = (containers: readonly DecodedContainer[], path: string): FieldError[] => {
  const taken = new Set<string>();
  return containers.flatMap((container, i) =>
    (container.ports ?? []).flatMap(({ protocol = '', hostIP = '', hostPort = 0 }, j) => {
      if (hostPort === 0) return [];
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) return [duplicate(`${path}[${i}].ports[${j}].hostPort`, port)];
      taken.add(port);
      return [];
    }),
  );
};

/** What only real pods may not have: templates with such images existed before the rule. */
export const validateImagesOfPod = (containers: readonly DecodedContainer[], path: string): FieldError[] =>
  containers.flatMap(({ image = '' }, i) =>
    image === image.trim() ? [] : [invalid(`${path}[${i}].image`, image, 'must not have leading or trailing whitespace')],
  );
