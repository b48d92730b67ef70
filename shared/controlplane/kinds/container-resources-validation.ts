import type { Container } from '../../api/kubernetes.ts';
import { compareQuantities, formatQuantity, parseQuantity, QuantityError, toMilliUnits } from '../../kube/quantity.ts';
import { forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import type { Decoded } from './decoded.ts';
import { validateClaimsOfContainer } from './resource-claim-validation.ts';
import { isCount, isExtendedResource, isHugePages, mayBeOvercommitted, validateContainerResourceName } from './resource-names.ts';

type Resources = Decoded<NonNullable<Container['resources']>>;

/** ValidateContainerResourceRequirements. */
export const validateContainerResources = (resources: Resources, path: string, claimNames: ReadonlySet<string>): FieldError[] =>
  validateResources(resources, path, claimNames, validateContainerResourceName);

/** validateOverhead: limits like those of a container. */
export const validateOverhead = (overhead: Resources['limits'], path: string): FieldError[] =>
  overhead === undefined ? [] : validateContainerResources({ limits: overhead }, path, new Set());

type NameRule = (name: string, path: string) => FieldError[];

/** validateResourceRequirements; which resources there may be is `nameRule`'s to say. */
export const validateResources = (
  resources: Resources,
  path: string,
  claimNames: ReadonlySet<string>,
  nameRule: NameRule,
): FieldError[] => {
  const { limits = {}, requests = {}, claims = [] } = resources;
  const amount = (name: string, quantity: string, at: string): FieldError[] => [
    ...nameRule(name, at),
    ...validateResourceQuantity(name, quantity, at),
  ];
  const errors: FieldError[] = [];
  for (const [name, quantity] of Object.entries(limits)) {
    const at = `${path}.limits[${name}]`;
    errors.push(...amount(name, quantity, at), ...validateHugePages(name, quantity, at));
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const at = `${path}.requests[${name}]`;
    errors.push(
      ...amount(name, quantity, at),
      ...validateRequest(name, quantity, limitOf(limits, name), path),
      ...validateHugePages(name, quantity, at),
    );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  return [...errors, ...validateClaimsOfContainer(claims, `${path}.claims`, claimNames)];
};

/** Pages come whole. */
const validateHugePages = (name: string, quantity: string, path: string): FieldError[] => {
  if (!isHugePages(name)) return [];
  const value = parseQuantity(quantity);
  const page = pageSizeOf(name);
  const isDivisible = page !== undefined && value.nanos % page === 0n;
  return isDivisible ? [] : [invalid(path, formatQuantity(value), `${formatQuantity(value)} is not positive integer multiple of ${name}`)];
};

/** In thousand-millionths; undefined for a name that gives no size. */
const pageSizeOf = (name: string): bigint | undefined => {
  try {
    const { nanos } = parseQuantity(name.slice('hugepages-'.length));
    return nanos > 0n && nanos % NANOS === 0n ? nanos : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
};
const NANOS = 10n ** 9n;

/** Names such as `constructor` are found in every object. */
const limitOf = (limits: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(limits, name) ? limits[name] : undefined;

/** ValidateResourceQuantityValue. */
export const validateResourceQuantity = (name: string, quantity: string, path: string): FieldError[] => {
  const value = parseQuantity(quantity);
  const errors: FieldError[] = [];
  if (value.nanos < 0n) errors.push(invalid(path, formatQuantity(value), 'must be greater than or equal to 0'));
  if ((isExtendedResource(name) || isCount(name)) && toMilliUnits(value) % 1000n !== 0n) {
    errors.push(invalid(path, formatQuantity(value), 'must be an integer'));
  }
  return errors;
};

/** What cannot be overcommitted must be limited, and requested as it is limited. */
const validateRequest = (name: string, request: string, limit: string | undefined, path: string): FieldError[] => {
  const overcommit = mayBeOvercommitted(name);
  if (limit === undefined) {
    return overcommit ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const requested = parseQuantity(request);
  const limited = parseQuantity(limit);
  const order = compareQuantities(requested, limited);
  const refuse = (rule: string): FieldError[] => [
    invalid(`${path}.requests`, formatQuantity(requested), `${rule} ${name} limit of ${formatQuantity(limited)}`),
  ];
  if (order !== 0 && !overcommit) return refuse('must be equal to');
  return order > 0 ? refuse('must be less than or equal to') : [];
};
