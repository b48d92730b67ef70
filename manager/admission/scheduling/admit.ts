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

/** Where a scheduling cycle stands. */
export type Cycle = {
  /** Its usage holds what was admitted in this cycle, and what is kept for Creditors. */
  readonly snapshot: Snapshot;
  /** Without what is kept. */
  readonly unclaimed: Usage;
  /** By ClusterQueue. */
  readonly claims: Map<string, { readonly claimed: Claimed; readonly anew: () => Claimed | undefined }>;
  /** Keys of those who give their place up in this cycle: in `snapshot` they are gone, in `unclaimed` they are not. */
  readonly displaced: Set<string>;
  /** ClusterQueues of which one has others give their place up. */
  readonly preemptors: Set<string>;
  /** Some were kept before this cycle already: whom they stop they would stop again. */
  readonly hasStanding: boolean;
  readonly nowMs: number;
};

/** Admits a nominee if what is left by those before it is still enough. */
export function admit(cycle: Cycle, fit: Fit): Decision {
  const { snapshot, claims, nowMs } = cycle;
  const { head, queue } = fit;
  const own = claims.get(head.clusterQueue);
  // Younger ones of one BestEffortFIFO queue may pass an older one that does not fit, as in Kueue.
  if (own !== undefined) release(own.claimed, snapshot.usage);
  const placement = placementNow(cycle, fit);
  if (placement !== undefined) take(cycle, head.queued.workload, queue, placement);
  const missing = placement === undefined ? whatIsKept(cycle, fit) : undefined;
  if (own !== undefined) {
    const claimed = own.anew() ?? own.claimed;
    reserve(claimed, snapshot.usage);
    claims.set(head.clusterQueue, { ...own, claimed });
  }
  if (placement !== undefined) return { kind: 'Admit', head, record: recordOf(head.queued.workload, queue, placement, nowMs) };
  if (missing === undefined) return { kind: 'Requeue', head };
  // It takes its place behind those that it is kept for.
  const { flavors } = fit.placement;
  return claim(cycle, {
    ...fit,
    kind: 'ReservingHead',
    groups: flavors.map((flavor) => [flavor]),
    flavors,
    decision: isKept(head, missing),
  });
}

/** Of each ClusterQueue one has something kept for it, the first ReservingHead or who preempts; others would take it from their own queue. */
export function claim({ snapshot, claims, preemptors, nowMs }: Cycle, creditor: ReservingHead): Decision {
  const { head, decision } = creditor;
  const kept = (): Claimed | undefined => claimedBy(creditor, snapshot, nowMs);
  const claimed = claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue) ? undefined : kept();
  if (claimed === undefined) return decision;
  reserve(claimed, snapshot.usage);
  claims.set(head.clusterQueue, { claimed, anew: kept });
  return Object.assign(decision, { claim: claimed.claim });
}

/** The place that was found, or another one; undefined when there is none any more. Those who give their place up still have it. */
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

function placementLeft({ snapshot, hasStanding, nowMs }: Cycle, { head, queue, placement }: Fit): Placed | undefined {
  const { workload } = head.queued;
  if (hasQuota(queue, snapshot.usage, placement.flavors)) {
    if (stillHolds(placement, workload, snapshot, nowMs)) return placement;
    // The same flavors, on another cluster.
    const options = placement.flavors.map((flavor) => [flavor]);
    const elsewhere = placeIn(snapshot, workload, options, nowMs);
    if (elsewhere.kind === 'Placed') return elsewhere;
  }
  if (!hasStanding) return undefined;
  // What stands in its way will do so in the next cycle, too.
  const options = assignFlavors(workload, queue, snapshot.usage);
  const found = options.kind === 'Fit' ? placeIn(snapshot, workload, options.groups, nowMs) : undefined;
  return found?.kind === 'Placed' ? found : undefined;
}

/** Where nothing but what is kept for others has stopped it, and will again: what it waits for. */
function whatIsKept({ snapshot, unclaimed, hasStanding, nowMs }: Cycle, { head, queue, placement }: Fit): WaitsFor | undefined {
  if (!hasStanding) return undefined;
  const options = placement.flavors.map((flavor) => [flavor]);
  if (!hasQuota(queue, unclaimed, placement.flavors)) return undefined;
  if (placeIn({ ...snapshot, usage: unclaimed }, head.queued.workload, options, nowMs).kind !== 'Placed') return undefined;
  return hasQuota(queue, snapshot.usage, placement.flavors) ? 'cluster' : 'quota';
}

export const isKept = (head: Head, waitsFor: WaitsFor): Inadmissible => ({
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
  // One sees what is in the other, unless it has its own.
  for (const usage of [snapshot.usage, unclaimed]) charge(usage, holding);
}
