import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import type { DecodedContainer, DecodedPodSpec } from '../kinds/decoded.ts';
import { isExtendedResource, isHugePages } from '../kinds/resource-names.ts';

/** Amounts by the name under which a quota limits them. */
export type Usage = Readonly<Record<string, string>>;
type Amounts = Readonly<Record<string, string>>;

/** Resources that a pod may ask for as a whole. */
const OF_A_POD = new Set(['cpu', 'memory']);
const LIMITABLE = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** What a pod takes from a quota (podCompute usage): requests under two names, limits under one. */
export const podUsage = (spec: DecodedPodSpec): Usage => {
  const usage: Record<string, string> = { pods: '1' };
  for (const [name, amount] of Object.entries(withOverhead(spec, 'requests'))) {
    if (LIMITABLE.has(name) || isHugePages(name)) usage[name] = amount;
    if (LIMITABLE.has(name) || isHugePages(name) || isExtendedResource(name)) usage[`requests.${name}`] = amount;
  }
  for (const [name, amount] of Object.entries(withOverhead(spec, 'limits'))) if (LIMITABLE.has(name)) usage[`limits.${name}`] = amount;
  return usage;
};

/** What a sandbox costs comes on top; it limits nothing by itself. */
const withOverhead = (spec: DecodedPodSpec, list: 'requests' | 'limits'): Amounts => {
  const total = podTotal(spec, list);
  const counted = Object.entries(spec.overhead ?? {}).filter(([name]) => list === 'requests' || total[name] !== undefined);
  return combine(total, Object.fromEntries(counted), add);
};

/**
 * What the containers of a pod ask for together: they run side by side, init containers before them and one by one, sidecars beside
 * both. What the pod says for itself counts instead.
 */
export const podTotal = (spec: DecodedPodSpec, list: 'requests' | 'limits'): Amounts => {
  let together: Amounts = {};
  for (const container of spec.containers ?? []) together = combine(together, container.resources?.[list] ?? {}, add);
  let sidecars: Amounts = {};
  let peak: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const own = container.resources?.[list] ?? {};
    if (container.restartPolicy === 'Always') sidecars = combine(sidecars, own, add);
    peak = combine(peak, container.restartPolicy === 'Always' ? sidecars : combine(sidecars, own, add), larger);
  }
  const own = Object.entries(spec.resources?.[list] ?? {}).filter(([name]) => OF_A_POD.has(name) || isHugePages(name));
  return { ...combine(combine(together, sidecars, add), peak, larger), ...Object.fromEntries(own) };
};

/** By way of a map, because names of resources come from users: `constructor` is one. */
const combine = (a: Amounts, b: Amounts, how: (x: string, y: string) => string): Amounts => {
  const both = new Map(Object.entries(a));
  for (const [name, amount] of Object.entries(b)) {
    const known = both.get(name);
    both.set(name, known === undefined ? amount : how(known, amount));
  }
  return Object.fromEntries(both);
};

const add = (x: string, y: string): string => formatQuantity(addQuantities(parseQuantity(x), parseQuantity(y)));
const larger = (x: string, y: string): string => (compareQuantities(parseQuantity(x), parseQuantity(y)) >= 0 ? x : y);

/** Names of the containers that do not say how much they ask of a resource which a quota limits; none for other resources. */
export const containersWithout = (spec: DecodedPodSpec, limited: string): string[] => {
  const amountOf = amountReader(limited);
  if (amountOf === undefined) return [];
  const silent = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].filter((container) => amountOf(container) === undefined);
  return silent.map(({ name }) => name ?? '').toSorted();
};

const amountReader = (limited: string): ((container: DecodedContainer) => string | undefined) | undefined => {
  const [list, name] = limited.startsWith('limits.')
    ? (['limits', limited.slice(7)] as const)
    : (['requests', limited.replace(/^requests\./, '')] as const);
  return LIMITABLE.has(name) && name !== 'ephemeral-storage' ? (container) => container.resources?.[list]?.[name] : undefined;
};
