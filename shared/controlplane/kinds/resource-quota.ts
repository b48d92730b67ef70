import type { V1ResourceQuotaSpec, V1ResourceQuotaStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';
import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateResourceQuantity } from './container-resources-validation.ts';
import type { Decoded } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validateQuotaScopes } from './quota-scope-validation.ts';
import { validateQuotaResourceName } from './resource-names.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

export type DecodedQuota = AnyObject & {
  spec?: Decoded<Wire<V1ResourceQuotaSpec>> | undefined;
  status?: Decoded<Wire<V1ResourceQuotaStatus>> | undefined;
};
/** The registry hands this strategy decoded ResourceQuotas only. */
export const asQuota = (object: AnyObject): DecodedQuota => object as DecodedQuota;

/** core/v1 ResourceQuota. */
export const resourceQuotaStrategy: ResourceStrategy = {
  prepareForCreate: (object) => {
    object['status'] = {};
  },
  validateCreate: (object) => validateQuota(asQuota(object)),
  prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
  warningsOnCreate: (object) => warnOfRequestsAboveLimits(asQuota(object).spec?.hard),
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateQuotaSpec(asQuota(next).spec ?? {}),
    ...validateScopesStay(asQuota(next).spec?.scopes ?? [], asQuota(previous).spec?.scopes ?? []),
  ],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (next, previous) => [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateAmounts(asQuota(next).status?.hard, 'status.hard'),
      ...validateAmounts(asQuota(next).status?.used, 'status.used'),
    ],
  },
  returnsDeletedObject: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('Request', 'Request represents a minimum amount of cpu/memory that a container may consume.'),
      column('Limit', 'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.'),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, status = {} } = asQuota(object);
      const hard = Object.entries(status.hard ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
      const show = (entries: readonly [string, string][]): string =>
        entries.map(([name, amount]) => `${name}: ${status.used?.[name] ?? '0'}/${amount}`).join(', ');
      const [limits, requests] = [true, false].map((limit) => hard.filter(([name]) => name.startsWith('limits') === limit));
      return [metadata.name, show(requests ?? []), show(limits ?? []), ageOf(metadata.creationTimestamp, now)];
    },
  },
};

const validateQuota = (quota: DecodedQuota): FieldError[] => [
  ...validateObjectMeta(quota.metadata, true, subdomainName),
  ...validateQuotaSpec(quota.spec ?? {}),
];

/** ValidateResourceQuotaSpec. */
const validateQuotaSpec = (spec: NonNullable<DecodedQuota['spec']>): FieldError[] => [
  ...validateAmounts(spec.hard, 'spec.hard'),
  ...validateQuotaScopes(spec),
];

const validateScopesStay = (next: readonly string[], previous: readonly string[]): FieldError[] =>
  next.every((scope) => previous.includes(scope)) && previous.every((scope) => next.includes(scope))
    ? []
    : [invalid('spec.scopes', next, 'field is immutable')];

const validateAmounts = (amounts: Readonly<Record<string, string>> | undefined, path: string): FieldError[] =>
  Object.entries(amounts ?? {}).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`;
    return [...validateQuotaResourceName(name, at), ...validateResourceQuantity(name, amount, at)];
  });

/** What is usually asked for and limited together. */
const PAIRED = ['cpu', 'memory', 'storage', 'ephemeral-storage'];

/** A quota may allow more requests than limits, but that is hardly meant. */
const warnOfRequestsAboveLimits = (hard: Readonly<Record<string, string>> = {}): string[] =>
  PAIRED.flatMap((name) => {
    const limit = hard[`limits.${name}`];
    const bare = name === 'cpu' || name === 'memory' ? [name] : [];
    const requests = [`requests.${name}`, ...bare].find((each) => hard[each] !== undefined);
    const request = requests === undefined ? undefined : hard[requests];
    if (limit === undefined || request === undefined || compareQuantities(parseQuantity(request), parseQuantity(limit)) <= 0) return [];
    return [`ResourceQuota ${requests} (${request}) should be less than limits.${name} (${limit})`];
  });
