import { minus, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { addUsage, splitFlavorResource, usageAfter, usageWithout, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/**
 * The dominant resource share of a ClusterQueue or Cohort (Kueue's KEP-1714): how far its usage exceeds its quota, relative to what its
 * parent could lend. The resource with the highest ratio counts, over all its flavors.
 */
export type Share = {
  /** Borrowed amount in thousandths of what the parent could lend. 0 also if all borrowed resources are lendable nowhere. */
  readonly ratio: number;
  readonly weight: number;
  /** The resource of the ratio; undefined if the ratio is 0. Among equals the first by name. */
  readonly dominantResource: string | undefined;
  /** Flavor resources whose usage exceeds the node's subtree quota. */
  readonly borrowed: ReadonlySet<FlavorResource>;
};

/** The current share of a node. A node without a parent does not borrow. */
export const shareOf = (node: QuotaNode, usage: Usage): Share => shareWith(node, (key) => usage.get(node.id, key));

/** The share of a ClusterQueue, or of a Cohort above it, after these charges to the ClusterQueue. */
export const shareAfter = (node: QuotaNode, queue: QuotaNode, usage: Usage, charges: readonly Charge[]): Share =>
  shareWith(node, (key) => usageAfter(node, queue, usage, key, chargedTo(charges, key)));

/** The same once the ClusterQueue has given these charges back. */
export const shareWithout = (node: QuotaNode, queue: QuotaNode, usage: Usage, charges: readonly Charge[]): Share =>
  shareWith(node, (key) => usageWithout(node, queue, usage, key, chargedTo(charges, key)));

/** A usage of its own, with these charges to a ClusterQueue. */
export function usageWith({ queue, charges }: { readonly queue: QuotaNode; readonly charges: readonly Charge[] }, usage: Usage): Usage {
  const charged = usage.fork();
  for (const [key, amount] of charges) addUsage(queue, charged, key, amount);
  return charged;
}

const chargedTo = (charges: readonly Charge[], key: FlavorResource): Amount =>
  charges.reduce((sum, [charged, amount]) => (charged === key ? plus(sum, amount) : sum), ZERO);

/** `used`: the usage of the node. */
function shareWith(node: QuotaNode, used: (key: FlavorResource) => Amount): Share {
  const { weight } = node;
  let borrowed: Set<FlavorResource> | undefined;
  const byResource = new Map<string, Amount>();
  for (const [key, quota] of node.parent === undefined ? [] : node.subtree) {
    const over = minus(used(key), quota);
    if (over <= ZERO) continue;
    borrowed = (borrowed ?? new Set()).add(key);
    const { resource } = splitFlavorResource(key);
    byResource.set(resource, plus(byResource.get(resource) ?? ZERO, over));
  }
  if (borrowed === undefined) return { ratio: 0, weight, dominantResource: undefined, borrowed: NOTHING };
  let ratio = 0;
  let dominantResource: string | undefined;
  for (const [resource, over] of byResource) {
    const lendable = node.lendable.get(resource) ?? ZERO;
    if (lendable <= ZERO) continue;
    const next = (over * 1000) / lendable;
    const isGreater = next > ratio || (next === ratio && dominantResource !== undefined && resource < dominantResource);
    if (!isGreater) continue;
    ratio = next;
    dominantResource = resource;
  }
  return { ratio, weight, dominantResource, borrowed };
}

const NOTHING: ReadonlySet<FlavorResource> = new Set();

/** The shares of nodes in a usage, each worked out once; for {@link Usage.derived}. */
export function sharesIn(usage: Usage): (node: QuotaNode) => Share {
  const shares = new Map<QuotaNode, Share>();
  return (node) => {
    const known = shares.get(node);
    if (known !== undefined) return known;
    const share = shareOf(node, usage);
    shares.set(node, share);
    return share;
  };
}

/** Negative if `a` is the smaller share: it is admitted first and preempted last. Borrowing with weight 0 exceeds all other shares. */
export function compareShares(a: Share, b: Share): number {
  const [aBorrowsWeightless, bBorrowsWeightless] = [isInfinite(a), isInfinite(b)];
  if (aBorrowsWeightless !== bBorrowsWeightless) return aBorrowsWeightless ? 1 : -1;
  return aBorrowsWeightless ? a.ratio - b.ratio : weightedShare(a) - weightedShare(b);
}

/** Infinity for a node that borrows with weight 0. */
export const weightedShare = (share: Share): number => (share.ratio === 0 ? 0 : isInfinite(share) ? Infinity : share.ratio / share.weight);

const isInfinite = ({ ratio, weight }: Share): boolean => weight === 0 && ratio !== 0;

export const isBorrowing = ({ borrowed }: Share): boolean => borrowed.size > 0;

/** Whether any flavor resource of these charges is borrowed. */
export const borrowsAnyOf = ({ borrowed }: Share, charges: readonly Charge[]): boolean =>
  charges.some(([key, amount]) => amount > ZERO && borrowed.has(key));

/** A share as in status: rounded up; an infinite share is the greatest int64 that survives JSON here (Kueue's is 2^63 - 1). */
export const shownShare = (share: Share): number => Math.min(Math.ceil(weightedShare(share)), GREATEST_SHOWN);
const GREATEST_SHOWN = 2 ** 63 - 1024;
