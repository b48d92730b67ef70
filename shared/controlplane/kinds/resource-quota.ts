import type { V1ResourceQuotaSpec, V1ResourceQuotaStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { validateResourceQuantity } from './container-resources-validation.ts';
import type { Decoded } from './decoded.ts';
import { keepSpec, restore } from './generation.ts';
import { qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { isStandardResource } from './resource-names.ts';
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
  validateUpdate: (next, previous) => [
    ...validateQuota(asQuota(next)),
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateAmounts(asQuota(next).spec?.hard, 'spec.hard'),
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
  ...validateAmounts(quota.spec?.hard, 'spec.hard'),
];

const validateScopesStay = (next: readonly string[], previous: readonly string[]): FieldError[] =>
  new Set([...next, ...previous]).size === next.length && next.length === previous.length
    ? []
    : [invalid('spec.scopes', next, 'field is immutable')];

const validateAmounts = (amounts: Readonly<Record<string, string>> | undefined, path: string): FieldError[] =>
  Object.entries(amounts ?? {}).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`;
    const errors = validateFormat(name, at, qualifiedNameProblems);
    // `count/jobs.batch` counts objects of any kind.
    if (errors.length === 0 && !name.includes('/') && !isStandardResource(name) && !name.startsWith('requests.')) {
      errors.push(invalid(at, name, 'must be a standard resource for quota'));
    }
    return [...errors, ...validateResourceQuantity(name, amount, at)];
  });
