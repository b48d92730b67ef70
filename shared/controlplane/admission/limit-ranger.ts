import { compareQuantities, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { forbidden } from '../apimachinery/status-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { asPod, type DecodedContainer, type DecodedPod } from '../kinds/decoded.ts';
import { asLimitRange, type Limit } from '../kinds/limit-range.ts';
import type { Admission, AdmissionRequest } from './admission-request.ts';
import { podTotal } from './pod-usage.ts';

type Amounts = Readonly<Record<string, string>>;
type Resources = { readonly requests: Amounts; readonly limits: Amounts };

/** Admission plugin LimitRanger, for pods: gives new ones what they do not say, and refuses those that leave the limits. */
export const createLimitRanger = (limitRangesIn: (namespace: string) => readonly AnyObject[]): Admission => {
  const limitsFor = ({ operation, resource, subresource, namespace }: AdmissionRequest): readonly Limit[][] =>
    operation === 'CREATE' && resource.group === '' && resource.resource === 'pods' && subresource === ''
      ? limitRangesIn(namespace).map((range) => asLimitRange(range).spec?.limits ?? [])
      : [];
  return {
    mutate: (request) => {
      const { object } = request;
      if (object !== undefined) for (const limits of limitsFor(request)) applyDefaults(asPod(object), limits);
      return undefined;
    },
    validate: (request) => {
      const { object, name } = request;
      if (object === undefined) return undefined;
      for (const limits of limitsFor(request)) {
        const problems = [...new Set(problemsOf(asPod(object), limits))];
        if (problems.length === 0) continue;
        const why = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
        throw forbidden(request.resource, object.metadata.name || name || 'Unknown', why);
      }
      return undefined;
    },
  };
};

const ANNOTATION = 'kubernetes.io/limit-ranger';

const applyDefaults = (pod: DecodedPod, limits: readonly Limit[]): void => {
  const forContainers = limits.filter(({ type }) => type === 'Container');
  const standard: Resources = {
    limits: Object.assign({}, ...forContainers.map((limit) => limit.default)) as Amounts,
    requests: Object.assign({}, ...forContainers.map((limit) => limit.defaultRequest)) as Amounts,
  };
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const notes = [
    ...containers.flatMap((container) => fillIn(container, standard, 'container')),
    ...initContainers.flatMap((container) => fillIn(container, standard, 'init container')),
  ];
  if (notes.length === 0) return;
  pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` };
};

/** Says what was set of a container. */
const fillIn = (container: DecodedContainer, standard: Resources, what: string): string[] => {
  const resources = (container.resources ??= {});
  return (['requests', 'limits'] as const).flatMap((list) => {
    const given = resources[list] ?? {};
    const missing = Object.keys(standard[list])
      .filter((name) => !Object.hasOwn(given, name))
      .toSorted();
    if (missing.length === 0) return [];
    resources[list] = { ...given, ...Object.fromEntries(missing.map((name) => [name, standard[list][name] ?? ''])) };
    return [`${missing.join(', ')} ${list.slice(0, -1)} for ${what} ${container.name ?? ''}`];
  });
};

const problemsOf = (pod: DecodedPod, limits: readonly Limit[]): string[] => {
  const spec = pod.spec ?? {};
  return limits.flatMap((limit) => {
    if (limit.type === 'Pod') return problemsWith(limit, { requests: podTotal(spec, 'requests'), limits: podTotal(spec, 'limits') });
    if (limit.type !== 'Container') return [];
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      problemsWith(limit, { requests: resources?.requests ?? {}, limits: resources?.limits ?? {} }),
    );
  });
};

const problemsWith = (limit: Limit, resources: Resources): string[] => {
  const { type = '' } = limit;
  const each = (amounts: Amounts | undefined, judge: (one: Bound) => string | undefined): string[] =>
    Object.keys(amounts ?? {})
      .toSorted()
      .flatMap((name) => {
        const bound = amounts?.[name] ?? '';
        const problem = judge({ name, type, bound, request: own(resources.requests, name), limit: own(resources.limits, name) });
        return problem === undefined ? [] : [problem];
      });
  return [...each(limit.min, belowMinimum), ...each(limit.max, aboveMaximum), ...each(limit.maxLimitRequestRatio, aboveRatio)];
};

type Bound = {
  /** Of the resource. */
  readonly name: string;
  readonly type: string;
  readonly bound: string;
  readonly request: string | undefined;
  readonly limit: string | undefined;
};

const own = (amounts: Amounts, name: string): string | undefined => (Object.hasOwn(amounts, name) ? amounts[name] : undefined);

const belowMinimum = ({ name, type, bound, request, limit }: Bound): string | undefined => {
  const rule = `minimum ${name} usage per ${type} is ${shown(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (order(request, bound) < 0) return `${rule}, but request is ${shown(request)}`;
  return limit !== undefined && order(limit, bound) < 0 ? `${rule}, but limit is ${shown(limit)}` : undefined;
};

const aboveMaximum = ({ name, type, bound, request, limit }: Bound): string | undefined => {
  const rule = `maximum ${name} usage per ${type} is ${shown(bound)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (order(limit, bound) > 0) return `${rule}, but limit is ${shown(limit)}`;
  return request !== undefined && order(request, bound) > 0 ? `${rule}, but request is ${shown(request)}` : undefined;
};

const aboveRatio = ({ name, type, bound, request = '0', limit = '0' }: Bound): string | undefined => {
  const rule = `${name} max limit to request ratio per ${type} is ${shown(bound)}`;
  if (order(request, '0') === 0) return `${rule}, but no request is specified or request is 0`;
  if (order(limit, '0') === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(parseQuantity(limit).nanos) / Number(parseQuantity(request).nanos);
  return ratio > Number(parseQuantity(bound).nanos) / 1e9 ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
};

const order = (a: string, b: string): number => compareQuantities(parseQuantity(a), parseQuantity(b));
const shown = (amount: string): string => formatQuantity(parseQuantity(amount));
