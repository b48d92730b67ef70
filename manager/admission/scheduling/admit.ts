import { ZERO } from '../../api/amount.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import { recordOf } from './admission-record.ts';
import { claimedBy, release, reserve, type Claimed } from './claims.ts';
import type { Decision, Head, Inadmissible, WaitsFor } from './decision.ts';
import { assignFlavors, type FlavorOption } from '../flavors/flavor-assigner.ts';
import { charge } from '../flavors/holding.ts';
import { placeIn, type ReservingHead, type Fit } from './nominate.ts';
import { stillHolds, type Placed } from '../flavors/placement.ts';
import { shortagesOn } from '../preemption/preemption.ts';
import { available } from '../quota/quota-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/** The state of a scheduling cycle. */
export type Cycle = {
  /** Snapshot whose usage includes the admissions of this cycle and all claims. */
  readonly snapshot: Snapshot;
  /** Usage without claims. */
  readonly unclaimed: Usage;
  /** Claims by ClusterQueue. */
  readonly claims: Map<string, { readonly claimed: Claimed; readonly recompute: () => Claimed | undefined }>;
  /** Keys of the Workloads that this cycle preempts: their usage is gone from `snapshot`, and still counts in `unclaimed`. */
  readonly displaced: Set<string>;
  /** ClusterQueues that preempt in this cycle. */
  readonly preemptors: Set<string>;
  /** Claims of earlier cycles exist: a head that they block now stays blocked in the next cycle. */
  readonly hasEarlierClaims: boolean;
  readonly nowMs: number;
};

/** Admits a nominee if enough is left by the nominees before it. */
export function admit(cycle: Cycle, fit: Fit): Decision {
  const { snapshot, claims, nowMs } = cycle;
  const { head, queue } = fit;
  const own = claims.get(head.clusterQueue);
  // In a BestEffortFIFO queue, as in Kueue, a later Workload may pass an earlier one that does not fit: its own queue's claim does not
  // block it.
  if (own !== undefined) release(own.claimed, snapshot.usage);
  const placement = placementNow(cycle, fit);
  if (placement !== undefined) take(cycle, head.queued.workload, queue, placement);
  const missing = placement === undefined ? blockedByClaims(cycle, fit) : undefined;
  if (own !== undefined) {
    const claimed = own.recompute() ?? own.claimed;
    reserve(claimed, snapshot.usage);
    claims.set(head.clusterQueue, { ...own, claimed });
  }
  if (placement !== undefined) return { kind: 'Admit', head, record: recordOf(head.queued.workload, queue, placement, nowMs) };
  if (missing === undefined) return { kind: 'Requeue', head };
  // The nominee takes its place behind the claims that block it.
  const { flavors } = fit.placement;
  return claim(cycle, {
    ...fit,
    kind: 'ReservingHead',
    groups: flavors.map((flavor) => [flavor]),
    flavors,
    decision: behindClaims(head, missing),
  });
}

/**
 * Reserves what a ReservingHead claims. Each ClusterQueue has one claim per cycle, that of its first ReservingHead or preemptor: a
 * second claim would only take from the queue's own quota.
 */
export function claim({ snapshot, claims, preemptors, nowMs }: Cycle, reserving: ReservingHead): Decision {
  const { head, decision } = reserving;
  const compute = (): Claimed | undefined => claimedBy(reserving, snapshot, nowMs);
  const claimed = claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue) ? undefined : compute();
  if (claimed === undefined) return decision;
  reserve(claimed, snapshot.usage);
  claims.set(head.clusterQueue, { claimed, recompute: compute });
  return Object.assign(decision, { claim: claimed.claim });
}

/** The nominated placement, or another one; undefined when none is left. Targets of preemption still hold their quota and room here. */
function placementNow(cycle: Cycle, fit: Fit): Placed | undefined {
  const placement = placementLeft(cycle, fit);
  if (placement === undefined || cycle.displaced.size === 0) return placement;
  const { workload } = fit.head.queued;
  const state = cycle.snapshot.clusters.find(({ name }) => name === placement.cluster);
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
  return hasQuota(queue, snapshot.usage, placement.flavors) ? 'cluster' : 'quota';
}

export const behindClaims = (head: Head, waitsFor: WaitsFor): Inadmissible => ({
  kind: 'Inadmissible',
  head,
  waitsFor,
  reason: QuotaReservedReason.BehindOtherQueues,
  message: `the ${waitsFor === 'quota' ? 'quota' : 'room on clusters'} that is free is kept for Jobs that go first`,
  verdicts: [],
});

export const hasQuota = ({ node }: QueueSetup, usage: Usage, flavors: readonly FlavorOption[]): boolean =>
  flavors.every(({ charges }) => charges.every(([key, amount]) => amount === ZERO || amount <= available(node, usage, key)));

function take({ snapshot, unclaimed }: Cycle, { shape, requests }: Workload, { node }: QueueSetup, { cluster, flavors }: Placed): void {
  snapshot.shapes.goes(shape, cluster);
  const holding = { node, charges: flavors.flatMap(({ charges }) => charges), cluster, amounts: requests };
  // A fork sees later charges to its parent unless it has its own value, so both usages are charged.
  for (const usage of [snapshot.usage, unclaimed]) charge(usage, holding);
}
