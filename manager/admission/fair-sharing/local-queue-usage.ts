import { chargesIn, formatAmount, parseRequests, truncated, type Requests } from '../../api/amount.ts';

/**
 * The usage of a LocalQueue for admission fair sharing (Kueue's KEP-4136): an average over the past, in which each moment counts half as
 * much a half-life later. Amounts as in {@link Requests}, with fractions. A LocalQueue that holds the same amount for many half-lives has
 * consumed just that amount.
 *
 * Kueue samples, and charges each sample for the whole interval. Here every Job counts from its admission to its end, so nothing depends on
 * the time of samples.
 */
export type Consumed = ReadonlyMap<string, number>;

/** Configuration of admission fair sharing: Kueue's usageHalfLifeTime, usageSamplingInterval and resourceWeights. */
export type UsagePolicy = {
  /** Greater than 0. */
  readonly halfLifeMs: number;
  /**
   * How often usage is written. An admission is charged its usage of this time at once, so that an idle LocalQueue does not take everything
   * in one go.
   */
  readonly samplingIntervalMs: number;
  /** Weights by resource, per core, byte or device; 1 for a resource that is not listed. */
  readonly resourceWeights: ReadonlyMap<string, number>;
};

/** The decayed `consumed` after a time in which `held` was held. */
export function advanced(consumed: Consumed, held: Consumed, elapsedMs: number, { halfLifeMs }: Pick<UsagePolicy, 'halfLifeMs'>): Consumed {
  const kept = keptAfter(elapsedMs, halfLifeMs);
  return combined(consumed, kept, held, 1 - kept);
}

/** The contribution so far of one Job that has held this since its admission: the decayed entry penalty and its usage. */
export function contribution(requests: Consumed, sinceMs: number, nowMs: number, policy: UsagePolicy): Consumed {
  const kept = keptAfter(nowMs - sinceMs, policy.halfLifeMs);
  return combined(entryPenalty(requests, policy), kept, requests, 1 - kept);
}

/** What an admission is charged at once. */
export const entryPenalty = (requests: Consumed, { samplingIntervalMs, halfLifeMs }: UsagePolicy): Consumed =>
  combined(requests, 1 - keptAfter(samplingIntervalMs, halfLifeMs), NOTHING, 0);

/** The number by which LocalQueues are compared: the smaller goes first. A LocalQueue with weight 0 goes last. */
export function weightedUsage(consumed: Consumed, weight: number, { resourceWeights }: Pick<UsagePolicy, 'resourceWeights'>): number {
  if (weight <= 0) return Infinity;
  let usage = 0;
  for (const [resource, amount] of [...consumed].toSorted(byName)) {
    usage += (resourceWeights.get(resource) ?? 1) * (resource === 'cpu' ? amount / 1000 : amount);
  }
  return usage / weight;
}

export const plusConsumed = (a: Consumed, b: Consumed): Consumed => combined(a, 1, b, 1);
/** The difference, without amounts below 0, which are rounding errors. */
export const minusConsumed = (a: Consumed, b: Consumed): Consumed =>
  new Map([...combined(a, 1, b, -1)].flatMap(([resource, amount]) => (amount > 0 ? [[resource, amount]] : [])));

/** The part of a Job's held requests for which its ClusterQueue has quota. */
export const countedFor = (held: Requests, flavors: Readonly<Record<string, string>>): Consumed =>
  new Map([...chargesIn(held)].filter(([resource, amount]) => flavors[resource] !== undefined && amount > 0));

/** Amounts as in status: whole thousandths of cpu, bytes, devices. Amounts below 1 are omitted. */
export const formatConsumed = (consumed: Consumed): Record<string, string> =>
  Object.fromEntries(
    [...consumed]
      .toSorted(byName)
      .flatMap(([resource, amount]) => (amount < 1 ? [] : [[resource, formatAmount(resource, truncated(amount))]])),
  );
export const consumedIn = (written: Readonly<Record<string, string | number>>): Consumed => parseRequests(written);

/** The part of the past that still counts. A clock that is set back takes nothing. */
const keptAfter = (elapsedMs: number, halfLifeMs: number): number => 0.5 ** (Math.max(0, elapsedMs) / halfLifeMs);

const NOTHING: Consumed = new Map();

function combined(a: Consumed, ofA: number, b: Consumed, ofB: number): Consumed {
  const sum = new Map<string, number>();
  for (const [resource, amount] of a) sum.set(resource, amount * ofA);
  for (const [resource, amount] of b) sum.set(resource, (sum.get(resource) ?? 0) + amount * ofB);
  return sum;
}

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]): number => (a < b ? -1 : a > b ? 1 : 0);
