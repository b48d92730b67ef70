import { parseQuantity, toMilliUnits } from '../../kube/quantity.ts';
import { dns1123LabelProblems } from '../../kube/name-formats.ts';
import { allContainers, type PlacedContainer } from './containers.ts';
import type { DecodedContainer, DecodedPod, DecodedPodSpec, DecodedPodTemplate } from './decoded.ts';
import { volumeWarnings } from './volume-warnings.ts';

/** Values of the Warning headers that accompany a created pod. Updates of pods have none: no human makes them. */
export const podWarnings = (pod: DecodedPod): string[] => {
  const problems = dns1123LabelProblems(pod.metadata.name);
  const advice = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(problems.length === 0 ? [] : [`metadata.name: ${advice}: [${problems.join(' ')}]`]),
    ...warningsOf(pod.spec ?? {}, pod.metadata.annotations ?? {}, ''),
  ];
};

/** GetWarningsForPodTemplate. */
export const podTemplateWarnings = (template: DecodedPodTemplate, path: string): string[] =>
  warningsOf(template.spec ?? {}, template.metadata?.annotations ?? {}, `${path}.`);

type Annotations = Readonly<Record<string, string>>;

/** warningsForPodSpecAndMeta, in upstream's order. `prefix` is that of the paths of spec and metadata. */
const warningsOf = (spec: DecodedPodSpec, annotations: Annotations, prefix: string): string[] => {
  const path = `${prefix}spec`;
  const containers = allContainers(spec, path);
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => deprecatedLabelWarnings(key, `${path}.nodeSelector[${key}]`)),
    ...nodeAffinityWarnings(spec, `${path}.affinity.nodeAffinity`),
    ...spreadWarnings(spec, `${path}.topologySpreadConstraints`),
    ...Object.keys(annotations).flatMap((key) =>
      DEPRECATED_ANNOTATIONS.has(key) ? [`${prefix}metadata.annotations[${key}]: ${DEPRECATED_ANNOTATIONS.get(key)}`] : [],
    ),
    ...volumeWarnings(spec.volumes ?? [], `${path}.volumes`),
    ...repeated(spec.hostAliases ?? [], ({ ip = '' }) => ip, `${path}.hostAliases`, 'ip'),
    ...repeated(spec.imagePullSecrets ?? [], ({ name = '' }) => name, `${path}.imagePullSecrets`, 'name'),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name = '' }, i) =>
      name === '' ? [`${path}.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
    ),
    ...BYTES.flatMap((name) => fractionWarnings(spec.overhead?.[name], `${path}.overhead[${name}]`)),
    ...seccompWarnings(spec, annotations, `${prefix}metadata.annotations`),
    ...containers.flatMap((placed) => containerWarnings(placed, annotations, prefix)),
    ...portWarnings(containers),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...podAffinityWarnings(spec, `${path}.affinity`),
  ];
};

const DEPRECATED_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
]);
const DEPRECATED_ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]);
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';
/** Upstream escapes the quotes of this one. */
const USE_SECCOMP_FIELD = String.raw`non-functional in v1.27+; use the \"seccompProfile\" field instead`;
const USE_APPARMOR_FIELD = String.raw`deprecated since v1.30; use the \"appArmorProfile\" field instead`;
const NULL_SELECTOR = 'a null labelSelector results in matching no pod';
const BYTES = ['memory', 'ephemeral-storage'] as const;

const deprecatedLabelWarnings = (key: string, path: string): string[] =>
  DEPRECATED_NODE_LABELS.has(key) ? [`${path}: ${DEPRECATED_NODE_LABELS.get(key)}`] : [];

type NodeSelectorTerm = { matchExpressions?: { key?: string | undefined }[] | undefined };

const nodeAffinityWarnings = ({ affinity }: DecodedPodSpec, path: string): string[] => {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: wished = [] } =
    affinity?.nodeAffinity ?? {};
  const warningsOfTerm = ({ matchExpressions = [] }: NodeSelectorTerm, at: string): string[] =>
    matchExpressions.flatMap(({ key = '' }, i) =>
      DEPRECATED_NODE_LABELS.has(key) ? [`${at}.matchExpressions[${i}].key: ${key} is ${DEPRECATED_NODE_LABELS.get(key)}`] : [],
    );
  return [
    ...(needed?.nodeSelectorTerms ?? []).flatMap((term, i) =>
      warningsOfTerm(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`),
    ),
    ...wished.flatMap(({ preference = {} }, i) =>
      warningsOfTerm(preference, `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`),
    ),
  ];
};

const spreadWarnings = ({ topologySpreadConstraints = [] }: DecodedPodSpec, path: string): string[] =>
  topologySpreadConstraints.flatMap(({ topologyKey = '', labelSelector }, i) => [
    ...(DEPRECATED_NODE_LABELS.has(topologyKey)
      ? [`${path}[${i}].topologyKey: ${topologyKey} is ${DEPRECATED_NODE_LABELS.get(topologyKey)}`]
      : []),
    ...(labelSelector === undefined ? [`${path}[${i}].labelSelector: ${NULL_SELECTOR}`] : []),
  ]);

const podAffinityWarnings = ({ affinity = {} }: DecodedPodSpec, path: string): string[] =>
  (['podAffinity', 'podAntiAffinity'] as const).flatMap((kind) => [
    ...(affinity[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ labelSelector }, i) =>
      labelSelector === undefined
        ? [`${path}.${kind}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${NULL_SELECTOR}`]
        : [],
    ),
    ...(affinity[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ podAffinityTerm }, i) =>
      podAffinityTerm?.labelSelector === undefined
        ? [`${path}.${kind}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector: ${NULL_SELECTOR}`]
        : [],
    ),
  ]);

const repeated = <T>(items: readonly T[], keyOf: (item: T) => string, path: string, field: string): string[] => {
  const seen = new Set<string>();
  return items.flatMap((item, i) => {
    const key = keyOf(item);
    if (seen.has(key)) return [`${path}[${i}].${field}: duplicate ${field} ${JSON.stringify(key)}`];
    seen.add(key);
    return [];
  });
};

const seccompWarnings = (spec: DecodedPodSpec, annotations: Annotations, path: string): string[] =>
  spec.securityContext?.seccompProfile === undefined && annotations[SECCOMP_POD] !== undefined
    ? [`${path}[${SECCOMP_POD}]: ${USE_SECCOMP_FIELD}`]
    : [];

const containerWarnings = ({ container, path }: PlacedContainer, annotations: Annotations, prefix: string): string[] => {
  const { name = '', resources = {}, securityContext = {} } = container;
  const seccomp = `${SECCOMP_CONTAINER}${name}`;
  const appArmor = `${APPARMOR_CONTAINER}${name}`;
  const annotated = (key: string): boolean => Object.hasOwn(annotations, key);
  return [
    ...(securityContext.seccompProfile === undefined && annotated(seccomp)
      ? [`${prefix}metadata.annotations[${seccomp}]: ${USE_SECCOMP_FIELD}`]
      : []),
    // Of pods themselves the annotation is turned into the field.
    ...(prefix !== '' && securityContext.appArmorProfile === undefined && annotated(appArmor)
      ? [`${prefix}metadata.annotations[${appArmor}]: ${USE_APPARMOR_FIELD}`]
      : []),
    ...BYTES.flatMap((bytes) =>
      (['limits', 'requests'] as const).flatMap((list) =>
        fractionWarnings(resources[list]?.[bytes], `${path}.resources.${list}[${bytes}]`),
      ),
    ),
    ...envWarnings(container, path),
  ];
};

const fractionWarnings = (amount: string | undefined, path: string): string[] =>
  amount === undefined || toMilliUnits(parseQuantity(amount)) % 1000n === 0n
    ? []
    : [`${path}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];

/** A later definition that builds on the earlier one is meant so. */
const envWarnings = ({ env = [] }: DecodedContainer, path: string): string[] => {
  const names = new Set<string>();
  return env.flatMap(({ name = '', value = '', valueFrom }, i) => {
    const reference = `$(${name})`;
    const hides = names.has(name) && (valueFrom !== undefined || value === reference || !value.includes(reference));
    names.add(name);
    return hides ? [`${path}.env[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`] : [];
  });
};

type Port = NonNullable<DecodedContainer['ports']>[number];

/** Ports of all containers together: they share an address. */
const portWarnings = (containers: readonly PlacedContainer[]): string[] => {
  const seen: { readonly port: Port; readonly path: string }[] = [];
  return containers.flatMap(({ container, path }) =>
    (container.ports ?? []).flatMap((port, i) => {
      const at = `${path}.ports[${i}]`;
      const warnings =
        (port.hostIP ?? '') !== '' && (port.hostPort ?? 0) === 0 ? [`${at}: hostIP set without hostPort: ${goPort(port)}`] : [];
      for (const other of seen) {
        const how = clash(port, other.port);
        if (how !== undefined) warnings.push(`${at}: ${how} port definition with ${other.path}`);
      }
      seen.push({ port, path: at });
      return warnings;
    }),
  );
};

const clash = (port: Port, other: Port): 'duplicate' | 'overlapping' | 'dangerously ambiguous' | undefined => {
  if (port.containerPort !== other.containerPort || port.protocol !== other.protocol) return undefined;
  const [hostPort, otherHostPort] = [port.hostPort ?? 0, other.hostPort ?? 0];
  const [hostIP, otherHostIP] = [port.hostIP ?? '', other.hostIP ?? ''];
  if (hostPort === otherHostPort && hostIP === otherHostIP) return 'duplicate';
  if (hostPort === 0 || otherHostPort === 0) return 'overlapping';
  return hostPort === otherHostPort && (hostIP === '') !== (otherHostIP === '') ? 'dangerously ambiguous' : undefined;
};

/** As Go prints a struct. */
const goPort = ({ name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' }: Port): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
