import { FLOATING_PREFIX } from '../../shared/api/names.ts';
import { formatQuantity, parseQuantity, toMilliUnits, toUnits } from '../../shared/kube/quantity.ts';

declare const unit: unique symbol;
/**
 * An amount of one resource: thousandths of cpu, whole units of all others (bytes, devices, pods), as Kueue counts. Amounts are integers,
 * so that sums are exact up to 2^53 - 1 (8 PiB); greater amounts saturate there. Availability may be negative, when quota was reduced below
 * its use. {@link UNLIMITED} stays unlimited after any subtraction.
 */
export type Amount = number & { readonly [unit]: 'Amount' };

/** Whether a resource is of no node and no cluster, so that only quota bounds it. */
export const isFloating = (resource: string): boolean => resource.startsWith(FLOATING_PREFIX) || isCharge(resource);

/**
 * Requests may say apart what quota is charged, where a ClusterQueue transforms resources: under names with this prefix, which no resource
 * has. Entries of other names are then charged to clusters alone.
 */
const CHARGE_PREFIX = 'quota:';
export const chargeName = (resource: string): string => `${CHARGE_PREFIX}${resource}`;
export const isCharge = (name: string): boolean => name.startsWith(CHARGE_PREFIX);
/** The name of the resource, whether the entry is a charge or not. */
export const resourceOf = (name: string): string => (isCharge(name) ? name.slice(CHARGE_PREFIX.length) : name);

/** Amounts by resource name. */
export type Requests = ReadonlyMap<string, Amount>;

const asAmount = (value: number): Amount => value as Amount;

export const ZERO = asAmount(0);
export const UNLIMITED = asAmount(Number.POSITIVE_INFINITY);

export const plus = (a: Amount, b: Amount): Amount => asAmount(a + b);
export const minus = (a: Amount, b: Amount): Amount => asAmount(a - b);
export const times = (a: Amount, count: number): Amount => asAmount(Math.min(a * count, Number.MAX_SAFE_INTEGER));
/** The sum of `count` of `all` equal parts of an amount, rounded up. */
export const shareOf = (a: Amount, count: number, all: number): Amount => asAmount(Math.min(a, Math.ceil(a / all) * count));
/** The amount without its fraction. */
export const truncated = (amount: number): Amount => asAmount(Math.min(Math.trunc(amount), Number.MAX_SAFE_INTEGER));
export const smaller = (a: Amount, b: Amount): Amount => (a < b ? a : b);
export const larger = (a: Amount, b: Amount): Amount => (a > b ? a : b);

const FEW = 999_999;
const FEW_DIGITS = /^[0-9]{1,6}$/;

/** Reads a quantity of `resource`, rounded up. Throws QuantityError when it is malformed. */
export function parseAmount(resource: string, quantity: string | number): Amount {
  // Most quantities are whole numbers of few digits, which need no rounding.
  if (typeof quantity === 'number' ? quantity > 0 && quantity <= FEW && Number.isInteger(quantity) : FEW_DIGITS.test(quantity))
    return asAmount(Number(quantity) * (resource === 'cpu' ? 1_000 : 1));
  const parsed = parseQuantity(quantity);
  const value = resource === 'cpu' ? toMilliUnits(parsed) : toUnits(parsed);
  return asAmount(Math.min(Number(value), Number.MAX_SAFE_INTEGER));
}

const NANOS_PER_MILLI = 1_000_000n;
const NANOS_PER_UNIT = 1_000_000_000n;

/** The amount as a quantity, such as `1500m` or `2Gi`. */
export function formatAmount(name: string, amount: Amount): string {
  if (amount === UNLIMITED) return 'unlimited';
  const resource = resourceOf(name);
  if (resource === 'cpu') return formatQuantity({ nanos: BigInt(amount) * NANOS_PER_MILLI, format: 'DecimalSI' });
  const isBytes = resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
  return formatQuantity({ nanos: BigInt(amount) * NANOS_PER_UNIT, format: isBytes ? 'BinarySI' : 'DecimalSI' });
}

/** Reads a map of quantities. Throws QuantityError when one of them is malformed. */
export const parseRequests = (quantities: Readonly<Record<string, string | number>> | undefined): Requests =>
  new Map(Object.entries(quantities ?? {}).map(([resource, quantity]) => [resource, parseAmount(resource, quantity)]));

/** What pods request of clusters and nodes. */
export const withoutCharges = (requests: Requests): Requests => new Map([...requests].filter(([name]) => !isCharge(name)));

/** What quota is charged, by resource. */
export function chargesIn(requests: Requests): Requests {
  const charges = [...requests].filter(([name]) => isCharge(name));
  return charges.length === 0 ? requests : new Map(charges.map(([name, amount]) => [resourceOf(name), amount]));
}

/** The sum of two sets of requests. */
export function addRequests(a: Requests, b: Requests): Requests {
  const sum = new Map(a);
  for (const [resource, amount] of b) sum.set(resource, plus(sum.get(resource) ?? ZERO, amount));
  return sum;
}

/** The greater of both, resource by resource. */
export function largerRequests(a: Requests, b: Requests): Requests {
  const result = new Map(a);
  for (const [resource, amount] of b) result.set(resource, larger(result.get(resource) ?? ZERO, amount));
  return result;
}

export const multiplyRequests = (requests: Requests, count: number): Requests =>
  new Map([...requests].map(([resource, amount]) => [resource, times(amount, count)]));

/** The amount in the base unit of the resource, for metrics: amounts of cpu are thousandths of a core. */
export const inBaseUnit = (resource: string, amount: Amount): number => (resource === 'cpu' ? amount / 1000 : amount);
