import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import {
  chargesIn,
  formatAmount,
  minus,
  parseAmount,
  plus,
  resourceOf,
  UNLIMITED,
  ZERO,
  type Amount,
  type Requests,
} from '../../api/amount.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import { sizedFor } from '../../admission/cache/reclaimable.ts';
import { capacityOf } from '../../admission/quota/cluster-state.ts';
import { largest } from '../../admission/scheduling/partial-admission.ts';
import { available } from '../../admission/quota/quota-tree.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { scheduleUntilIdle } from '../world/schedule-until-idle.ts';
import { freeOn } from '../../admission/quota/usage.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { withPods } from '../../admission/workload/workload-pod-sets.ts';
import { cacheOf, queueingOf, sharingWith, waitingByQueue, type World } from '../world/world.ts';

/** A change after which a Workload is admitted at once, despite all other pending ones. Amounts are quantities. */
export type Change =
  /** The Job requests this many pods at once; with one more it is not admitted. */
  | { readonly kind: 'FewerPods'; readonly pods: number }
  /** Each of its pods requests this amount; 0: none. */
  | { readonly kind: 'LowerRequest'; readonly resource: string; readonly perPod: string }
  /** Its ClusterQueue has this much more nominal quota in one flavor. */
  | { readonly kind: 'MoreQuota'; readonly clusterQueue: string; readonly flavor: string; readonly by: Quantities }
  /** A cluster has this much more capacity. */
  | { readonly kind: 'MoreRoom'; readonly cluster: string; readonly by: Quantities }
  /** A closed cluster accepts Jobs again. */
  | { readonly kind: 'ClusterOpens'; readonly cluster: string }
  /** These Jobs end. All of them are needed, and no smaller set was found. */
  | { readonly kind: 'JobsEnd'; readonly jobs: readonly string[] };
export type Quantities = Readonly<Record<string, string>>;

/** Clusters that are searched for Jobs whose end helps, and Jobs in one answer, at most. */
const CLUSTERS_MAX = 4;
const JOBS_MAX = 16;
/** Amounts that are tried below a sufficient one, at most. */
const SUMS_MAX = 64;
const BYTES_STEP = 2 ** 20;

/**
 * The smallest change of each kind after which this pending Workload is admitted at once. Each is verified: the scheduler ran on the
 * changed world.
 */
export function smallestChanges(world: World, key: string, clusterQueue: string): readonly Change[] {
  const workload = world.workloads.find((each) => each.key === key);
  if (workload === undefined) return [];
  const runs = (changed: World): boolean => scheduleUntilIdle(changed, key).get(key)?.kind === 'Admit';
  return [
    ...fewerPods(world, workload, runs),
    ...lowerRequests(world, workload, runs),
    ...moreQuota(world, workload, clusterQueue, runs),
    ...moreRoom(world, workload, clusterQueue, runs),
    ...jobsEnd(world, workload, clusterQueue, runs),
  ];
}

type Runs = (changed: World) => boolean;

export const withWorkload = (world: World, changed: Workload): World => ({
  ...world,
  workloads: world.workloads.map((each) => (each.key === changed.key ? changed : each)),
});

/** The Workload as if its Job requested this. */
export const asking = (workload: Workload, requests: Requests): Workload => ({
  ...workload,
  requests,
  schedulingHash: `${workload.schedulingHash} ${JSON.stringify([...requests])}`,
});

export const without = (world: World, keys: ReadonlySet<string>): World => ({
  ...world,
  workloads: world.workloads.filter(({ key }) => !keys.has(key)),
});

/** The world with more nominal quota of a ClusterQueue in one flavor, if it has that flavor. */
export function withMoreQuota(world: World, name: string, flavor: string, by: Requests): World {
  const clusterQueues = world.objects.clusterQueues.map((queue) => (queue.metadata.name === name ? raised(queue, flavor, by) : queue));
  return { ...world, objects: { ...world.objects, clusterQueues } };
}

const raised = (queue: DeepReadonly<ClusterQueue>, flavor: string, by: Requests): DeepReadonly<ClusterQueue> => ({
  ...queue,
  spec: {
    ...queue.spec,
    resourceGroups: (queue.spec.resourceGroups ?? []).map((group) => ({
      ...group,
      flavors: group.flavors.map((each) =>
        each.name !== flavor
          ? each
          : {
              ...each,
              resources: each.resources.map((quota) => ({
                ...quota,
                nominalQuota: formatAmount(quota.name, plus(parseAmount(quota.name, quota.nominalQuota), by.get(quota.name) ?? ZERO)),
              })),
            },
      ),
    })),
  },
});

export const withMoreRoom = (world: World, name: string, by: Requests): World => ({
  ...world,
  clusters: world.clusters.map((cluster) =>
    cluster.name !== name
      ? cluster
      : {
          ...cluster,
          capacity: new Map([...cluster.capacity, ...[...by].map(([key, more]) => [key, plus(capacityOf(cluster, key), more)] as const)]),
        },
  ),
});

export const withOpen = (world: World, name: string): World => ({
  ...world,
  clusters: world.clusters.map((cluster) => (cluster.name === name ? { ...cluster, closed: undefined } : cluster)),
});

/** Of several pod sets, the one that may have fewer pods has them. */
function fewerPods(world: World, workload: Workload, runs: Runs): Change[] {
  const asked = workload.requests.get('pods') ?? 0;
  const elastic = workload.podSets?.find(({ minPods }) => minPods !== undefined);
  const fixed = workload.podSets === undefined ? 0 : asked - (elastic?.requests.get('pods') ?? 0);
  if (asked - fixed <= 1) return [];
  const pods = largest(fixed + 1, asked - 1, (count) => {
    const { minPods: _none, podsNeeded: _all, ...rest } = workload;
    const { requests, podSets } = withPods(workload, count);
    const smaller = asking({ ...rest, ...omitUndefined({ podSets }), minPods: undefined, podsNeeded: undefined }, requests);
    return runs(withWorkload(world, smaller)) ? count : undefined;
  });
  return pods === undefined ? [] : [{ kind: 'FewerPods', pods }];
}

function lowerRequests(world: World, workload: Workload, runs: Runs): Change[] {
  // Of several pod sets, each has requests of its own.
  if (workload.podSets !== undefined) return [];
  const pods = workload.requests.get('pods') ?? 1;
  return [...workload.requests].flatMap(([resource, total]): Change[] => {
    if (resource === 'pods' || total === ZERO || pods === 0) return [];
    const step = total / pods >= BYTES_STEP ? BYTES_STEP : 1;
    const most = Math.ceil(total / pods / step) - 1;
    const steps = largest(0, most, (count) => {
      const amount = parseAmount('pods', count * step * pods);
      return runs(withWorkload(world, asking(workload, new Map([...workload.requests, [resource, amount]])))) ? count : undefined;
    });
    return steps === undefined
      ? []
      : [{ kind: 'LowerRequest', resource, perPod: formatAmount(resource, parseAmount('pods', steps * step)) }];
  });
}

/**
 * Requests of Workloads that may take the added capacity: those before the target in its ClusterQueue, then those of other ClusterQueues
 * that can reach it.
 */
function rivals(world: World, key: string, clusterQueue: string, reaching: (clusterQueue: string) => boolean): readonly Requests[] {
  const waiting = waitingByQueue(world, queueingOf(world));
  const own = waiting.get(clusterQueue) ?? [];
  const place = own.findIndex(({ queued }) => queued.workload.key === key);
  const others = [...waiting].flatMap(([name, each]) => (name !== clusterQueue && reaching(name) ? each : []));
  return [...own.slice(0, Math.max(0, place)), ...others].map(({ queued }) => queued.workload.requests);
}

/**
 * The smallest amounts, from `missing` upwards, with which the target is admitted: what is missing, and what rivals take before it. First
 * the necessary number of rivals is found, then for each resource the smallest sufficient sum of rivals' requests. Every answer is
 * verified, with at most about 20 runs.
 */
function leastThatRuns(missing: Requests, rivalry: readonly Requests[], runs: (by: Requests) => boolean): Requests | undefined {
  const sums = [missing];
  for (const asked of rivalry) {
    const last = sums.at(-1) ?? missing;
    if ([...missing.keys()].some((resource) => (asked.get(resource) ?? ZERO) > ZERO))
      sums.push(new Map([...last].map(([resource, amount]) => [resource, plus(amount, asked.get(resource) ?? ZERO)])));
  }
  const last = sums.length - 1;
  const omitted = largest(0, last, (count) => (runs(sums[last - count] ?? missing) ? count : undefined));
  if (omitted === undefined) return undefined;
  let least = sums[last - omitted] ?? missing;
  if (least === missing) return missing;
  for (const [resource, lowest] of missing) {
    const current = least;
    const highest = current.get(resource) ?? lowest;
    if (highest === lowest) continue;
    const asked = rivalry.map((each) => each.get(resource) ?? ZERO);
    const lower = sumsBetween(lowest, highest, asked);
    const found = largest(0, lower.length - 1, (index) => {
      const by = new Map([...current, [resource, lower[index] ?? highest]]);
      return runs(by) ? by : undefined;
    });
    least = found ?? least;
  }
  return least;
}

/** Sums of `lowest` and some of the requests, below `highest`, the greatest first; bounded in number. */
function sumsBetween(lowest: Amount, highest: Amount, asked: readonly Amount[]): readonly Amount[] {
  const sums = new Set([lowest]);
  for (const amount of asked) {
    if (sums.size >= SUMS_MAX) break;
    for (const sum of Array.from(sums, (each) => plus(each, amount))) if (sum < highest) sums.add(sum);
  }
  return [...sums].toSorted((a, b) => b - a);
}

function moreQuota(world: World, workload: Workload, clusterQueue: string, runs: Runs): Change[] {
  const queueing = queueingOf(world);
  const queue = queueing.queues.get(clusterQueue);
  if (queue === undefined) return [];
  const usage = cacheOf(world, queueing).usage();
  const sharers = sharingWith(queueing, clusterQueue);
  const rivalry = rivals(world, workload.key, clusterQueue, (name) => sharers.has(name)).map(chargesIn);
  const asked = sizedFor(workload, queue).requests;
  return queue.groups.flatMap(({ flavors }) =>
    flavors.flatMap(({ name, keys }): Change[] => {
      const missing = positive(
        [...keys].map(([charge, key]) => [resourceOf(charge), minus(asked.get(charge) ?? ZERO, available(queue.node, usage, key))]),
      );
      if (missing.size === 0) return [];
      const by = leastThatRuns(missing, rivalry, (more) => runs(withMoreQuota(world, clusterQueue, name, more)));
      return by === undefined ? [] : [{ kind: 'MoreQuota', clusterQueue, flavor: name, by: quantities(by) }];
    }),
  );
}

function moreRoom(world: World, workload: Workload, clusterQueue: string, runs: Runs): Change[] {
  const usage = cacheOf(world, queueingOf(world)).usage();
  const rivalry = rivals(world, workload.key, clusterQueue, () => true);
  return world.clusters.flatMap((cluster): Change[] => {
    if (cluster.closed !== undefined) return runs(withOpen(world, cluster.name)) ? [{ kind: 'ClusterOpens', cluster: cluster.name }] : [];
    const missing = positive(
      [...workload.requests].flatMap(([resource, amount]) =>
        capacityOf(cluster, resource) === UNLIMITED ? [] : [[resource, minus(amount, freeOn(cluster, usage, resource))] as const],
      ),
    );
    if (missing.size === 0) return [];
    const by = leastThatRuns(missing, rivalry, (more) => runs(withMoreRoom(world, cluster.name, more)));
    return by === undefined ? [] : [{ kind: 'MoreRoom', cluster: cluster.name, by: quantities(by) }];
  });
}

/** The smallest set of Jobs found, among those on one cluster or sharing the quota. */
function jobsEnd(world: World, workload: Workload, clusterQueue: string, runs: Runs): Change[] {
  const queueing = queueingOf(world);
  const cache = cacheOf(world, queueing);
  const sharers = sharingWith(queueing, clusterQueue);
  const queue = queueing.queues.get(clusterQueue);
  const { requests } = queue === undefined ? workload : sizedFor(workload, queue);
  const holders = [...cache.reservations()]
    .filter(({ held }) => [...requests.keys()].some((resource) => (held.get(resource) ?? ZERO) > ZERO))
    .toSorted((a, b) => sizeFor(requests, b) - sizeFor(requests, a) || (a.workload.key < b.workload.key ? -1 : 1));
  let best: readonly string[] | undefined;
  for (const cluster of world.clusters.slice(0, CLUSTERS_MAX)) {
    const keys = holders
      .filter(({ record }) => record.cluster === cluster.name || sharers.has(record.clusterQueue))
      .toSorted((a, b) => Number(b.record.cluster === cluster.name) - Number(a.record.cluster === cluster.name))
      .map(({ workload: { key } }) => key);
    const found = fewest(keys, (ended) => runs(without(world, new Set(ended))));
    if (found !== undefined && (best === undefined || found.length < best.length)) best = found;
  }
  return best === undefined ? [] : [{ kind: 'JobsEnd', jobs: best }];
}

/** The largest fraction of a request that the end of a reservation frees. */
const sizeFor = (requests: Requests, { held }: Reservation): number =>
  [...requests].reduce((most, [resource, amount]) => (amount === ZERO ? most : Math.max(most, (held.get(resource) ?? 0) / amount)), 0);

/**
 * The shortest sufficient prefix of a list, without the keys that it does not need: all that remain are needed. Undefined if the whole list
 * does not suffice, or if too many remain.
 */
function fewest(keys: readonly string[], isEnough: (keys: readonly string[]) => boolean): readonly string[] | undefined {
  if (keys.length === 0) return undefined;
  const spare = largest(0, keys.length - 1, (count) => (isEnough(keys.slice(0, keys.length - count)) ? count : undefined));
  if (spare === undefined || keys.length - spare > JOBS_MAX) return undefined;
  let remaining = keys.slice(0, keys.length - spare);
  // The later, smaller Jobs are omitted first. After each omission the others are tried again, because an omitted Job may take what another
  // one frees.
  for (let before = -1; before !== remaining.length; ) {
    before = remaining.length;
    for (const key of remaining.toReversed()) {
      const others = remaining.filter((each) => each !== key);
      if (others.length > 0 && isEnough(others)) remaining = others;
    }
  }
  return remaining;
}

const positive = (amounts: readonly (readonly [string, Amount])[]): Requests => new Map(amounts.filter(([, amount]) => amount > ZERO));

const quantities = (amounts: Requests): Quantities =>
  Object.fromEntries([...amounts].map(([resource, amount]) => [resource, formatAmount(resource, amount)]));
