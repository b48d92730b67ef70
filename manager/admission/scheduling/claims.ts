import { larger, minus, plus, smaller, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import type { Claim } from './decision.ts';
import { chargesOf, type Charge, type FlavorOption } from '../flavors/flavor-assigner.ts';
import { charge, discharge, type Holding } from '../flavors/holding.ts';
import { expectedStartMs, keptOf, reservationAt, type ExpectedStart } from './expected-start.ts';
import type { ReservingHead } from './nominate.ts';
import { leastMissing, takersByFlavors, type Taker } from '../flavors/placement.ts';
import { borrowingReach, nominalQuota } from '../quota/quota-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';
import type { ClaimOfHead } from './claims-by-queue.ts';
import type { Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * The reservation behind a claim: an amount for each flavor resource of the ClusterQueue, and all requests of the Workload on one
 * cluster.
 */
export type Claimed = {
  readonly queue: QueueSetup;
  readonly workload: Workload;
  readonly charges: readonly Charge[];
  readonly claim: Claim;
};

/**
 * Computes what a ReservingHead reserves after the nominees before it. It takes the cluster with the smallest shortage. Later nominees
 * cannot take from that cluster, so the smallest shortage only decreases and the head is admitted after finitely many completions.
 */
export function claimedBy({ head, queue, groups, borrowing }: ReservingHead, snapshot: Snapshot, nowMs: number): Claimed | undefined {
  const { workload } = head.queued;
  if (queue.backfills === true) return reservedBy({ head, queue, groups, borrowing }, snapshot, nowMs);
  const found = leastMissing(workload, groups, snapshot, nowMs);
  return found && claimedAs(workload, queue, { ...found, borrowing }, snapshot.usage);
}

/**
 * The reservation of the head of a Backfill queue: the cluster on which it is expected to start first, from that start on. Among equal
 * starts the cluster of its claim goes first, then the better one.
 */
function reservedBy(
  { head, queue, groups, borrowing }: Pick<ReservingHead, 'head' | 'queue' | 'groups' | 'borrowing'>,
  snapshot: Snapshot,
  nowMs: number,
): Claimed | undefined {
  const { workload } = head.queued;
  let best: { readonly taker: Taker; readonly atMs: number } | undefined;
  const all = takersByFlavors(workload, groups, snapshot, nowMs, queue.placement).flatMap((equals) => equals.all());
  for (const taker of all) {
    const isClaimed = taker.cluster === head.claim?.cluster;
    const beforeMs = best === undefined ? undefined : isClaimed ? best.atMs + 1 : best.atMs;
    const charges = chargesOf(taker.flavors);
    const atMs = expectedStartMs(workload, queue, charges, taker.state, snapshot, nowMs, beforeMs);
    if (best === undefined || atMs < (beforeMs ?? 0)) best = { taker, atMs };
  }
  if (best === undefined) return undefined;
  const { cluster, flavors } = best.taker;
  const claim: Claim = { cluster, flavors, borrowing };
  const before = head.claim?.start;
  const isPromised = before !== undefined && Number.isFinite(before.promisedMs);
  const start: ExpectedStart = {
    ...reservationAt(best.atMs, workload, queue, cluster, quotaToReserve(queue, flavors, snapshot.usage), snapshot),
    promisedMs: isPromised ? before.promisedMs : best.atMs,
    sinceMs: isPromised ? before.sinceMs : nowMs,
    clusters: all.map((each) => each.cluster),
  };
  return claimedAs(workload, queue, { ...claim, start }, snapshot.usage);
}

/**
 * A claim with an expected start, as it is now: on the same cluster, or on one where it is expected to start earlier. Undefined for a claim
 * without expected start.
 */
export function revisedClaim({ clusterQueue, queued, claim }: ClaimOfHead, snapshot: Snapshot, nowMs: number): Claim | undefined {
  const queue = snapshot.queues.get(clusterQueue);
  if (claim.start === undefined || queue === undefined) return undefined;
  const groups = claim.flavors.map((flavor) => [flavor]);
  return reservedBy({ head: { clusterQueue, queued, claim }, queue, groups, borrowing: claim.borrowing }, snapshot, nowMs)?.claim;
}

/** What an existing claim reserves now. */
export const claimedAs = (workload: Workload, queue: QueueSetup, claim: Claim, usage: Usage): Claimed => ({
  queue,
  workload,
  claim,
  charges:
    claim.holds === 'Room'
      ? NO_CHARGES
      : claim.start === undefined
        ? quotaToReserve(queue, claim.flavors, usage)
        : keptOf(claim.start.charges),
});

const NO_CHARGES: readonly Charge[] = [];
const NO_AMOUNTS: Requests = new Map();

/** The claims that concern Workloads of these cohort trees: those that hold room, which all trees share, and those of quota there. */
export const claimsIn = (
  roots: ReadonlySet<string | undefined>,
  claims: readonly ClaimOfHead[],
  queues: Snapshot['queues'],
): readonly ClaimOfHead[] =>
  claims.filter(({ clusterQueue, claim }) => claim.holds !== 'Quota' || roots.has(queues.get(clusterQueue)?.node.rootId));

/** The height in the cohort tree up to which an existing claim borrows now. */
export function reachOf({ clusterQueue, claim }: ClaimOfHead, { queues, usage }: Pick<Snapshot, 'queues' | 'usage'>): number {
  const queue = queues.get(clusterQueue);
  if (queue === undefined) return claim.borrowing;
  let height = 0;
  for (const { charges } of claim.flavors) {
    for (const [key, amount] of charges)
      if (amount > ZERO) height = Math.max(height, borrowingReach(queue.node, usage, key, amount).height);
  }
  return height;
}

/** The version of the usage on which {@link reachOf} depends. */
export const usageVersionOf = ({ clusterQueue }: ClaimOfHead, { queues, usage }: Pick<Snapshot, 'queues' | 'usage'>): number =>
  usage.versionOf(queues.get(clusterQueue)?.node.rootId ?? '');

/**
 * Kueue's quotaResourcesToReserve. All requests if the quota is free and only a cluster is missing. Nothing if the ClusterQueue can
 * reclaim all that it has lent (Kueue's CanAlwaysReclaim). Otherwise the rest of the nominal quota or, for a queue that has to borrow,
 * the rest below its borrowingLimit.
 */
export function quotaToReserve(
  { node, preemption }: QueueSetup,
  flavors: readonly Pick<FlavorOption, 'mode' | 'charges' | 'borrowing' | 'podSet'>[],
  usage: Usage,
): readonly Charge[] {
  const charges = chargesOf(flavors);
  if (flavors.every(({ mode }) => mode === 'Fit')) return charges;
  if (preemption.reclaimWithinCohort === 'Any') return [];
  const borrows = flavors.some(({ borrowing }) => borrowing > 0);
  return charges.map(([key, amount]): Charge => {
    const left = minus(nominalQuota(node, key), usage.get(node.id, key));
    if (!borrows) return [key, atMost(amount, left)];
    const limit = node.quotas.get(key)?.borrowingLimit;
    return [key, limit === undefined ? amount : atMost(amount, plus(left, limit))];
  });
}

const atMost = (amount: Amount, left: Amount): Amount => larger(ZERO, smaller(amount, left));

export const reserve = (claimed: Claimed, usage: Usage): void => charge(usage, holdingOf(claimed));

export const release = (claimed: Claimed, usage: Usage): void => discharge(usage, holdingOf(claimed));

const holdingOf = ({ queue, workload, charges, claim }: Claimed): Holding => ({
  node: queue.node,
  charges,
  cluster: claim.cluster,
  amounts: claim.holds === 'Quota' ? NO_AMOUNTS : claim.start === undefined ? workload.requests : new Map(keptOf(claim.start.room)),
});
