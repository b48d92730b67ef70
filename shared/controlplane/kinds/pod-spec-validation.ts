import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateChoice, validateFormat } from './choice-validation.ts';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './container-validation.ts';
import type { DecodedPodSpec } from './decoded.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validateLabels } from '../apimachinery/object-meta-validation.ts';
import { validateAffinity, validateSchedulingGates, validateTolerations, validateTopologySpread } from './pod-scheduling-validation.ts';
import { allContainers } from './containers.ts';
import { validateOverhead } from './container-resources-validation.ts';
import { validateEnvFiles } from './env-validation.ts';
import { validateDnsConfig, validateHostAliases, validateHostnameOverride, validateHostPorts } from './pod-network-validation.ts';
import { validateOs } from './pod-os-validation.ts';
import { validatePodResources } from './pod-resources-validation.ts';
import { claimNamesOf, validateResourceClaims } from './resource-claim-validation.ts';
import { validateHostUsers, validatePodSecurityContext } from './security-context-validation.ts';
import { validateVolumes } from './volume-validation.ts';
import { validateHostProcess } from './windows-options-validation.ts';

export type PodSpecOptions = {
  /** The spec is of a pod itself, not of a template for pods. */
  readonly isPod: boolean;
  /** '' for templates. */
  readonly podName: string;
  /** The pod mirrors one that its node runs by itself. */
  readonly isMirror: boolean;
};

const INT32_MAX = 2 ** 31 - 1;

/** ValidatePodSpec, in upstream's order. */
export const validatePodSpec = (spec: DecodedPodSpec, path: string, { isPod, podName, isMirror }: PodSpecOptions): FieldError[] => {
  const volumes = validateVolumes(spec.volumes ?? [], `${path}.volumes`, { podName });
  const context = { spec, volumes: volumes.valid, claimNames: claimNamesOf(spec) };
  const containers = allContainers(spec, path);
  return [
    ...(spec.terminationGracePeriodSeconds === undefined ? [required(`${path}.terminationGracePeriodSeconds`)] : []),
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims ?? [], `${path}.resourceClaims`, isMirror),
    ...validateContainers(spec.containers ?? [], `${path}.containers`, context),
    ...validateInitContainers(spec, `${path}.initContainers`, context),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, context),
    ...validatePodResources(spec, `${path}.resources`, context.claimNames),
    ...validateHostPorts(spec, path, isPod),
    ...validateChoice(spec.restartPolicy ?? '', `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...validateChoice(spec.dnsPolicy ?? '', `${path}.dnsPolicy`, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...validatePodSecurityContext(spec, `${path}.securityContext`),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = '' }, i) =>
      validateFormat(conditionType, `${path}.readinessGates[${i}].conditionType`, qualifiedNameProblems),
    ),
    ...validateSchedulingGates(spec.schedulingGates ?? [], `${path}.schedulingGates`),
    ...validateTopologySpread(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`),
    ...validateHostProcess(spec, path, containers),
    ...validateHostUsers(spec, path, containers),
    ...validateHostnameOverride(spec, `${path}.hostnameOverride`),
    ...validateOptionalFormat(spec.serviceAccountName, `${path}.serviceAccountName`, dns1123SubdomainProblems),
    ...validateOptionalFormat(spec.nodeName, `${path}.nodeName`, dns1123SubdomainProblems),
    ...validateActiveDeadline(spec.activeDeadlineSeconds, `${path}.activeDeadlineSeconds`),
    ...validateOptionalFormat(spec.hostname, `${path}.hostname`, dns1123LabelProblems),
    ...validateOptionalFormat(spec.subdomain, `${path}.subdomain`, dns1123LabelProblems),
    ...validateTolerations(spec.tolerations ?? [], `${path}.tolerations`),
    ...validateHostAliases(spec.hostAliases ?? [], `${path}.hostAliases`),
    ...validateOptionalFormat(spec.priorityClassName, `${path}.priorityClassName`, dns1123SubdomainProblems),
    ...(spec.runtimeClassName === undefined
      ? []
      : validateFormat(spec.runtimeClassName, `${path}.runtimeClassName`, dns1123SubdomainProblems)),
    ...(spec.preemptionPolicy === undefined
      ? []
      : validateChoice(spec.preemptionPolicy, `${path}.preemptionPolicy`, ['PreemptLowerPriority', 'Never'])),
    ...validateOverhead(spec.overhead, `${path}.overhead`),
    ...validateOs(spec, path, containers),
    ...validateEnvFiles(spec, containers),
  ];
};

const validateOptionalFormat = (value: string | undefined, path: string, problemsOf: (value: string) => string[]): FieldError[] =>
  value === undefined || value === '' ? [] : validateFormat(value, path, problemsOf);

const validateActiveDeadline = (seconds: number | undefined, path: string): FieldError[] =>
  seconds === undefined || (seconds >= 1 && seconds <= INT32_MAX)
    ? []
    : [invalid(path, seconds, `must be between 1 and ${INT32_MAX}, inclusive`)];
