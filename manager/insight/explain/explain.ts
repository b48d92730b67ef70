import { finishedCondition } from '../../../shared/kube/conditions.ts';
import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { readLastFailure, type LastFailure } from '../../api/last-failure.ts';
import { chargesIn, formatAmount, minus, resourceOf, withoutCharges, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { capacityOf } from '../../admission/quota/cluster-state.ts';
import { cohortPlace, type CohortPlace } from './cohort-place.ts';
import type { Decision } from '../../admission/scheduling/decision.ts';
import type { Past } from '../estimate/run-time-sampler.ts';
import { estimateStart, type StartEstimate, type StartQuestion } from '../estimate/estimate-start.ts';
import { assignFlavors } from '../../admission/flavors/flavor-assigner.ts';
import { matchFlavor } from '../../admission/flavors/flavor-match.ts';
import { whyHeldBack } from '../../admission/queues/queue-entry.ts';
import { place } from '../../admission/flavors/placement.ts';
import { available, nominalQuota } from '../../admission/quota/quota-tree.ts';
import { contributionsTo } from '../../admission/quota/resource-transformations.ts';
import type { QueueEntry } from '../../admission/queues/queue-entry.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { smallestChanges, type Change, type Quantities } from './smallest-changes.ts';
import type { QueueSetup } from '../../admission/snapshot/snapshot.ts';
import { scheduleUntilIdle } from '../world/schedule-until-idle.ts';
import { createUsage, freeOn, type Usage } from '../../admission/quota/usage.ts';
import type { Workload } from '../../admission/workload/workload.ts';
import { cacheOf, queueingOf, sharingWith, usageIn, waitingByQueue, waitingIn, type World } from '../world/world.ts';

/** The state of a Job in admission, and what blocks it. Amounts are quantities. */
export type Explanation =
  | {
      readonly kind: 'Finished';
      readonly job: string;
      readonly result: string;
      readonly at?: string;
      readonly message?: string;
      readonly failure?: LastFailure;
    }
  | {
      readonly kind: 'Admitted';
      readonly job: string;
      readonly clusterQueue: string;
      readonly cluster: string;
      readonly since: string;
      readonly flavors: Readonly<Record<string, string>>;
      readonly requests: Quantities;
      /** What its ClusterQueue charges, where it transforms resources. */
      readonly charged?: Quantities;
      readonly started: boolean;
    }
  /** The Job is in no queue, with the reason: it is held, still stops, or its queue does not accept it. */
  | { readonly kind: 'NotQueued'; readonly job: string; readonly reason: string; readonly message: string }
  | Waits;

export type Waits = {
  readonly kind: 'Waiting';
  readonly job: string;
  readonly clusterQueue: string;
  readonly priority: number;
  /** How many Workloads of its ClusterQueue go before it, how many wait there, and the first of those before it. */
  readonly position: number;
  readonly waiting: number;
  readonly ahead: readonly string[];
  /** The same among all queues that share its quota; absent if there are none. */
  readonly cohort?: CohortPlace;
  readonly asks: Quantities;
  /** What its ClusterQueue would charge, and why; absent unless it transforms a resource for which the Job asks. */
  readonly charges?: readonly Charged[];
  /** The decision about it now. `Next`: nothing blocks it. `Preempts`: other Workloads are to be preempted for it. */
  readonly outcome: 'Next' | 'Preempts' | 'Waits';
  readonly reason?: string;
  readonly message?: string;
  readonly flavors: readonly FlavorHurdle[];
  readonly clusters: readonly ClusterHurdle[];
  readonly changes: readonly Change[];
  /** Its reservation in a ClusterQueue with the strategy Backfill; absent without one. */
  readonly reservation?: ReservationByTime;
  /** When it is likely to be admitted; absent if it is next, or if no past is known. */
  readonly estimatedStart?: StartEstimate;
};

/**
 * The reservation of a Workload on a cluster: others go in front that are expected to end before the start. Without `expectedStart` too few
 * run times are known, and all that it needs is kept.
 */
export type ReservationByTime = { readonly cluster: string; readonly expectedStart?: string };

/** What quota is charged of one resource. `from`: the inputs of transformations that lead to it, with their share. */
export type Charged = {
  readonly resource: string;
  readonly amount: string;
  readonly from: readonly { readonly input: string; readonly multiplyBy?: string; readonly amount: string }[];
};

/** One resource of one flavor. */
export type FlavorHurdle = {
  readonly flavor: string;
  readonly resource: string;
  readonly asked: string;
  readonly nominal: string;
  /** What its ClusterQueue can still use, borrowed quota included. */
  readonly free: string;
  readonly missing?: string;
  /** Why its pods cannot run on nodes of the flavor. */
  readonly problem?: string;
  /** The largest holders of this quota, in this ClusterQueue and those that share with it. */
  readonly holders: readonly Holder[];
};
export type ClusterHurdle = {
  readonly cluster: string;
  /** Why the cluster is not chosen; absent if only quota is missing. */
  readonly problem?: string;
  /** The resources of which too little is free there; absent if the problem is another. */
  readonly shortOf?: readonly string[];
  readonly room: readonly {
    readonly resource: string;
    readonly asked: string;
    readonly capacity: string;
    readonly free: string;
    readonly holders: readonly Holder[];
  }[];
};
export type Holder = { readonly job: string; readonly amount: string };

/** Jobs that are listed at most, of those before it and of those that hold an amount. */
const NAMED_MAX = 5;

/** Explains a Job of this world. `workload`: the Job as admission sees it. `past`: run times of earlier Jobs. */
export function explain(world: World, job: DeepReadonly<WorkObject>, workload: Workload, past?: Past): Explanation {
  const { key, phase, record } = workload;
  if (phase === 'Finished') {
    const ended = finishedCondition(job.status);
    return {
      kind: 'Finished',
      job: key,
      result: ended?.type ?? 'Deleted',
      ...omitUndefined({
        at: ended?.lastTransitionTime,
        message: ended?.message || undefined,
        failure: ended?.type === 'Failed' ? readLastFailure(job) : undefined,
      }),
    };
  }
  if (phase === 'Admitted' && record !== undefined) {
    const { clusterQueue, cluster, since, flavors, requests, charged } = record;
    const held = { flavors, requests, ...omitUndefined({ charged }) };
    return { kind: 'Admitted', job: key, clusterQueue, cluster, since, ...held, started: workload.started };
  }
  if (phase !== 'Pending') return { kind: 'NotQueued', job: key, ...whyHeldBack(workload) };
  return explainPending(world, workload, past);
}

function explainPending(world: World, workload: Workload, past: Past | undefined): Explanation {
  const { key } = workload;
  const queueing = queueingOf(world);
  const route = waitingIn(world, queueing)(workload, 0);
  if ('reason' in route) return { kind: 'NotQueued', job: key, reason: route.reason, message: route.message };
  const { clusterQueue, queued } = route;
  const queue = queueing.queues.get(clusterQueue);
  if (queue === undefined) throw new Error(`${key} waits in ${clusterQueue}, which is no queue`);
  const byQueue = waitingByQueue(world, queueing);
  const waiting = (byQueue.get(clusterQueue) ?? []).map((each) => each.queued.workload.key);
  const position = waiting.indexOf(key);
  const decision = scheduleUntilIdle(world, key).get(key);
  const usage = usageIn(world, queueing);
  const cache = cacheOf(world, queueing, usage);
  const reservations = [...cache.reservations()];
  const sharers = sharingWith(queueing, clusterQueue);
  const outcome = outcomeOf(decision);
  const question = { ...world, queueing, reservations, target: route, position, waiting: lanesOf(byQueue), usageOf: usage?.usageOf };
  const estimatedStart = outcome === 'Next' || past === undefined ? undefined : estimateStart(question, past);
  return {
    kind: 'Waiting',
    job: key,
    clusterQueue,
    priority: queued.priority,
    position,
    waiting: waiting.length,
    ahead: waiting.slice(0, Math.min(position, NAMED_MAX)),
    ...omitUndefined({ cohort: cohortPlace(route, byQueue, queueing, cache) }),
    asks: Object.fromEntries(
      [...withoutCharges(queued.workload.requests)].map(([resource, amount]) => [resource, formatAmount(resource, amount)]),
    ),
    ...omitUndefined({ charges: chargedFor(queued.workload.requests, queue) }),
    outcome,
    ...(decision?.kind === 'Inadmissible' || decision?.kind === 'Preempt' ? { reason: decision.reason, message: decision.message } : {}),
    flavors: flavorHurdles(
      queued.workload,
      queue,
      cache.usage(),
      reservations.filter(({ record }) => sharers.has(record.clusterQueue)),
    ),
    clusters: clusterHurdles(world, queued.workload, queue, cache.usage(), reservations),
    changes: outcome === 'Next' ? [] : smallestChanges(world, key, clusterQueue),
    ...omitUndefined({ estimatedStart, reservation: reservationOf(decision) }),
  };
}

function chargedFor(requests: Requests, { transformations }: QueueSetup): Charged[] | undefined {
  if (transformations === undefined) return undefined;
  const contributions = contributionsTo(withoutCharges(requests), transformations);
  if (![...requests.keys()].some((resource) => transformations.byInput.has(resource))) return undefined;
  return [...chargesIn(requests)].map(([resource, amount]) => ({
    resource,
    amount: formatAmount(resource, amount),
    from: contributions
      .filter(({ output }) => output === resource)
      .map(({ output, amount: part, ...from }) => ({ ...from, amount: formatAmount(output, part) })),
  }));
}

function reservationOf(decision: Decision | undefined): ReservationByTime | undefined {
  const claim = decision?.kind === 'Inadmissible' ? decision.claim : undefined;
  if (claim?.start === undefined) return undefined;
  const { atMs } = claim.start;
  const expectedStart = Number.isFinite(atMs) ? toWireTime(atMs) : undefined;
  return { cluster: claim.cluster, ...omitUndefined({ expectedStart }) };
}

const lanesOf = (byQueue: ReadonlyMap<string, readonly QueueEntry[]>): StartQuestion['waiting'] =>
  [...byQueue].map(([clusterQueue, waiting]) => ({
    clusterQueue,
    strict: waiting[0]?.strict === true,
    first: (most) => waiting.slice(0, most).map(({ queued }) => queued),
  }));

function outcomeOf(decision: Decision | undefined): Waits['outcome'] {
  if (decision?.kind === 'Admit') return 'Next';
  return decision?.kind === 'Preempt' ? 'Preempts' : 'Waits';
}

function flavorHurdles(workload: Workload, queue: QueueSetup, usage: Usage, sharing: readonly Reservation[]): FlavorHurdle[] {
  return queue.groups.flatMap(({ flavors }) =>
    flavors.flatMap((flavor) =>
      [...flavor.keys].flatMap(([charge, key]): FlavorHurdle[] => {
        const asked = workload.requests.get(charge) ?? ZERO;
        if (asked === ZERO) return [];
        const resource = resourceOf(charge);
        const free = available(queue.node, usage, key);
        const missing = minus(asked, free);
        const match = matchFlavor(workload.nodeWish, flavor);
        return [
          {
            flavor: flavor.name,
            resource,
            asked: formatAmount(resource, asked),
            nominal: formatAmount(resource, nominalQuota(queue.node, key)),
            free: formatAmount(resource, free),
            ...omitUndefined({
              missing: missing > ZERO ? formatAmount(resource, missing) : undefined,
              problem: match.kind === 'Mismatch' ? match.problem : undefined,
            }),
            holders: mostOf(
              resource,
              sharing.filter(({ record }) => record.flavors[resource] === flavor.name),
              chargesIn,
            ),
          },
        ];
      }),
    ),
  );
}

function clusterHurdles(
  world: World,
  workload: Workload,
  queue: QueueSetup,
  usage: Usage,
  reservations: readonly Reservation[],
): ClusterHurdle[] {
  const atBest = assignFlavors(workload, queue, createUsage());
  const groups = atBest.kind === 'Fit' ? atBest.groups : [];
  const shapes = cacheOf(world, queueingOf(world)).shapes;
  const { verdicts } = place(workload, groups, world.clusters, usage, shapes, world.nowMs, queue.placement);
  return world.clusters.map((cluster) => {
    const there = reservations.filter(({ record }) => record.cluster === cluster.name);
    const { problem, shortOf } = verdicts.find((verdict) => verdict.cluster === cluster.name) ?? {};
    const limited = [...workload.requests].filter(([resource, asked]) => asked > ZERO && Number.isFinite(capacityOf(cluster, resource)));
    return {
      cluster: cluster.name,
      ...omitUndefined({ problem, shortOf }),
      room: limited.map(([resource, asked]) => {
        const capacity = capacityOf(cluster, resource);
        const format = (amount: Amount): string => formatAmount(resource, amount);
        const free = format(freeOn(cluster, usage, resource));
        return { resource, asked: format(asked), capacity: format(capacity), free, holders: mostOf(resource, there) };
      }),
    };
  });
}

const mostOf = (resource: string, reservations: readonly Reservation[], heldOf = (held: Requests): Requests => held): Holder[] =>
  reservations
    .map(({ workload: { key }, held }) => ({ job: key, held: heldOf(held).get(resource) ?? ZERO }))
    .filter(({ held }) => held > ZERO)
    .toSorted((a, b) => b.held - a.held || (a.job < b.job ? -1 : 1))
    .slice(0, NAMED_MAX)
    .map(({ job, held }) => ({ job, amount: formatAmount(resource, held) }));
