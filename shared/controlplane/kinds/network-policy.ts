import { isIP } from 'node:net';
import type { V1NetworkPolicySpec } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { portNameProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { bumpGeneration } from './generation.ts';
import { formatSelector } from './label-selector-format.ts';
import { validateLabelSelector } from './label-selector-validation.ts';
import { validateRange } from './number-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedEgressRule = NonNullable<Decoded<Wire<V1NetworkPolicySpec>>['egress']>[number];
type DecodedPort = NonNullable<DecodedEgressRule['ports']>[number];
type DecodedPeer = NonNullable<DecodedEgressRule['to']>[number];
/** The client library calls the peers of incoming traffic `_from`. */
type DecodedIngressRule = { ports?: DecodedPort[] | undefined; from?: DecodedPeer[] | undefined };
type DecodedPolicySpec = Omit<Decoded<Wire<V1NetworkPolicySpec>>, 'ingress'> & { ingress?: DecodedIngressRule[] | undefined };
type DecodedPolicy = AnyObject & { spec?: DecodedPolicySpec | undefined };
/** The registry hands this strategy decoded NetworkPolicies only. */
const asPolicy = (object: AnyObject): DecodedPolicy => object as DecodedPolicy;

/** networking.k8s.io/v1 NetworkPolicy: kept and checked; no network here obeys it. */
export const networkPolicyStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyPolicyDefaults((asPolicy(object).spec ??= {})),
  prepareForCreate: (object) => {
    object.metadata.generation = 1;
  },
  validateCreate: (object) => validatePolicy(asPolicy(object)),
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...validatePolicy(asPolicy(next))],
  table: {
    columns: [NAME_COLUMN, column('Pod-Selector', 'podSelector selects the pods to which this NetworkPolicy object applies.'), AGE_COLUMN],
    cells: (object, now) => {
      const { metadata, spec = {} } = asPolicy(object);
      return [metadata.name, formatSelector(spec.podSelector), ageOf(metadata.creationTimestamp, now)];
    },
  },
};

/** SetDefaults_NetworkPolicy: without types it is about what comes in, and about what goes out if it says anything of that. */
function applyPolicyDefaults(spec: DecodedPolicySpec): void {
  spec.podSelector ??= {};
  if ((spec.policyTypes ?? []).length === 0) spec.policyTypes = ['Ingress', ...((spec.egress ?? []).length > 0 ? ['Egress'] : [])];
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of rule.ports ?? []) port.protocol ||= 'TCP';
  }
}

const validatePolicy = ({ metadata, spec = {} }: DecodedPolicy): FieldError[] => [
  ...validateObjectMeta(metadata, true, subdomainName),
  ...validateLabelSelector(spec.podSelector ?? {}, 'spec.podSelector'),
  ...(spec.ingress ?? []).flatMap(({ ports = [], from = [] }, i) => [
    ...ports.flatMap((port, j) => validatePort(port, `spec.ingress[${i}].ports[${j}]`)),
    ...from.flatMap((peer, j) => validatePeer(peer, `spec.ingress[${i}].from[${j}]`)),
  ]),
  ...(spec.egress ?? []).flatMap(({ ports = [], to = [] }, i) => [
    ...ports.flatMap((port, j) => validatePort(port, `spec.egress[${i}].ports[${j}]`)),
    ...to.flatMap((peer, j) => validatePeer(peer, `spec.egress[${i}].to[${j}]`)),
  ]),
  ...validateTypes(spec.policyTypes ?? []),
];

function validatePort({ protocol = '', port, endPort }: DecodedPort, path: string): FieldError[] {
  const errors = ['TCP', 'UDP', 'SCTP'].includes(protocol) ? [] : [notSupported(`${path}.protocol`, protocol, ['SCTP', 'TCP', 'UDP'])];
  if (typeof port === 'number') {
    errors.push(...validateRange(port, 1, 65_535, `${path}.port`));
    if (endPort !== undefined && endPort < port) {
      errors.push(invalid(`${path}.endPort`, endPort, 'must be greater than or equal to `port`'));
    }
    if (endPort !== undefined) errors.push(...validateRange(endPort, 1, 65_535, `${path}.endPort`));
  } else if (port !== undefined) {
    if (endPort !== undefined) errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric'));
    errors.push(...validateFormat(String(port), `${path}.port`, portNameProblems));
  } else if (endPort !== undefined) {
    errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified'));
  }
  return errors;
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: DecodedPeer, path: string): FieldError[] {
  const errors: FieldError[] = [
    ...(podSelector === undefined ? [] : validateLabelSelector(podSelector, `${path}.podSelector`)),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`)),
    ...(ipBlock === undefined ? [] : validateBlock(ipBlock, `${path}.ipBlock`)),
  ];
  if (podSelector === undefined && namespaceSelector === undefined && ipBlock === undefined) {
    errors.push(required(path, 'must specify a peer'));
  } else if (ipBlock !== undefined && (podSelector !== undefined || namespaceSelector !== undefined)) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateBlock({ cidr = '', except = [] }: NonNullable<DecodedPeer['ipBlock']>, path: string): FieldError[] {
  if (cidr === '') return [required(`${path}.cidr`)];
  return [...validateCidr(cidr, `${path}.cidr`), ...except.flatMap((each, i) => validateCidr(each, `${path}.except[${i}]`))];
}

function validateCidr(text: string, path: string): FieldError[] {
  const [address = '', bits = ''] = text.split('/');
  const version = isIP(address);
  if (version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)) return [];
  return [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}

function validateTypes(types: readonly string[]): FieldError[] {
  if (types.length > 2) return [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, i) =>
    type === 'Ingress' || type === 'Egress' ? [] : [notSupported(`spec.policyTypes[${i}]`, type, ['Egress', 'Ingress'])],
  );
}
