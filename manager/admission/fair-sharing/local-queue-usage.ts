import { formatAmount, parseRequests, truncated, type Requests } from '../../api/amount.ts';

/**
 * What a LocalQueue has used, for admission fair sharing (Kueue's KEP-4136): an average over the past in which each moment counts half as much a half-life later.
 * Amounts as in {@link Requests}, with fractions. A LocalQueue that has held the same for many half-lives has consumed just that.
 *
 * Kueue samples, and charges what it finds for the whole interval; here every Job counts from its admission to its end, so nothing depends on when it is looked at.
 */
export type Consumed = ReadonlyMap<string, number>;

/** How admission fair sharing is set up; what Kueue's configuration calls usageHalfLifeTime, usageSamplingInterval and resourceWeights. */
export type UsagePolicy = {
  /** More than 0. */
  readonly halfLifeMs: number;
  /** How often usage is written down. An admission costs at once what it will use in this time, so that a LocalQueue that has been idle does not take everything in one go. */
  readonly samplingIntervalMs: number;
  /** By resource; 1 for each that is not named. Of a core, a byte, a device. */
  readonly resourceWeights: ReadonlyMap<string, number>;
};

/** What is left of `consumed` after a time in which `held` was held. */
export function advanced(consumed: Consumed, held: Consumed, elapsedMs: number, { halfLifeMs }: Pick<UsagePolicy, 'halfLifeMs'>): Consumed {
  const kept = keptAfter(elapsedMs, halfLifeMs);
  return combined(consumed, kept, held, 1 - kept);
}

/** What one Job has added so far that has held this since its admission: the entry penalty, decayed, and what it used. */
export function contribution(requests: Consumed, sinceMs: number, nowMs: number, policy: UsagePolicy): Consumed {
  const kept = keptAfter(nowMs - sinceMs, policy.halfLifeMs);
  return combined(entryPenalty(requests, policy), kept, requests, 1 - kept);
}

/** What an admission costs at once. */
export const entryPenalty = (requests: Consumed, { samplingIntervalMs, halfLifeMs }: UsagePolicy): Consumed =>
  combined(requests, 1 - keptAfter(samplingIntervalMs, halfLifeMs), NOTHING, 0);

/** The number that LocalQueues are compared by: the lesser goes first. One without weight goes after all others. */
export function weightedUsage(consumed: Consumed, weight: number, { resourceWeights }: Pick<UsagePolicy, 'resourceWeights'>): number {
  if (weight <= 0) return Infinity;
  let usage = 0;
  for (const [resource, amount] of [...consumed].toSorted(byName)) {
    usage += (resourceWeights.get(resource) ?? 1) * (resource === 'cpu' ? amount / 1000 : amount);
  }
  return usage / weight;
}

export const plusConsumed = (a: Consumed, b: Consumed): Consumed => combined(a, 1, b, 1);
/** Never below 0: what differs by rounding is nothing. */
export const minusConsumed = (a: Consumed, b: Consumed): Consumed =>
  new Map([...combined(a, 1, b, -1)].flatMap(([resource, amount]) => (amount > 0 ? [[resource, amount]] : [])));

/** Of what a Job holds, what its ClusterQueue gives quota for. */
export const countedFor = (held: Requests, flavors: Readonly<Record<string, string>>): Consumed =>
  new Map([...held].filter(([resource, amount]) => flavors[resource] !== undefined && amount > 0));

/** As a status has it: whole thousandths of cpu, bytes, devices. What is less than one is nothing. */
export const formatConsumed = (consumed: Consumed): Record<string, string> =>
  Object.fromEntries(
    [...consumed]
      .toSorted(byName)
      .flatMap(([resource, amount]) => (amount < 1 ? [] : [[resource, formatAmount(resource, truncated(amount))]])),
  );
export const consumedIn = (written: Readonly<Record<string, string | number>>): Consumed => parseRequests(written);

/** The part of the past that still counts. A clock that was set back takes nothing. */
const keptAfter = (elapsedMs: number, halfLifeMs: number): number => 0.5 ** (Math.max(0, elapsedMs) / halfLifeMs);

const NOTHING: Consumed = new Map();

function combined(a: Consumed, ofA: number, b: Consumed, ofB: number): Consumed {
  const sum = new Map<string, number>();
  for (const [resource, amount] of a) sum.set(resource, amount * ofA);
  for (const [resource, amount] of b) sum.set(resource, (sum.get(resource) ?? 0) + amount * ofB);
  return sum;
}

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]): number => (a < b ? -1 : a > b ? 1 : 0);
