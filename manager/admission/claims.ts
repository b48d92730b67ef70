import { larger, minus, plus, smaller, ZERO, type Amount } from '../api/amount.ts';
import type { Claim } from './decision.ts';
import type { Charge, FlavorOption } from './flavor-assigner.ts';
import type { Creditor } from './nominate.ts';
import { leastMissing } from './placement.ts';
import { addUsage, nominalQuota, removeUsage } from './quota-tree.ts';
import type { QueueSetup, Snapshot } from './snapshot.ts';
import { clusterHolder, type Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** What a Creditor keeps from those after it: an amount per flavor resource of its ClusterQueue, and all that it asks for on one cluster. */
export type Claimed = {
  readonly queue: QueueSetup;
  readonly workload: Workload;
  readonly charges: readonly Charge[];
  readonly claim: Claim;
};

/**
 * Decides what a Creditor reserves, given what is left by those before it. The cluster is the one that lacks least of what it asks for: nobody
 * after it can take of that, so that the least that any cluster lacks only decreases, and it is admitted after finitely many completions.
 */
export function claimedBy({ head, queue, groups }: Creditor, snapshot: Snapshot, nowMs: number): Claimed | undefined {
  const { workload } = head.queued;
  const found = leastMissing(workload, groups, snapshot, nowMs);
  if (found === undefined) return undefined;
  const { cluster, flavors } = found;
  return {
    queue,
    workload,
    charges: quotaToReserve(queue, flavors, snapshot.usage),
    claim: {
      cluster,
      flavors: Object.fromEntries(flavors.flatMap(({ flavor, resources }) => resources.map((resource) => [resource, flavor]))),
    },
  };
}

/**
 * Kueue's quotaResourcesToReserve: all, where the quota is free and only a cluster is missing; else what is left of the queue's own nominal quota,
 * or, where it has to borrow, what is left below its borrowingLimit.
 */
export function quotaToReserve(
  { node }: QueueSetup,
  flavors: readonly Pick<FlavorOption, 'mode' | 'charges' | 'borrowing'>[],
  usage: Usage,
): Charge[] {
  const charges = flavors.flatMap((option) => option.charges);
  if (flavors.every(({ mode }) => mode === 'Fit')) return charges;
  const borrows = flavors.some(({ borrowing }) => borrowing > 0);
  return charges.map(([key, amount]): Charge => {
    const left = minus(nominalQuota(node, key), usage.get(node.id, key));
    if (!borrows) return [key, atMost(amount, left)];
    const limit = node.quotas.get(key)?.borrowingLimit;
    return [key, limit === undefined ? amount : atMost(amount, plus(left, limit))];
  });
}

const atMost = (amount: Amount, left: Amount): Amount => larger(ZERO, smaller(amount, left));

export function keep({ queue, workload, charges, claim }: Claimed, usage: Usage): void {
  for (const [key, amount] of charges) addUsage(queue.node, usage, key, amount);
  const holder = clusterHolder(claim.cluster);
  for (const [resource, amount] of workload.requests) usage.set(holder, resource, plus(usage.get(holder, resource), amount));
}

export function giveBack({ queue, workload, charges, claim }: Claimed, usage: Usage): void {
  for (const [key, amount] of charges) removeUsage(queue.node, usage, key, amount);
  const holder = clusterHolder(claim.cluster);
  for (const [resource, amount] of workload.requests) usage.set(holder, resource, minus(usage.get(holder, resource), amount));
}
