import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { parseQuantity } from '../../../shared/kube/quantity.ts';
import { chargeName, plus, times, truncated, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import type { ClusterQueueSpec } from '../../api/cluster-queue.ts';

/**
 * Charges of a ClusterQueue in place of what pods request (KEP-2937 of Kueue): amounts of an input resource become amounts of its
 * outputs, beside the input (Retain) or in its place (Replace).
 */
export type ResourceTransformations = {
  /** As the ClusterQueue has them, by which a change is seen. */
  readonly written: DeepReadonly<ClusterQueueSpec['resourceTransformations']>;
  readonly byInput: ReadonlyMap<string, Transformation>;
  /** Requests whose names begin so are dropped before anything is transformed. */
  readonly excludedPrefixes: readonly string[];
};
type Transformation = {
  readonly isRetained: boolean;
  /** The requested amount of this resource multiplies the outputs, if the pod requests it. */
  readonly multiplyBy: string | undefined;
  /** Amounts for each unit of the input, in billionths. */
  readonly outputs: readonly (readonly [string, bigint])[];
};

/** The transformations of a ClusterQueue; undefined if it charges what pods request. */
export function transformationsOf({
  resourceTransformations = [],
  excludeResourcePrefixes = [],
}: DeepReadonly<ClusterQueueSpec>): ResourceTransformations | undefined {
  if (resourceTransformations.length === 0) return undefined;
  const byInput = resourceTransformations.map(({ input, strategy, multiplyBy, outputs = {} }): [string, Transformation] => [
    input,
    {
      isRetained: strategy !== 'Replace',
      multiplyBy,
      outputs: Object.entries(outputs).map(([output, factor]) => [output, parseQuantity(factor).nanos]),
    },
  ]);
  return { written: resourceTransformations, byInput: new Map(byInput), excludedPrefixes: excludeResourcePrefixes };
}

/** The resources that transformations charge, whatever pods request. */
export const outputsOf = ({ byInput }: ResourceTransformations): ReadonlySet<string> =>
  new Set([...byInput.values()].flatMap(({ outputs }) => outputs.map(([output]) => output)));

/** An output of one input of a Workload: `amount` for all pods, below 0 where it is an allowance. */
export type Contribution = { readonly input: string; readonly multiplyBy?: string; readonly output: string; readonly amount: Amount };

/** Requests of equal pods together with what quota is charged for them: one entry under its {@link chargeName} for each resource. */
export function withCharges(requests: Requests, transformations: ResourceTransformations): Requests {
  const pods = requests.get('pods') ?? ZERO;
  const charges = new Map<string, Amount>();
  for (const [resource, amount] of requests) if (isRetained(resource, transformations)) charges.set(resource, amount);
  for (const [output, sum] of generated(requests, transformations)) {
    const amount = times(roundedUp(output, sum), pods);
    charges.set(output, truncated(plus(charges.get(output) ?? ZERO, amount)));
  }
  return new Map([...requests, ...[...charges].map(([resource, amount]) => [chargeName(resource), amount] as const)]);
}

/** Which inputs of these requests lead to which outputs, for an explanation of the charge. */
export const contributionsTo = (requests: Requests, transformations: ResourceTransformations): Contribution[] =>
  products(requests, transformations).map(({ input, multiplyBy, output, product }) => ({
    input,
    ...(multiplyBy === undefined ? {} : { multiplyBy }),
    output,
    amount: times(roundedUp(output, product), requests.get('pods') ?? 0),
  }));

const isExcluded = (resource: string, { excludedPrefixes }: ResourceTransformations): boolean =>
  excludedPrefixes.some((prefix) => resource.startsWith(prefix));

const isRetained = (resource: string, transformations: ResourceTransformations): boolean =>
  !isExcluded(resource, transformations) && transformations.byInput.get(resource)?.isRetained !== false;

type Product = { readonly input: string; readonly multiplyBy?: string; readonly output: string; readonly product: bigint };

/** The outputs of each input for one pod, exactly: in units of 10^-27. Pods themselves are no resource that pods request. */
function products(requests: Requests, transformations: ResourceTransformations): Product[] {
  const pods = requests.get('pods') ?? 0;
  const nanosOfPod = (resource: string): bigint => {
    const amount = requests.get(resource) ?? 0;
    return pods === 0 ? 0n : BigInt(Math.ceil(amount / pods)) * nanosPerAmount(resource);
  };
  return [...requests.keys()].flatMap((input): Product[] => {
    const transformation = transformations.byInput.get(input);
    if (transformation === undefined || input === 'pods' || isExcluded(input, transformations)) return [];
    const { multiplyBy, outputs } = transformation;
    const isMultiplied =
      multiplyBy !== undefined && multiplyBy !== 'pods' && requests.has(multiplyBy) && !isExcluded(multiplyBy, transformations);
    const value = nanosOfPod(input) * (isMultiplied ? nanosOfPod(multiplyBy) : NANOS);
    return outputs.map(([output, factor]) => ({ input, ...(isMultiplied ? { multiplyBy } : {}), output, product: value * factor }));
  });
}

/** The sum of each output for one pod. An allowance lowers what transformations charge, and nothing else. */
function generated(requests: Requests, transformations: ResourceTransformations): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { output, product } of products(requests, transformations)) sums.set(output, (sums.get(output) ?? 0n) + product);
  return new Map([...sums].map(([output, sum]) => [output, sum < 0n ? 0n : sum]));
}

const NANOS = 1_000_000_000n;
const nanosPerAmount = (resource: string): bigint => (resource === 'cpu' ? 1_000_000n : NANOS);

/** As Kueue counts: what a pod is charged is rounded up. */
function roundedUp(resource: string, product: bigint): Amount {
  const unit = nanosPerAmount(resource) * NANOS * NANOS;
  return truncated(Number(product > 0n ? (product + unit - 1n) / unit : product / unit));
}
