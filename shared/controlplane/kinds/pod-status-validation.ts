import { isIP } from 'node:net';
import { duplicate, forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import { validateIp } from './ip-validation.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedPod, DecodedPodSpec, DecodedPodStatus } from './decoded.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validatePodAnnotationUpdates } from './pod-annotations-validation.ts';
import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

type ContainerStatuses = NonNullable<DecodedPodStatus['containerStatuses']>;
type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

const SYSTEM_CONDITIONS: readonly string[] = ['PodScheduled', 'Ready', 'Initialized'];
const NOT_NEGATIVE = 'must be a non-negative integer';

/** ValidatePodStatusUpdate of core/v1. Phases may follow one another in any order, and bear any name. */
export const validatePodStatusUpdate = (pod: DecodedPod, previous: DecodedPod): FieldError[] => {
  const next = pod.status ?? {};
  const old = previous.status ?? {};
  return [
    ...validateObjectMetaUpdate(pod.metadata, previous.metadata),
    ...validatePodAnnotationUpdates(pod, previous),
    ...validateConditions(next),
    ...validateNominatedNode(next, old, (previous.spec?.nodeName ?? '') !== ''),
    ...((next.observedGeneration ?? 0) < 0 ? [invalid('status.observedGeneration', next.observedGeneration, NOT_NEGATIVE)] : []),
    ...(semanticEqual(next.qosClass, old.qosClass) ? [] : [invalid('status.qosClass', next.qosClass ?? '', 'field is immutable')]),
    ...validateStatesStay('containerStatuses', next, old, (name, code) => restarts(previous.spec, 'containers', name, code)),
    ...validateStatesStay('initContainerStatuses', next, old, (name, code) => restarts(previous.spec, 'initContainers', name, code)),
    ...validateStatesStay('ephemeralContainerStatuses', next, old, () => false),
    ...validateClaimStatuses(next, pod.spec ?? {}),
    ...validateIps(next.podIPs ?? [], old.podIPs ?? [], 'status.podIPs'),
    ...validateHostIps(next, old),
  ];
};

const validateConditions = ({ conditions = [] }: DecodedPodStatus): FieldError[] =>
  conditions.flatMap(({ type = '', observedGeneration = 0 }, i) => [
    ...(observedGeneration < 0 ? [invalid(`status.conditions[${i}].observedGeneration`, observedGeneration, NOT_NEGATIVE)] : []),
    ...(SYSTEM_CONDITIONS.includes(type) ? [] : validateFormat(type, `status.conditions[${i}].Type`, qualifiedNameProblems)),
  ]);

const validateNominatedNode = (next: DecodedPodStatus, old: DecodedPodStatus, isBound: boolean): FieldError[] => {
  const node = next.nominatedNodeName ?? '';
  if (node === '' || node === (old.nominatedNodeName ?? '')) return [];
  return [
    ...validateFormat(node, 'status.nominatedNodeName', dns1123SubdomainProblems),
    ...(isBound ? [forbidden('status.nominatedNodeName', 'may not be set on pods that are already bound to a node')] : []),
  ];
};

/** A container that has ended for good does not come back. */
const validateStatesStay = (
  list: StatusList,
  next: DecodedPodStatus,
  old: DecodedPodStatus,
  mayRestart: (name: string, exitCode: number) => boolean,
): FieldError[] => {
  const after: ContainerStatuses = next[list] ?? [];
  return (old[list] ?? []).flatMap((before, i) => {
    const ended = before.state?.terminated;
    if (ended === undefined) return [];
    const back = after.some(({ name, state }) => name === before.name && state?.terminated === undefined);
    if (!back || mayRestart(before.name ?? '', ended.exitCode ?? 0)) return [];
    return [forbidden(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state')];
  });
};

/** ContainerShouldRestart: its first rule that fits the exit code, else its own policy, else the pod's. A stranger does not. */
const restarts = (spec: DecodedPodSpec | undefined, list: 'containers' | 'initContainers', name: string, exitCode: number): boolean => {
  const container = spec?.[list]?.find((each) => each.name === name);
  if (container === undefined) return false;
  if (container.restartPolicy !== undefined) {
    const fits = (container.restartPolicyRules ?? []).some(({ exitCodes }) => {
      const listed = (exitCodes?.values ?? []).includes(exitCode);
      return exitCodes?.operator === 'In' ? listed : exitCodes?.operator === 'NotIn' && !listed;
    });
    if (fits) return true;
  }
  switch (container.restartPolicy ?? spec?.restartPolicy) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
};

const validateClaimStatuses = ({ resourceClaimStatuses = [] }: DecodedPodStatus, { resourceClaims = [] }: DecodedPodSpec): FieldError[] => {
  const seen = new Set<string>();
  return resourceClaimStatuses.flatMap(({ name = '', resourceClaimName }, i) => {
    const path = `status.resourceClaimStatuses[${i}]`;
    const errors: FieldError[] = [];
    if (!resourceClaims.some((claim) => claim.name === name)) {
      errors.push(invalid(`${path}.name`, name, 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (seen.has(name)) errors.push(duplicate(`${path}.name`, name));
    seen.add(name);
    if (resourceClaimName !== undefined) {
      errors.push(...validateFormat(resourceClaimName, `${path}.resourceClaimName`, dns1123SubdomainProblems));
    }
    return errors;
  });
};

type Ips = readonly { ip?: string | undefined }[];

/** At most one of each family; what is not right but was there before may stay. */
const validateIps = (ips: Ips, previous: Ips, path: string): FieldError[] => {
  const known = new Set(previous.map(({ ip = '' }) => ip));
  const errors = ips.flatMap(({ ip = '' }, i) => (known.has(ip) ? [] : validateIp(ip, `${path}[${i}]`)));
  if (ips.length <= 1) return errors;
  const families = ips.map(({ ip = '' }) => isIP(ip));
  if (ips.length > 2 || families[0] === families[1]) {
    errors.push(
      invalid(
        path,
        ips.map(({ ip = '' }) => ({ IP: ip })),
        'may specify no more than one IP for each IP family',
      ),
    );
  }
  return errors;
};

const validateHostIps = ({ hostIP = '', hostIPs = [] }: DecodedPodStatus, old: DecodedPodStatus): FieldError[] => {
  const first = hostIPs[0]?.ip ?? '';
  return [
    ...(hostIPs.length > 0 && first !== hostIP ? [invalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`')] : []),
    ...validateIps(hostIPs, old.hostIPs ?? [], 'status.hostIPs'),
  ];
};
