import { ZERO } from '../../api/amount.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import { recordOf } from './admission-record.ts';
import { claimedAs, claimedBy, release, reserve, type Claimed } from './claims.ts';
import type { Decision, Head, Inadmissible, WaitsFor } from './decision.ts';
import { afterAdmission, mayGoInFront } from './expected-start.ts';
import { assignFlavors, chargesOf, type FlavorOption } from '../flavors/flavor-assigner.ts';
import { charge } from '../flavors/holding.ts';
import { placeIn, type ReservingHead, type Fit } from './nominate.ts';
import { stillHolds, type Placed } from '../flavors/placement.ts';
import { shortagesOn } from '../preemption/preemption.ts';
import { available } from '../quota/quota-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import { createUsage, type Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/** The state of a scheduling cycle. */
export type Cycle = {
  /** Snapshot whose usage includes the admissions of this cycle and all claims. */
  readonly snapshot: Snapshot;
  /** Usage without claims. */
  readonly unclaimed: Usage;
  /** Claims by ClusterQueue. */
  readonly claims: Map<string, { readonly claimed: Claimed; readonly recompute: () => Claimed | undefined }>;
  /** The ClusterQueue whose claim holds room on a cluster, by cluster: one claim for each. */
  readonly rooms: Map<string, string>;
  /** ClusterQueues whose claim has an expected start. */
  readonly reserving: Set<string>;
  /** Keys of the Workloads that this cycle preempts: their usage is gone from `snapshot`, and still counts in `unclaimed`. */
  readonly displaced: Set<string>;
  /** ClusterQueues that preempt in this cycle. */
  readonly preemptors: Set<string>;
  /** ClusterQueues with blockAdmission to which this cycle has admitted a Workload. */
  readonly admittedTo: Set<string>;
  /** Claims of earlier cycles exist: a head that they block now stays blocked in the next cycle. */
  readonly hasEarlierClaims: boolean;
  readonly nowMs: number;
};

/** Admits a nominee if enough is left by the nominees before it. */
export function admit(cycle: Cycle, fit: Fit): Decision {
  const { claims, nowMs } = cycle;
  const { head, queue } = fit;
  const own = claims.get(head.clusterQueue);
  // In a BestEffortFIFO queue, as in Kueue, a later Workload may pass an earlier one that does not fit: its own queue's claim does not
  // block it.
  const passes = own?.claimed.claim.start === undefined ? own : undefined;
  if (passes !== undefined) releaseFor(cycle, head.clusterQueue, passes.claimed);
  const passed = reservationsAfter(cycle, head.queued.workload);
  for (const [clusterQueue, { claimed }] of passed) releaseFor(cycle, clusterQueue, claimed);
  const placement = placementNow(cycle, fit);
  if (placement !== undefined) take(cycle, head.queued.workload, queue, placement);
  const missing = placement === undefined ? blockedByClaims(cycle, fit) : undefined;
  if (passes !== undefined) reserveFor(cycle, head.clusterQueue, passes.recompute() ?? passes.claimed, passes.recompute);
  let inFront = false;
  for (const [clusterQueue, reserved] of passed) {
    const touches = placement !== undefined && touchesReserved(reserved.claimed, fit, placement);
    inFront ||= touches;
    const claimed = touches ? givenBack(reserved.claimed, fit, placement) : reserved.claimed;
    reserveFor(cycle, clusterQueue, claimed, reserved.recompute);
  }
  if (placement !== undefined) {
    if (queue.blocksAdmission === true) cycle.admittedTo.add(queue.name);
    const record = recordOf(head.queued.workload, queue, placement, nowMs);
    return { kind: 'Admit', head, record, ...(inFront ? { inFront } : {}) };
  }
  if (missing === undefined) return { kind: 'Requeue', head };
  // The nominee takes its place behind the claims that block it.
  const { flavors } = fit.placement;
  return claim(cycle, {
    ...fit,
    kind: 'ReservingHead',
    groups: flavors.map((flavor) => [flavor]),
    flavors,
    decision: behindClaims(head, missing, blockingReservation(cycle, fit)),
  });
}

type ClaimOfCycle = { readonly claimed: Claimed; readonly recompute: () => Claimed | undefined };

/** Reservations whose expected start comes after the expected end of the Workload, so that it may use what they hold. */
const reservationsAfter = ({ claims, reserving, nowMs }: Cycle, workload: Workload): readonly (readonly [string, ClaimOfCycle])[] =>
  [...reserving].flatMap((clusterQueue) => {
    const reserved = claims.get(clusterQueue);
    const start = reserved?.claimed.claim.start;
    return reserved !== undefined && start !== undefined && mayGoInFront(workload, start, nowMs) ? [[clusterQueue, reserved] as const] : [];
  });

/** Whether a placement takes of the cluster or of the tree that is reserved. */
const touchesReserved = ({ queue, claim }: Claimed, fit: Fit, { cluster }: Placed): boolean =>
  claim.cluster === cluster || queue.node.rootId === fit.queue.node.rootId;

/** A reservation after the admission of a Workload that ends before its start. */
function givenBack(claimed: Claimed, { head, queue }: Fit, { cluster, flavors }: Placed): Claimed {
  const { claim, workload } = claimed;
  if (claim.start === undefined) return claimed;
  const start = afterAdmission(claim.start, {
    room: claim.cluster === cluster ? head.queued.workload.requests : undefined,
    charges: queue.name === claimed.queue.name ? chargesOf(flavors) : [],
  });
  return claimedAs(workload, claimed.queue, { ...claim, start }, NOTHING_USED);
}
const NOTHING_USED = createUsage();

/** The reservation that a nominee would have to go in front of: on the cluster that it was nominated for, else the first. */
function blockingReservation({ claims, reserving }: Cycle, { placement }: Fit): Claimed | undefined {
  const all = [...reserving].flatMap((clusterQueue) => claims.get(clusterQueue)?.claimed ?? []);
  return all.find(({ claim: { cluster } }) => cluster === placement.cluster) ?? all[0];
}

/**
 * Reserves what a ReservingHead claims. Each ClusterQueue has one claim per cycle, that of its first ReservingHead or preemptor: a
 * second claim would only take from the queue's own quota.
 */
export function claim(cycle: Cycle, reserving: ReservingHead): Decision {
  const { snapshot, claims, preemptors, nowMs } = cycle;
  const { head, decision } = reserving;
  const compute = (): Claimed | undefined => claimedBy(reserving, snapshot, nowMs);
  const claimed = claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue) ? undefined : compute();
  if (claimed === undefined) return decision;
  return Object.assign(decision, { claim: reserveFor(cycle, head.clusterQueue, claimed, compute).claim });
}

/** Reserves a claim of a ClusterQueue. It holds no room on a cluster where the claim of another ClusterQueue does already. */
export function reserveFor(
  { snapshot, claims, rooms, reserving }: Cycle,
  clusterQueue: string,
  wanted: Claimed,
  recompute: () => Claimed | undefined,
): Claimed {
  const { cluster, holds, start } = wanted.claim;
  const { rootId } = wanted.queue.node;
  const isReserved = (by: Claimed | undefined): boolean =>
    by !== undefined && (by.queue.node.rootId === rootId || start?.clusters.includes(by.claim.cluster) === true);
  // One reservation of each tree, and on clusters that Workloads may go to alike: the others hold nothing.
  if (start !== undefined && (rooms.has(cluster) || [...reserving].some((each) => isReserved(claims.get(each)?.claimed))))
    return { ...wanted, claim: { ...wanted.claim, holds: 'Nothing' } };
  const claimed: Claimed = holds !== 'Quota' && rooms.has(cluster) ? { ...wanted, claim: { ...wanted.claim, holds: 'Quota' } } : wanted;
  if (claimed.claim.holds !== 'Quota') rooms.set(cluster, clusterQueue);
  if (start !== undefined) reserving.add(clusterQueue);
  reserve(claimed, snapshot.usage);
  claims.set(clusterQueue, { claimed, recompute });
  return claimed;
}

function releaseFor({ snapshot, rooms, reserving }: Cycle, clusterQueue: string, claimed: Claimed): void {
  release(claimed, snapshot.usage);
  reserving.delete(clusterQueue);
  if (rooms.get(claimed.claim.cluster) === clusterQueue) rooms.delete(claimed.claim.cluster);
}

/** The nominated placement, or another one; undefined when none is left. Targets of preemption still hold their quota and room here. */
function placementNow(cycle: Cycle, fit: Fit): Placed | undefined {
  const placement = placementLeft(cycle, fit);
  if (placement === undefined || cycle.displaced.size === 0) return placement;
  const { workload } = fit.head.queued;
  const state = cycle.snapshot.usage.tableOf(cycle.snapshot.clusters).named(placement.cluster);
  const isFree =
    hasQuota(fit.queue, cycle.unclaimed, placement.flavors) &&
    state !== undefined &&
    shortagesOn(state, workload, cycle.unclaimed).length === 0;
  return isFree ? placement : undefined;
}

function placementLeft({ snapshot, hasEarlierClaims, nowMs }: Cycle, { head, queue, placement }: Fit): Placed | undefined {
  const { workload } = head.queued;
  if (hasQuota(queue, snapshot.usage, placement.flavors)) {
    if (stillHolds(placement, workload, snapshot, nowMs)) return placement;
    // Another cluster with the same flavors.
    const options = placement.flavors.map((flavor) => [flavor]);
    const elsewhere = placeIn(snapshot, queue, workload, options, nowMs);
    if (elsewhere.kind === 'Placed') return elsewhere;
  }
  if (!hasEarlierClaims) return undefined;
  // Claims of earlier cycles block the nominee in the next cycle too, so other flavors are tried now.
  const options = assignFlavors(workload, queue, snapshot.usage);
  const found = options.kind === 'Fit' ? placeIn(snapshot, queue, workload, options.groups, nowMs) : undefined;
  return found?.kind === 'Placed' ? found : undefined;
}

/** What a nominee waits for if claims alone block it, in this cycle and the next; undefined if anything else does. */
function blockedByClaims({ snapshot, unclaimed, hasEarlierClaims, nowMs }: Cycle, { head, queue, placement }: Fit): WaitsFor | undefined {
  if (!hasEarlierClaims) return undefined;
  const options = placement.flavors.map((flavor) => [flavor]);
  if (!hasQuota(queue, unclaimed, placement.flavors)) return undefined;
  if (placeIn({ ...snapshot, usage: unclaimed }, queue, head.queued.workload, options, nowMs).kind !== 'Placed') return undefined;
  // Quota of another flavor may be free, of which only the room is claimed.
  return assignFlavors(head.queued.workload, queue, snapshot.usage).kind === 'Fit' ? 'cluster' : 'quota';
}

export const behindClaims = (head: Head, waitsFor: WaitsFor, reserved?: Claimed): Inadmissible => ({
  kind: 'Inadmissible',
  head,
  waitsFor,
  reason: QuotaReservedReason.BehindOtherQueues,
  message:
    reserved === undefined
      ? `the ${waitsFor === 'quota' ? 'quota' : 'room on clusters'} that is free is kept for Jobs that go first`
      : `cluster ${reserved.claim.cluster} is reserved for a Job of cluster queue ${reserved.queue.name}, and this Job is not expected to end before that starts`,
  verdicts: [],
});

export const hasQuota = ({ node }: QueueSetup, usage: Usage, flavors: readonly FlavorOption[]): boolean =>
  chargesOf(flavors).every(([key, amount]) => amount === ZERO || amount <= available(node, usage, key));

function take({ snapshot, unclaimed }: Cycle, { shape, requests }: Workload, { node }: QueueSetup, { cluster, flavors }: Placed): void {
  snapshot.shapes.goes(shape, cluster);
  const holding = { node, charges: chargesOf(flavors), cluster, amounts: requests };
  // A fork sees later charges to its parent unless it has its own value, so both usages are charged.
  for (const usage of [snapshot.usage, unclaimed]) charge(usage, holding);
}
