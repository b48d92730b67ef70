import { isIP } from 'node:net';
import type { V1NodeSpec, V1NodeStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { validateResourceQuantity } from './container-resources-validation.ts';
import type { Decoded } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validateTaintEffect } from './pod-scheduling-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedNode = AnyObject & {
  spec?: Decoded<Wire<V1NodeSpec>> | undefined;
  status?: Decoded<Wire<V1NodeStatus>> | undefined;
};
type Taint = NonNullable<NonNullable<DecodedNode['spec']>['taints']>[number];

/** The registry hands this strategy decoded Nodes only. */
const asNode = (object: AnyObject): DecodedNode => object as DecodedNode;

const NOT_READY = 'node.kubernetes.io/not-ready';
const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

/** core/v1 Node. */
export const nodeStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const { spec, status } = asNode(object);
    // Two names for the same: the older one counts, and is the first of the others.
    const [first] = spec?.podCIDRs ?? [];
    if (spec !== undefined && (spec.podCIDR ?? '') !== '' && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR ?? ''];
    else if (spec !== undefined && first !== undefined) spec.podCIDR = first;
    if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
  },
  prepareForCreate: (object) => {
    const node = asNode(object);
    const taints = node.spec?.taints ?? [];
    // Admission plugin TaintNodesByCondition: nothing is scheduled to a node before it has said that it is ready.
    const tainted = taints.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule');
    node.spec = { ...node.spec, taints: tainted ? taints : [...taints, { key: NOT_READY, effect: 'NoSchedule' }] };
  },
  validateCreate: (object) => validateNode(asNode(object)),
  prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
  validateUpdate: (next, previous) => [...validateNode(asNode(next)), ...validateNodeUpdate(asNode(next), asNode(previous))],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => validateNodeUpdate(asNode(next), asNode(previous)),
  },
  selectableFields: (object) => ({ 'spec.unschedulable': String(asNode(object).spec?.unschedulable ?? false) }),
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'The status of the node'),
      column('Roles', 'The roles of the node'),
      AGE_COLUMN,
      column('Version', 'Kubelet Version reported by the node.'),
      column('Internal-IP', 'List of addresses reachable to the node.', { wide: true }),
      column('External-IP', 'List of addresses reachable to the node.', { wide: true }),
      column('OS-Image', 'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).', { wide: true }),
      column('Kernel-Version', "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).", { wide: true }),
      column('Container-Runtime', 'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).', {
        wide: true,
      }),
    ],
    cells: (object, now) => {
      const { metadata, status = {} } = asNode(object);
      const info = status.nodeInfo ?? {};
      return [
        metadata.name,
        statusOf(asNode(object)),
        rolesOf(metadata.labels ?? {}),
        ageOf(metadata.creationTimestamp, now),
        info.kubeletVersion ?? '',
        addressOf(status, 'InternalIP'),
        addressOf(status, 'ExternalIP'),
        info.osImage || '<unknown>',
        info.kernelVersion || '<unknown>',
        info.containerRuntimeVersion || '<unknown>',
      ];
    },
  },
};

const validateNode = ({ metadata, spec = {}, status = {} }: DecodedNode): FieldError[] => [
  ...validateObjectMeta(metadata, false, subdomainName),
  ...validateTaints(spec.taints ?? []),
  ...validateAmounts(status),
  ...validatePodRanges(spec.podCIDRs ?? [], 'spec.podCIDRs'),
];

/** The names of resources stand in these paths like those of fields. */
const validateAmounts = (status: NonNullable<DecodedNode['status']>): FieldError[] =>
  (['capacity', 'allocatable'] as const).flatMap((list) =>
    Object.entries(status[list] ?? {}).flatMap(([name, amount]) => validateResourceQuantity(name, amount, `status.${list}.${name}`)),
  );

/** One of each family. */
const validatePodRanges = (ranges: readonly string[], path: string): FieldError[] => {
  const errors = ranges.flatMap((range, i) =>
    isRange(range) ? [] : [invalid(`${path}[${i}]`, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')],
  );
  const families = new Set(ranges.map((range) => range.includes(':')));
  return ranges.length > 1 && ranges.length > families.size
    ? [...errors, invalid(path, ranges, 'may specify no more than one CIDR for each IP family')]
    : errors;
};

const isRange = (text: string): boolean => {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
};

/** Upstream reports taints below metadata. */
const validateTaints = (taints: readonly Taint[]): FieldError[] => {
  const seen = new Set<string>();
  return taints.flatMap((taint, i) => {
    const path = `metadata.taints[${i}]`;
    const { key = '', value = '', effect = '' } = taint;
    const errors = validateFormat(key, `${path}.key`, qualifiedNameProblems);
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(`${path}.value`, value, problems.join(';')));
    errors.push(...(effect === '' ? [required(`${path}.effect`)] : validateTaintEffect(effect, `${path}.effect`)));
    if (seen.has(`${key}:${effect}`)) {
      const twice = duplicate(path, { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null });
      errors.push({ ...twice, body: `${twice.body}: taints must be unique by key and effect pair` });
    }
    seen.add(`${key}:${effect}`);
    return errors;
  });
};

const validateNodeUpdate = (next: DecodedNode, previous: DecodedNode): FieldError[] => {
  const { spec = {}, status = {} } = next;
  const old = previous.spec ?? {};
  const errors = validateObjectMetaUpdate(next.metadata, previous.metadata);
  errors.push(...validateAmounts(status), ...validateAddresses(status.addresses ?? []));
  if ((old.podCIDRs ?? []).length > 0 && !semanticEqual(spec.podCIDRs, old.podCIDRs)) {
    errors.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if ((old.providerID ?? '') !== '' && spec.providerID !== old.providerID) {
    errors.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  errors.push(...validateTaints(spec.taints ?? []));
  if ((spec.externalID ?? '') !== (old.externalID ?? '')) errors.push(forbidden('spec.externalID', 'may not be updated'));
  return errors;
};

const validateAddresses = (addresses: NonNullable<NonNullable<DecodedNode['status']>['addresses']>): FieldError[] => {
  const seen = new Set<string>();
  return addresses.flatMap(({ type = '', address = '' }, i) => {
    const key = JSON.stringify([type, address]);
    if (seen.has(key)) return [duplicate(`status.addresses[${i}]`, { Type: type, Address: address })];
    seen.add(key);
    return [];
  });
};

const statusOf = ({ spec = {}, status = {} }: DecodedNode): string => {
  const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable === true ? `${state},SchedulingDisabled` : state;
};

const rolesOf = (labels: Readonly<Record<string, string>>): string => {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === ROLE_LABEL ? [value] : [];
  });
  const named = [...new Set(roles.filter((role) => role !== ''))].toSorted();
  return named.length > 0 ? named.join(',') : '<none>';
};

const addressOf = ({ addresses = [] }: NonNullable<DecodedNode['status']>, type: string): string =>
  addresses.find((each) => each.type === type)?.address ?? '<none>';
