import { parseQuantity, toMilliUnits } from '../../kube/quantity.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';

/** GetWarningsForPodSpec, as far as templates of Jobs meet it. */
export const podSpecWarnings = (spec: DecodedPodSpec, path: string): string[] => {
  const warnings: string[] = [];
  const deprecatedKeys = Object.keys(spec.nodeSelector ?? {}).filter((key) => DEPRECATED_NODE_LABELS.has(key));
  for (const key of deprecatedKeys) warnings.push(`${path}.nodeSelector[${key}]: ${DEPRECATED_NODE_LABELS.get(key)}`);
  for (const [i, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    if (name.trim() === '') warnings.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ${JSON.stringify(name)}`);
  }
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (spec[list] ?? []).entries()) warnings.push(...containerWarnings(container, `${path}.${list}[${i}]`));
  }
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  return warnings;
};

const DEPRECATED_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
]);

const containerWarnings = (container: DecodedContainer, path: string): string[] => [
  ...fractionWarnings(container, path),
  ...envWarnings(container, path),
  ...portWarnings(container, path),
];

const fractionWarnings = ({ resources = {} }: DecodedContainer, path: string): string[] =>
  (['limits', 'requests'] as const).flatMap((list) =>
    ['memory', 'ephemeral-storage'].flatMap((name) => {
      const amount = resources[list]?.[name];
      if (amount === undefined || toMilliUnits(parseQuantity(amount)) % 1000n === 0n) return [];
      return [`${path}.resources.${list}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
    }),
  );

/** A later definition that builds on the earlier one is meant so. */
const envWarnings = ({ env = [] }: DecodedContainer, path: string): string[] => {
  const names = new Set<string>();
  return env.flatMap(({ name = '', value = '', valueFrom }, i) => {
    const reference = `$(${name})`;
    const hides = names.has(name) && (valueFrom !== undefined || value === reference || !value.includes(reference));
    names.add(name);
    return hides ? [`${path}.env[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be unexpected`] : [];
  });
};

const portWarnings = ({ ports = [] }: DecodedContainer, path: string): string[] =>
  ports.flatMap((port, i) => {
    const first = ports.findIndex(({ containerPort, protocol }) => containerPort === port.containerPort && protocol === port.protocol);
    return first === i ? [] : [`${path}.ports[${i}]: duplicate port definition with ${path}.ports[${first}]`];
  });
