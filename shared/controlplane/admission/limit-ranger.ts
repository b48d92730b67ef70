import { formatQuantity, parseQuantity, type Quantity, toMilliUnits, toUnits } from '../../kube/quantity.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { asPod, type DecodedContainer, type DecodedPodSpec } from '../kinds/decoded.ts';
import { asLimitRange } from '../kinds/limit-range.ts';
import type { DecodedLimit } from '../kinds/limit-range-validation.ts';
import { type Admission, type AdmissionRequest, refusal } from './admission-request.ts';
import { podTotal } from './pod-usage.ts';

/** Says on a pod what it was given. */
const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Admission plugin LimitRanger: new pods get the defaults of their namespace's LimitRanges, and must stay within the bounds. */
export const createLimitRanger = (limitRanges: (namespace: string) => readonly AnyObject[]): Admission => {
  const limitsFor = ({ resource, subresource, operation, namespace }: AdmissionRequest): DecodedLimit[][] => {
    const isNewPod = resource.group === '' && resource.resource === 'pods' && subresource === '' && operation === 'CREATE';
    return isNewPod ? limitRanges(namespace).map((object) => asLimitRange(object).spec?.limits ?? []) : [];
  };
  return {
    mutate: (request) => {
      if (request.object === undefined) return undefined;
      for (const limits of limitsFor(request)) setDefaults(request.object, limits);
      return undefined;
    },
    validate: (request) => {
      for (const limits of limitsFor(request)) {
        const problems = request.object === undefined ? [] : [...new Set(problemsOf(asPod(request.object).spec ?? {}, limits))];
        if (problems.length > 0) throw refusal(request, problems.length === 1 ? `${problems[0]}` : `[${problems.join(', ')}]`);
      }
      return undefined;
    },
  };
};

type Amounts = Readonly<Record<string, string>>;

function setDefaults(object: AnyObject, limits: readonly DecodedLimit[]): void {
  const forContainers = limits.filter(({ type }) => type === 'Container');
  const given = {
    limits: Object.assign({}, ...forContainers.map((limit) => limit.default)) as Amounts,
    requests: Object.assign({}, ...forContainers.map(({ defaultRequest }) => defaultRequest)) as Amounts,
  };
  const { containers, initContainers } = asPod(object).spec ?? {};
  const said = [
    ...(containers ?? []).flatMap((container) => completeContainer(container, given, 'container')),
    ...(initContainers ?? []).flatMap((container) => completeContainer(container, given, 'init container')),
  ];
  if (said.length === 0) return;
  object.metadata.annotations = { ...object.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${said.join('; ')}` };
}

/** Returns what was added, as the annotation words it. */
function completeContainer(
  container: DecodedContainer,
  given: { readonly limits: Amounts; readonly requests: Amounts },
  what: string,
): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const own = container.resources?.[list] ?? {};
    const missing = Object.keys(given[list]).filter((name) => own[name] === undefined);
    if (missing.length === 0) return [];
    container.resources = { ...container.resources, [list]: { ...given[list], ...own } };
    return [`${missing.toSorted().join(', ')} ${list === 'requests' ? 'request' : 'limit'} for ${what} ${container.name ?? ''}`];
  });
}

/** PodValidateLimitFunc. */
function problemsOf(spec: DecodedPodSpec, limits: readonly DecodedLimit[]): string[] {
  return limits.flatMap((limit) => {
    switch (limit.type) {
      case 'Container':
        return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources = {} }) =>
          violations(limit, resources.requests ?? {}, resources.limits ?? {}),
        );
      case 'Pod':
        return violations(limit, podTotal(spec, 'requests'), podTotal(spec, 'limits'));
      default:
        return [];
    }
  });
}

/** The bound of one resource, and what is asked for. */
type Demand = {
  readonly resource: string;
  readonly type: string;
  readonly bound: Quantity;
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
};

function violations({ type = '', min, max, maxLimitRequestRatio }: DecodedLimit, requests: Amounts, limits: Amounts): string[] {
  const check = (bounds: Amounts | undefined, problemOf: (demand: Demand) => string | undefined): string[] =>
    Object.entries(bounds ?? {}).flatMap(([resource, bound]) => {
      const [request, limit] = [requests, limits].map((amounts) =>
        amounts[resource] === undefined ? undefined : parseQuantity(amounts[resource]),
      );
      return problemOf({ resource, type, bound: parseQuantity(bound), request, limit }) ?? [];
    });
  return [...check(min, belowMinimum), ...check(max, aboveMaximum), ...check(maxLimitRequestRatio, aboveRatio)];
}

function belowMinimum(demand: Demand): string | undefined {
  const { resource, type, bound, request, limit } = demand;
  const { ofRequest, ofLimit, ofBound } = comparable(demand);
  const rule = `minimum ${resource} usage per ${type} is ${formatQuantity(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (ofRequest < ofBound) return `${rule}, but request is ${formatQuantity(request)}`;
  return limit !== undefined && ofLimit < ofBound ? `${rule}, but limit is ${formatQuantity(limit)}` : undefined;
}

function aboveMaximum(demand: Demand): string | undefined {
  const { resource, type, bound, request, limit } = demand;
  const { ofRequest, ofLimit, ofBound } = comparable(demand);
  const rule = `maximum ${resource} usage per ${type} is ${formatQuantity(bound)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (ofLimit > ofBound) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return request !== undefined && ofRequest > ofBound ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function aboveRatio(demand: Demand): string | undefined {
  const { resource, type, bound } = demand;
  const { ofRequest, ofLimit } = comparable(demand);
  const rule = `${resource} max limit to request ratio per ${type} is ${formatQuantity(bound)}`;
  if (ofRequest === 0n) return `${rule}, but no request is specified or request is 0`;
  if (ofLimit === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(ofLimit) / Number(ofRequest);
  return ratio * 1000 > Number(toMilliUnits(bound)) ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** Above this, thousandths do not fit an int64 (resource.MaxMilliValue); whole units are compared then. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;
const NOTHING: Quantity = parseQuantity(0);

function comparable({ request = NOTHING, limit = NOTHING, bound }: Demand): { ofRequest: bigint; ofLimit: bigint; ofBound: bigint } {
  const value = [request, limit, bound].every((each) => toUnits(each) <= MAX_MILLI_VALUE) ? toMilliUnits : toUnits;
  return { ofRequest: value(request), ofLimit: value(limit), ofBound: value(bound) };
}
