import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateChoice, validateFormat } from './choice-validation.ts';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './container-validation.ts';
import type { DecodedPodSpec } from './decoded.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import { validateLabels } from '../apimachinery/object-meta-validation.ts';
import { validateAffinity, validateSchedulingGates, validateTolerations, validateTopologySpread } from './pod-scheduling-validation.ts';
import { validateVolumes } from './volume-validation.ts';

export type PodSpecOptions = {
  /** The spec is of a pod itself, not of a template for pods. */
  readonly isPod: boolean;
};

const INT32_MAX = 2 ** 31 - 1;

/** ValidatePodSpec, in upstream's order. Security contexts, DNS options, claims and Windows are not examined. */
export const validatePodSpec = (spec: DecodedPodSpec, path: string, options: PodSpecOptions): FieldError[] => {
  const graceSeconds = spec.terminationGracePeriodSeconds;
  const context = { volumes: spec.volumes ?? [], graceSeconds, isPod: options.isPod };
  return [
    ...(graceSeconds === undefined ? [required(`${path}.terminationGracePeriodSeconds`)] : []),
    ...validateVolumes(spec.volumes ?? [], `${path}.volumes`),
    ...validateContainers(spec.containers ?? [], `${path}.containers`, context),
    ...validateInitContainers(spec, `${path}.initContainers`, context),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, context),
    ...validateHostPorts(spec, path, options),
    ...validateChoice(spec.restartPolicy ?? '', `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...validateChoice(spec.dnsPolicy ?? '', `${path}.dnsPolicy`, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsNone(spec, `${path}.dnsConfig`),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = '' }, i) =>
      validateFormat(conditionType, `${path}.readinessGates[${i}].conditionType`, qualifiedNameProblems),
    ),
    ...validateSchedulingGates(spec.schedulingGates ?? [], `${path}.schedulingGates`),
    ...validateTopologySpread(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`),
    ...validateOptionalFormat(spec.serviceAccountName, `${path}.serviceAccountName`, dns1123SubdomainProblems),
    ...validateOptionalFormat(spec.nodeName, `${path}.nodeName`, dns1123SubdomainProblems),
    ...validateActiveDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...validateOptionalFormat(spec.hostname, `${path}.hostname`, dns1123LabelProblems),
    ...validateOptionalFormat(spec.subdomain, `${path}.subdomain`, dns1123LabelProblems),
    ...validateTolerations(spec.tolerations ?? [], `${path}.tolerations`),
    ...validateOptionalFormat(spec.priorityClassName, `${path}.priorityClassName`, dns1123SubdomainProblems),
    ...(spec.runtimeClassName === undefined
      ? []
      : validateFormat(spec.runtimeClassName, `${path}.runtimeClassName`, dns1123SubdomainProblems)),
    ...(spec.preemptionPolicy === undefined
      ? []
      : validateChoice(spec.preemptionPolicy, `${path}.preemptionPolicy`, ['PreemptLowerPriority', 'Never'])),
  ];
};

const validateOptionalFormat = (value: string | undefined, path: string, problemsOf: (value: string) => string[]): FieldError[] =>
  value === undefined || value === '' ? [] : validateFormat(value, path, problemsOf);

const validateActiveDeadline = (seconds: number | undefined, path: string): FieldError[] =>
  seconds === undefined || (seconds >= 1 && seconds <= INT32_MAX)
    ? []
    : [invalid(path, seconds, `must be between 1 and ${INT32_MAX}, inclusive`)];

/** On the network of the host a port of a container is a port of the host; templates may leave that to the pods made from them. */
const validateHostPorts = (spec: DecodedPodSpec, path: string, { isPod }: PodSpecOptions): FieldError[] => {
  if (spec.hostNetwork !== true) return [];
  return (spec.containers ?? []).flatMap((container, i) =>
    (container.ports ?? []).flatMap(({ hostPort = 0, containerPort = 0 }, j) =>
      (isPod || hostPort !== 0) && hostPort !== containerPort
        ? [invalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : [],
    ),
  );
};

const validateDnsNone = (spec: DecodedPodSpec, path: string): FieldError[] => {
  if (spec.dnsPolicy !== 'None') return [];
  if (spec.dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  return (spec.dnsConfig.nameservers ?? []).length > 0
    ? []
    : [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
};
