import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../kube/quantity.ts';
import { duplicate, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { validateContainerResourceName, validateResourceName } from './container-resources-validation.ts';
import { mayBeOvercommitted } from './resource-names.ts';
import { NAME_COLUMN, column } from './table-columns.ts';

type Amounts = Record<string, string> | undefined;
/** What one kind of thing may use: a container, a pod, or a claim. The client's type has another name for `default`. */
export type Limit = {
  type?: string;
  max?: Amounts;
  min?: Amounts;
  default?: Amounts;
  defaultRequest?: Amounts;
  maxLimitRequestRatio?: Amounts;
};
type DecodedLimitRange = AnyObject & { spec?: { limits?: Limit[] } };

/** The registry hands this strategy decoded LimitRanges only. */
export const asLimitRange = (object: AnyObject): DecodedLimitRange => object as DecodedLimitRange;

/** core/v1 LimitRange. */
export const limitRangeStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    for (const limit of asLimitRange(object).spec?.limits ?? []) if (limit.type === 'Container') applyContainerDefaults(limit);
  },
  validateCreate: (object) => validateLimitRange(asLimitRange(object)),
  validateUpdate: (next) => validateLimitRange(asLimitRange(next)),
  table: {
    columns: [
      NAME_COLUMN,
      column('Created At', 'CreationTimestamp is a timestamp representing the server time when this object was created.', { type: 'date' }),
    ],
    cells: ({ metadata }, now) => [metadata.name, ageOf(metadata.creationTimestamp, now)],
  },
};

/** A container may use the most where nothing else is said, and requests what it may use, else the least. */
const applyContainerDefaults = (limit: Limit): void => {
  const standard = { ...limit.max, ...limit.default };
  const requested = { ...limit.min, ...standard, ...limit.defaultRequest };
  if (Object.keys(standard).length > 0) limit.default = standard;
  if (Object.keys(requested).length > 0) limit.defaultRequest = requested;
};

const validateLimitRange = ({ metadata, spec = {} }: DecodedLimitRange): FieldError[] => {
  const types = new Set<string>();
  return [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...(spec.limits ?? []).flatMap((limit, i) => {
      const { type = '' } = limit;
      const path = `spec.limits[${i}]`;
      const errors = validateType(type, `${path}.type`);
      if (types.has(type)) errors.push(duplicate(`${path}.type`, type));
      types.add(type);
      return [...errors, ...validateLimit(limit, path)];
    }),
  ];
};

const STANDARD_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

const validateType = (type: string, path: string): FieldError[] => {
  const errors = validateFormat(type, path, qualifiedNameProblems);
  if (errors.length > 0 || type.includes('/') || STANDARD_TYPES.includes(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
};

const AMOUNTS = ['max', 'min', 'default', 'defaultRequest'] as const;
type List = (typeof AMOUNTS)[number] | 'maxLimitRequestRatio';

const validateLimit = (limit: Limit, path: string): FieldError[] => {
  const { type = '' } = limit;
  const errors: FieldError[] = [];
  for (const list of AMOUNTS) {
    if (type === 'Pod' && list.startsWith('default')) {
      if (Object.keys(limit[list] ?? {}).length > 0) errors.push(forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'"));
    } else errors.push(...validateNames(limit, list, path));
  }
  if (type === 'PersistentVolumeClaim' && amountOf(limit.min, 'storage') === undefined && amountOf(limit.max, 'storage') === undefined) {
    errors.push(required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'));
  }
  errors.push(...validateNames(limit, 'maxLimitRequestRatio', path));
  const names = new Set(AMOUNTS.flatMap((list) => (type === 'Pod' && list.startsWith('default') ? [] : Object.keys(limit[list] ?? {}))));
  return [...errors, ...[...names].toSorted().flatMap((name) => validateAmounts(limit, name, path))];
};

const validateNames = (limit: Limit, list: List, path: string): FieldError[] => {
  const rule = limit.type === 'Pod' || limit.type === 'Container' ? validateContainerResourceName : validateResourceName;
  return Object.keys(limit[list] ?? {}).flatMap((name) => rule(name, `${path}.${list}[${name}]`));
};

/** What is said of one resource has to agree. */
const validateAmounts = (limit: Limit, name: string, path: string): FieldError[] => {
  const amountIn = (list: List): Quantity | undefined => amountOf(limit[list], name);
  const [max, min] = [amountIn('max'), amountIn('min')];
  const isPod = limit.type === 'Pod';
  const [standard, requested] = [isPod ? undefined : amountIn('default'), isPod ? undefined : amountIn('defaultRequest')];
  const errors: FieldError[] = [];
  const inOrder = (low: Named, high: Named, at: List, blamed: Quantity | undefined): void => {
    if (low[1] === undefined || high[1] === undefined || blamed === undefined || compareQuantities(low[1], high[1]) <= 0) return;
    const why = `${low[0]} value ${formatQuantity(low[1])} is greater than ${high[0]} value ${formatQuantity(high[1])}`;
    errors.push(invalid(`${path}.${at}[${name}]`, formatQuantity(blamed), why));
  };
  inOrder(['min', min], ['max', max], 'min', min);
  inOrder(['min', min], ['default request', requested], 'defaultRequest', requested);
  inOrder(['default request', requested], ['max', max], 'defaultRequest', requested);
  inOrder(['default request', requested], ['default limit', standard], 'defaultRequest', requested);
  inOrder(['min', min], ['default', standard], 'default', min);
  inOrder(['default', standard], ['max', max], 'default', max);
  errors.push(...validateRatio(amountIn('maxLimitRequestRatio'), min, max, `${path}.maxLimitRequestRatio[${name}]`));
  if (!mayBeOvercommitted(name) && standard !== undefined && requested !== undefined && compareQuantities(standard, requested) !== 0) {
    const [whole, part] = [formatQuantity(standard), formatQuantity(requested)];
    const why = `default value ${whole} must equal to defaultRequest value ${part} in ${name}`;
    errors.push(invalid(`${path}.defaultRequest[${name}]`, part, why));
  }
  return errors;
};
type Named = readonly [string, Quantity | undefined];

const amountOf = (amounts: Amounts, name: string): Quantity | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, name) ? parseQuantity(amounts[name] ?? '') : undefined;

const validateRatio = (ratio: Quantity | undefined, min: Quantity | undefined, max: Quantity | undefined, path: string): FieldError[] => {
  if (ratio === undefined) return [];
  const text = formatQuantity(ratio);
  const errors: FieldError[] = [];
  if (compareQuantities(ratio, parseQuantity('1')) < 0) errors.push(invalid(path, text, `ratio ${text} is less than 1`));
  if (min !== undefined && max !== undefined) {
    const possible = Number(max.nanos) / Number(min.nanos);
    if (Number(ratio.nanos) / 1e9 > possible) {
      errors.push(invalid(path, text, `ratio ${text} is greater than max/min = ${possible.toFixed(6)}`));
    }
  }
  return errors;
};
