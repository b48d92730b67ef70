import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';
import type { DecodedPodSpec } from './decoded.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Amounts = Readonly<Record<string, string>>;
const COMPUTE = ['cpu', 'memory'] as const;

/** How a pod fares when its node runs short (ComputePodQOS): only cpu and memory count, and all containers together. */
export const qosClassOf = (spec: DecodedPodSpec): QosClass => {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources ?? {});
  const all = spec.resources?.limits || spec.resources?.requests ? [spec.resources] : containers;
  const asks = all.some(({ requests, limits }) => COMPUTE.some((name) => isPositive(requests, name) || isPositive(limits, name)));
  if (!asks) return 'BestEffort';
  const exact = all.every(({ requests, limits }) => COMPUTE.every((name) => isPositive(limits, name) && isSame(requests, limits, name)));
  return exact ? 'Guaranteed' : 'Burstable';
};

const isPositive = (amounts: Amounts | undefined, name: string): boolean => {
  const amount = amounts?.[name];
  return amount !== undefined && parseQuantity(amount).nanos > 0n;
};

const isSame = (requests: Amounts | undefined, limits: Amounts | undefined, name: string): boolean => {
  const requested = requests?.[name];
  const limited = limits?.[name];
  if (requested === undefined || limited === undefined) return requested === limited;
  return compareQuantities(parseQuantity(requested), parseQuantity(limited)) === 0;
};
