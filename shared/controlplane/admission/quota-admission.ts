import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { type Admission, type GroupVersionResource, refusal } from './admission-request.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { asPod } from '../kinds/decoded.ts';
import { containersWithout, podUsage, type Usage } from './pod-usage.ts';
import { asQuota, type DecodedQuota } from '../kinds/resource-quota.ts';
import { isInQuotaScope, scopesOf } from './quota-scopes.ts';

export type QuotaLookups = {
  /** The ResourceQuotas of a namespace. */
  quotas(namespace: string): readonly AnyObject[];
  /** The objects of a resource in a namespace. */
  objects(resource: GroupVersionResource, namespace: string): readonly AnyObject[];
  /** Stores a quota whose status has changed. */
  store(quota: AnyObject): void;
};

/** Resources whose number has a name of its own, besides `count/...`. */
const COUNTED_BY_NAME = new Set(['pods', 'configmaps', 'secrets', 'resourcequotas']);

/**
 * Admission plugin ResourceQuota. Where something maintains the status of a quota (a quota controller does), its numbers count and
 * grow with every admitted object, as upstream; where nothing does, the spec is the limit and what is there is counted.
 */
export const createQuotaAdmission = (lookups: QuotaLookups): Admission => ({
  mutate: () => undefined,
  validate: (request) => {
    const { operation, subresource, resource, namespace, object, dryRun } = request;
    if (operation !== 'CREATE' || subresource !== '' || namespace === '' || object === undefined) return undefined;
    const quotas = lookups.quotas(namespace).map(asQuota);
    if (quotas.length === 0) return undefined;
    const requested = usageOf(resource, object);
    const isPod = resource.group === '' && resource.resource === 'pods';
    const charged: AnyObject[] = [];
    for (const quota of quotas) {
      if (isPod ? !isInScope(quota, object) : scopesOf(quota).length > 0) continue;
      const decision = judge(quota, requested, isPod ? object : undefined, () => usedUp(lookups, resource, namespace, quota));
      if ('refusal' in decision) throw refusal(request, decision.refusal);
      if (decision.charged !== undefined) charged.push(decision.charged);
    }
    if (!dryRun) for (const quota of charged) lookups.store(quota);
    return undefined;
  },
});

const usageOf = (resource: GroupVersionResource, object: AnyObject): Usage => {
  const { group, resource: plural } = resource;
  const count = `count/${group === '' ? plural : `${plural}.${group}`}`;
  const isPod = group === '' && plural === 'pods';
  return {
    [count]: '1',
    ...(group === '' && COUNTED_BY_NAME.has(plural) ? { [plural]: '1' } : {}),
    ...(isPod ? podUsage(asPod(object).spec ?? {}) : {}),
  };
};

type Decision = { readonly refusal: string } | { readonly charged?: AnyObject };

const judge = (quota: DecodedQuota, requested: Usage, pod: AnyObject | undefined, countUsed: () => Usage): Decision => {
  const maintained = quota.status?.hard !== undefined;
  const hard = (maintained ? quota.status?.hard : quota.spec?.hard) ?? {};
  const limited = Object.keys(hard)
    .filter((resource) => resource in requested)
    .toSorted();
  const missing = pod === undefined ? [] : missingSpecifications(hard, pod);
  if (missing.length > 0) return { refusal: `failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}` };
  if (limited.length === 0) return {};
  const used = maintained ? (quota.status?.used ?? {}) : countUsed();
  const unknown = limited.filter((resource) => used[resource] === undefined);
  if (maintained && unknown.length > 0) {
    return { refusal: `status unknown for quota: ${quota.metadata.name}, resources: ${unknown.join(',')}` };
  }
  const after = Object.fromEntries(limited.map((resource) => [resource, sum(used[resource], requested[resource])]));
  const exceeded = limited.filter((resource) => compareQuantities(parse(after[resource]), parse(hard[resource])) > 0);
  if (exceeded.length > 0) {
    const show = (amounts: Usage): string =>
      exceeded.map((resource) => `${resource}=${formatQuantity(parse(amounts[resource]))}`).join(',');
    return {
      refusal: `exceeded quota: ${quota.metadata.name}, requested: ${show(requested)}, used: ${show(used)}, limited: ${show(hard)}`,
    };
  }
  return maintained ? { charged: { ...quota, status: { ...quota.status, used: { ...used, ...after } } } } : {};
};

const parse = (amount: string | undefined) => parseQuantity(amount ?? '0');
const sum = (a: string | undefined, b: string | undefined): string => formatQuantity(addQuantities(parse(a), parse(b)));

/** Whatever of cpu and memory a quota limits, every container must say. */
const missingSpecifications = (hard: Usage, pod: AnyObject): string[] =>
  Object.keys(hard)
    .toSorted()
    .flatMap((resource) => {
      const containers = containersWithout(asPod(pod).spec ?? {}, resource);
      return containers.length === 0 ? [] : [`${resource} for: ${containers.join(',')}`];
    });

const usedUp = (lookups: QuotaLookups, resource: GroupVersionResource, namespace: string, quota: DecodedQuota): Usage => {
  const isPod = resource.group === '' && resource.resource === 'pods';
  const counted = lookups.objects(resource, namespace).filter((object) => !isPod || (isStillRunning(object) && isInScope(quota, object)));
  const total: Record<string, string> = {};
  for (const object of counted) {
    for (const [name, amount] of Object.entries(usageOf(resource, object))) total[name] = sum(total[name], amount);
  }
  return total;
};

/** Pods that have ended use nothing any more. */
const isStillRunning = (pod: AnyObject): boolean => !['Succeeded', 'Failed'].includes(asPod(pod).status?.phase ?? '');

const isInScope = (quota: DecodedQuota, pod: AnyObject): boolean =>
  scopesOf(quota).every((scope) => isInQuotaScope(scope, asPod(pod).spec ?? {}));
