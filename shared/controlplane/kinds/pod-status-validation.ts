import { isIP } from 'node:net';
import { duplicate, forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedPod, DecodedPodSpec, DecodedPodStatus } from './decoded.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import { validatePodAnnotationUpdates } from './pod-annotations-validation.ts';
import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

type ContainerStatuses = NonNullable<DecodedPodStatus['containerStatuses']>;
type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

const SYSTEM_CONDITIONS: readonly string[] = ['PodScheduled', 'Ready', 'Initialized'];
const NOT_NEGATIVE = 'must be a non-negative integer';
const IP_RULE = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

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
    ...validateStatesStay('containerStatuses', next, old, previous.spec ?? {}),
    ...validateStatesStay('initContainerStatuses', next, old, previous.spec ?? {}),
    ...validateStatesStay('ephemeralContainerStatuses', next, old, { restartPolicy: 'Never' }),
    ...validateIps(next.podIPs ?? [], 'status.podIPs'),
    ...validateHostIps(next),
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
const validateStatesStay = (list: StatusList, next: DecodedPodStatus, old: DecodedPodStatus, spec: DecodedPodSpec): FieldError[] => {
  if (spec.restartPolicy === 'Always') return [];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name);
  const after: ContainerStatuses = next[list] ?? [];
  return (old[list] ?? []).flatMap((before, i) => {
    const ended = before.state?.terminated;
    const mayRestart = spec.restartPolicy === 'OnFailure' && (ended?.exitCode ?? 0) !== 0;
    const restarts = mayRestart || (list === 'initContainerStatuses' && sidecars.includes(before.name));
    if (ended === undefined || restarts) return [];
    return after
      .filter(({ name, state }) => name === before.name && state?.terminated === undefined)
      .map(() => forbidden(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state'));
  });
};

type Ips = readonly { ip?: string | undefined }[];

const validateIps = (ips: Ips, path: string): FieldError[] => {
  const errors = ips.flatMap(({ ip = '' }, i) => (isIP(ip) === 0 ? [invalid(`${path}[${i}]`, ip, IP_RULE)] : []));
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
  const seen = new Set<string>();
  for (const [i, { ip = '' }] of ips.entries()) {
    if (seen.has(ip)) errors.push(duplicate(`${path}[${i}]`, { IP: ip }));
    seen.add(ip);
  }
  return errors;
};

const validateHostIps = ({ hostIP = '', hostIPs = [] }: DecodedPodStatus): FieldError[] => {
  const first = hostIPs[0]?.ip ?? '';
  return [
    ...(hostIPs.length > 0 && first !== hostIP ? [invalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`')] : []),
    ...validateIps(hostIPs, 'status.hostIPs'),
  ];
};
