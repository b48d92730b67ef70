import { larger, minus, plus, smaller, ZERO, type Amount } from '../../api/amount.ts';
import type { Claim } from './decision.ts';
import type { Charge, FlavorOption } from '../flavors/flavor-assigner.ts';
import { charge, discharge, type Holding } from '../flavors/holding.ts';
import type { ReservingHead } from './nominate.ts';
import { leastMissing } from '../flavors/placement.ts';
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
  const found = leastMissing(workload, groups, snapshot, nowMs);
  return found && claimedAs(workload, queue, { ...found, borrowing }, snapshot.usage);
}

/** What an existing claim reserves now. */
export const claimedAs = (workload: Workload, queue: QueueSetup, claim: Claim, usage: Usage): Claimed => ({
  queue,
  workload,
  claim,
  charges: quotaToReserve(queue, claim.flavors, usage),
});

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

/**
 * Kueue's quotaResourcesToReserve. All requests if the quota is free and only a cluster is missing. Nothing if the ClusterQueue can
 * reclaim all that it has lent (Kueue's CanAlwaysReclaim). Otherwise the rest of the nominal quota or, for a queue that has to borrow,
 * the rest below its borrowingLimit.
 */
export function quotaToReserve(
  { node, preemption }: QueueSetup,
  flavors: readonly Pick<FlavorOption, 'mode' | 'charges' | 'borrowing'>[],
  usage: Usage,
): Charge[] {
  const charges = flavors.flatMap((option) => option.charges);
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
  amounts: workload.requests,
});
