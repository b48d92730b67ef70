import type { DeepReadonly, Container, NamespacedMeta, PodSpec } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { formatAmount, larger, parseRequests, smaller, ZERO, type Requests } from './amount.ts';
import { podRequests } from './pod-requests.ts';

/** The fields of a core/v1 LimitRange that concern pods. The API server has filled in the defaults. */
export type LimitRange = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec?: { limits?: LimitRangeItem[] };
};
type Quantities = Record<string, string>;
export type LimitRangeItem = {
  type: string;
  max?: Quantities;
  min?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
  maxLimitRequestRatio?: Quantities;
};

export const LIMIT_RANGES: Resource<LimitRange> = { group: '', version: 'v1', plural: 'limitranges', kind: 'LimitRange', namespaced: true };

type Ranges = readonly DeepReadonly<LimitRange>[];

/**
 * Defaults of the LimitRanges of a namespace for containers without requests or limits: for each resource the first, by name of the
 * LimitRange.
 */
export function containerDefaults(ranges: Ranges): { readonly limits: Quantities; readonly requests: Quantities } {
  const items = itemsOf(ranges, 'Container').map(({ item }) => item);
  return {
    limits: Object.assign({}, ...items.map((item) => item.default).toReversed()),
    requests: Object.assign({}, ...items.map((item) => item.defaultRequest).toReversed()),
  };
}

/** Why LimitRanges forbid pods like this one, whose defaults are filled in; undefined when they do not. Throws QuantityError. */
export function limitProblem(pod: DeepReadonly<PodSpec>, ranges: Ranges): string | undefined {
  const containers = [...(pod.initContainers ?? []), ...(pod.containers ?? [])];
  for (const { name, item } of itemsOf(ranges, 'Container'))
    for (const container of containers) {
      const problem = containerProblem(container, item);
      if (problem !== undefined) return `limit range ${name}: container ${container.name} ${problem}`;
    }
  const total = podRequests(pod);
  for (const { name, item } of itemsOf(ranges, 'Pod')) {
    const problem = boundsProblem(total, total, item);
    if (problem !== undefined) return `limit range ${name}: a pod ${problem}`;
  }
  return undefined;
}

function containerProblem({ resources }: DeepReadonly<Container>, item: DeepReadonly<LimitRangeItem>): string | undefined {
  const limits = parseRequests(resources?.limits);
  const requests: Requests = new Map([...limits, ...parseRequests(resources?.requests)]);
  const most = new Map([...requests].map(([resource, amount]) => [resource, larger(amount, limits.get(resource) ?? ZERO)]));
  const least = new Map([...requests].map(([resource, amount]) => [resource, smaller(amount, limits.get(resource) ?? amount)]));
  const problem = boundsProblem(least, most, item);
  if (problem !== undefined) return problem;
  for (const [resource, limit] of limits) {
    const request = requests.get(resource) ?? ZERO;
    if (request > limit)
      return `requests ${formatAmount(resource, request)} ${resource}, more than its limit of ${formatAmount(resource, limit)} ${resource}`;
    const ratio = Number(item.maxLimitRequestRatio?.[resource] ?? Number.NaN);
    if (limit > request * ratio) return `has a limit of more than ${ratio} times the ${resource} that it requests`;
  }
  return undefined;
}

function boundsProblem(least: Requests, most: Requests, { min, max }: DeepReadonly<LimitRangeItem>): string | undefined {
  for (const [resource, bound] of parseRequests(max)) {
    const amount = most.get(resource) ?? ZERO;
    if (amount > bound)
      return `asks for ${formatAmount(resource, amount)} ${resource}, and at most ${formatAmount(resource, bound)} ${resource} is allowed`;
  }
  for (const [resource, bound] of parseRequests(min)) {
    const amount = least.get(resource) ?? ZERO;
    if (amount < bound)
      return `asks for ${formatAmount(resource, amount)} ${resource}, and at least ${formatAmount(resource, bound)} ${resource} is needed`;
  }
  return undefined;
}

const itemsOf = (ranges: Ranges, type: 'Container' | 'Pod'): { readonly name: string; readonly item: DeepReadonly<LimitRangeItem> }[] =>
  ranges
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ metadata: { name }, spec }) => (spec?.limits ?? []).filter((item) => item.type === type).map((item) => ({ name, item })));
