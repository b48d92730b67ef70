import { isIP } from 'node:net';
import type { V1ServiceSpec, V1ServiceStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, portNameProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { type NameRule, validateLabels, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { ResourceStrategy, TablePrinter } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateChoice, validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { validateRange } from './number-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedServiceSpec = Decoded<Wire<V1ServiceSpec>>;
type DecodedServicePort = NonNullable<DecodedServiceSpec['ports']>[number];
type DecodedService = AnyObject & { spec?: DecodedServiceSpec | undefined; status?: Decoded<Wire<V1ServiceStatus>> | undefined };
/** The registry hands this strategy decoded Services only. */
const asService = (object: AnyObject): DecodedService => object as DecodedService;

const CLIENT_IP_TIMEOUT_SECONDS = 10_800;
const NODE_PORTS = { first: 30_000, count: 2_768 };

/**
 * core/v1 Service: kept and checked, with addresses that nothing answers on. They are made from its UID and not taken from a pool, so
 * two Services may, once in a million, have the same.
 */
export const serviceStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyServiceDefaults((asService(object).spec ??= {})),
  prepareForCreate: (object) => {
    const service = asService(object);
    service.status = { loadBalancer: {} };
    allocate(service);
  },
  validateCreate: (object) => validateService(asService(object)),
  prepareForUpdate: (next, previous) => {
    restore(next, previous, 'status');
    keepAllocated(asService(next), asService(previous));
    dropWhatItsTypeLacks(asService(next), asService(previous));
    allocate(asService(next));
  },
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateClusterIpChange(asService(next), asService(previous)),
    ...validateService(asService(next)),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateLoadBalancerStatus(asService(next)),
    ],
  },
  returnsDeletedObject: true,
  get table() {
    return table;
  },
};

/** SetDefaults_Service. */
function applyServiceDefaults(spec: DecodedServiceSpec): void {
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    ((spec.sessionAffinityConfig ??= {}).clientIP ??= {}).timeoutSeconds ??= CLIENT_IP_TIMEOUT_SECONDS;
  }
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExposed(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

const isExposed = ({ type }: DecodedServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** Gives a Service the addresses and node ports that it has not asked for itself. */
function allocate({ metadata, spec }: DecodedService): void {
  if (spec === undefined || spec.type === 'ExternalName') return;
  spec.ipFamilyPolicy ??= 'SingleStack';
  spec.ipFamilies ??= [spec.clusterIP !== undefined && isIP(spec.clusterIP) === 6 ? 'IPv6' : 'IPv4'];
  spec.clusterIP ||= spec.clusterIPs?.[0] ?? clusterIpOf(metadata.uid);
  spec.clusterIPs ??= [spec.clusterIP];
  if (!isExposed(spec) || spec.allocateLoadBalancerNodePorts === false) return;
  const taken = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  for (const port of spec.ports ?? []) {
    if ((port.nodePort ?? 0) !== 0) continue;
    let offset = numberIn(metadata.uid) % NODE_PORTS.count;
    while (taken.has(NODE_PORTS.first + offset)) offset = (offset + 1) % NODE_PORTS.count;
    taken.add((port.nodePort = NODE_PORTS.first + offset));
  }
}

/** The first twenty bits of a UID. */
const numberIn = (uid: string): number => Number.parseInt(uid.slice(0, 5), 16) || 0;

/** An address of 10.96.0.0/12, kubeadm's default range, from the UID; the first ten are the cluster's own. */
function clusterIpOf(uid: string): string {
  const offset = Math.max(10, numberIn(uid));
  return `10.${96 + (offset >>> 16)}.${(offset >>> 8) & 0xff}.${offset & 0xff}`;
}

/** patchAllocatedValues: an update that leaves out what was allocated keeps it, while it is still needed. */
function keepAllocated({ spec: next }: DecodedService, { spec: previous }: DecodedService): void {
  if (next === undefined || previous === undefined || next.type === 'ExternalName' || previous.type === 'ExternalName') return;
  if ((next.clusterIP ?? '') === '' && (next.clusterIPs ?? []).length === 0) {
    if (previous.clusterIP !== undefined) next.clusterIP = previous.clusterIP;
    if (previous.clusterIPs !== undefined) next.clusterIPs = [...previous.clusterIPs];
  }
  if (previous.ipFamilies !== undefined) next.ipFamilies ??= [...previous.ipFamilies];
  if (previous.ipFamilyPolicy !== undefined) next.ipFamilyPolicy ??= previous.ipFamilyPolicy;
  if (!isExposed(next)) return;
  for (const port of next.ports ?? []) {
    const before = (previous.ports ?? []).find((each) => each.port === port.port && each.protocol === port.protocol);
    if (before?.nodePort !== undefined && (port.nodePort ?? 0) === 0) port.nodePort = before.nodePort;
  }
}

/** dropTypeDependentFields: what an update leaves as it was goes where the new type has no use for it. */
function dropWhatItsTypeLacks({ spec: next, ...service }: DecodedService, { spec: previous }: DecodedService): void {
  if (next === undefined || previous === undefined) return;
  const drop = (field: keyof DecodedServiceSpec): void => {
    if (semanticEqual(next[field], previous[field])) delete next[field];
  };
  if (next.type === 'ExternalName' && previous.type !== 'ExternalName') {
    if (semanticEqual(next.clusterIPs, previous.clusterIPs)) drop('clusterIP');
    for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'] as const) drop(field);
  }
  if (isExposed(previous) && !isExposed(next)) {
    drop('externalTrafficPolicy');
    const ports = (spec: DecodedServiceSpec): unknown[] => (spec.ports ?? []).map(({ nodePort }) => nodePort);
    if (semanticEqual(ports(next), ports(previous))) for (const port of next.ports ?? []) delete port.nodePort;
  }
  if (previous.type === 'LoadBalancer' && next.type !== 'LoadBalancer') {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'healthCheckNodePort'] as const) drop(field);
  }
  if (next.type !== 'LoadBalancer' && service.status !== undefined) service.status.loadBalancer = {};
}

/** v1.36 lets the name of a Service begin with a digit (RelaxedServiceNameValidation). */
const serviceName: NameRule = (name, isPrefix) => dns1123LabelProblems(isPrefix && name.endsWith('-') ? `${name.slice(0, -1)}a` : name);

const validateService = ({ metadata, spec = {} }: DecodedService): FieldError[] => [
  ...validateObjectMeta(metadata, true, serviceName),
  ...((spec.ports ?? []).length === 0 && spec.clusterIP !== 'None' && spec.type !== 'ExternalName' ? [required('spec.ports')] : []),
  ...validatePorts(spec.ports ?? []),
  ...validateLabels(spec.selector, 'spec.selector'),
  ...validateChoice(spec.sessionAffinity ?? '', 'spec.sessionAffinity', ['ClientIP', 'None']),
  ...validateChoice(spec.type ?? '', 'spec.type', ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']),
  ...validateExternalName(spec),
  ...validateClusterIps(spec),
  ...validateTrafficPolicies(spec),
];

/** validateServiceExternalTrafficPolicy, and the policy for traffic from within. */
function validateTrafficPolicies(spec: DecodedServiceSpec): FieldError[] {
  const { externalTrafficPolicy = '', internalTrafficPolicy, healthCheckNodePort = 0 } = spec;
  const isChecked = spec.type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  const policies = ['Cluster', 'Local'];
  const only = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [
    ...(isExposed(spec) || (spec.externalIPs ?? []).length > 0
      ? validateChoice(externalTrafficPolicy, 'spec.externalTrafficPolicy', policies)
      : externalTrafficPolicy === ''
        ? []
        : [invalid('spec.externalTrafficPolicy', externalTrafficPolicy, 'may only be set for externally-accessible services')]),
    ...(healthCheckNodePort !== 0 && !isChecked ? [invalid('spec.healthCheckNodePort', healthCheckNodePort, only)] : []),
    ...(internalTrafficPolicy === undefined ? [] : validateChoice(internalTrafficPolicy, 'spec.internalTrafficPolicy', policies)),
  ];
}

function validateExternalName({ type, externalName = '' }: DecodedServiceSpec): FieldError[] {
  if (type !== 'ExternalName') return [];
  if (externalName === '') return [required('spec.externalName')];
  return validateFormat(externalName.replace(/\.$/, ''), 'spec.externalName', dns1123SubdomainProblems);
}

function validatePorts(ports: readonly DecodedServicePort[]): FieldError[] {
  const names = new Set<string>();
  const used = new Set<string>();
  return ports.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const { name = '', protocol = '', port: number = 0, targetPort = 0 } = port;
    const errors: FieldError[] = [];
    if (name === '') errors.push(...(ports.length > 1 ? [required(`${path}.name`)] : []));
    else {
      errors.push(...validateFormat(name, `${path}.name`, dns1123LabelProblems));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    errors.push(...validateRange(number, 1, 65_535, `${path}.port`));
    errors.push(...validateChoice(protocol, `${path}.protocol`, ['SCTP', 'TCP', 'UDP']));
    if (typeof targetPort === 'number') errors.push(...validateRange(targetPort, 1, 65_535, `${path}.targetPort`));
    else errors.push(...validateFormat(String(targetPort), `${path}.targetPort`, portNameProblems));
    const key = `${protocol} ${number}`;
    if (used.has(key))
      errors.push(duplicate(path, { Name: '', Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 }));
    used.add(key);
    return errors;
  });
}

function validateClusterIps({ type, clusterIP = '', clusterIPs = [] }: DecodedServiceSpec): FieldError[] {
  if (type === 'ExternalName')
    return clusterIP === '' ? [] : [invalid('spec.clusterIPs[0]', clusterIP, 'may not be set for ExternalName services')];
  if (clusterIPs.length > 0 && clusterIPs[0] !== clusterIP)
    return [invalid('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`')];
  return clusterIPs.flatMap((ip, i) =>
    ip === 'None' || isIP(ip) !== 0
      ? []
      : [invalid(`spec.clusterIPs[${i}]`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')],
  );
}

/** ValidateLoadBalancerStatus. */
function validateLoadBalancerStatus({ spec = {}, status = {} }: DecodedService): FieldError[] {
  const path = 'status.loadBalancer.ingress';
  const ingress = status.loadBalancer?.ingress ?? [];
  if (spec.type !== 'LoadBalancer') {
    return ingress.length === 0 ? [] : [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return ingress.flatMap(({ ip = '', ipMode, hostname = '' }, i) => [
    ...(ip === '' || isIP(ip) !== 0
      ? []
      : [invalid(`${path}[${i}].ip`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]),
    ...(ip === '' && ipMode !== undefined ? [forbidden(`${path}[${i}].ipMode`, 'may not be specified when `ip` is not set')] : []),
    ...(ip !== '' && ipMode !== undefined ? validateChoice(ipMode, `${path}[${i}].ipMode`, ['Proxy', 'VIP']) : []),
    ...(hostname === '' ? [] : validateFormat(hostname, `${path}[${i}].hostname`, dns1123SubdomainProblems)),
    ...(isIP(hostname) === 0 ? [] : [invalid(`${path}[${i}].hostname`, hostname, 'must be a DNS name, not an IP address')]),
  ]);
}

/** The address of a Service stays with it, unless it becomes or was a mere name. */
function validateClusterIpChange({ spec: next = {} }: DecodedService, { spec: previous = {} }: DecodedService): FieldError[] {
  if (next.type === 'ExternalName' || previous.type === 'ExternalName' || semanticEqual(next.clusterIP, previous.clusterIP)) return [];
  return [invalid('spec.clusterIPs[0]', next.clusterIPs ?? [], 'may not change once set')];
}

const table: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Type', 'type determines how the Service is exposed.'),
    column('Cluster-IP', 'clusterIP is the IP address of the service.'),
    column(
      'External-IP',
      'externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.',
    ),
    column('Port(s)', 'The list of ports that are exposed by this service.'),
    AGE_COLUMN,
    column('Selector', 'Route service traffic to pods with label keys and values matching this selector.', { wide: true }),
  ],
  cells: (object, now) => {
    const { metadata, spec = {} } = asService(object);
    const selector = Object.entries(spec.selector ?? {})
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${key}=${value}`);
    return [
      metadata.name,
      spec.type ?? '',
      spec.clusterIP ?? '<none>',
      externalAddress(spec),
      (spec.ports ?? []).map(portText).join(',') || '<none>',
      ageOf(metadata.creationTimestamp, now),
      selector.join(',') || '<none>',
    ];
  },
};

function externalAddress({ type, externalName, externalIPs = [] }: DecodedServiceSpec): string {
  if (type === 'ExternalName') return externalName ?? '';
  if (externalIPs.length > 0) return externalIPs.join(',');
  // Nobody here provides load balancers.
  return type === 'LoadBalancer' ? '<pending>' : '<none>';
}

const portText = ({ port, nodePort = 0, protocol }: DecodedServicePort): string =>
  nodePort === 0 ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`;
