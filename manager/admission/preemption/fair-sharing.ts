import { minus, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { addUsage, splitFlavorResource, type FlavorResource, type QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/**
 * How much more than its own a ClusterQueue or Cohort uses of what its parent could lend: the dominant resource share of Kueue's KEP-1714.
 * What counts is the resource of which most is borrowed, over all of its flavors.
 */
export type Share = {
  /** Borrowed, in thousandths of what the parent could lend. 0 also where all that is borrowed is of resources that nobody lends. */
  readonly ratio: number;
  readonly weight: number;
  /** The resource that the ratio is about; undefined when nothing that counts is borrowed. Among equals the first by name. */
  readonly dominantResource: string | undefined;
  /** Of what more is used than the node's subtree quota. */
  readonly borrowed: ReadonlySet<FlavorResource>;
};

/** The share of a node as things are. A node without a parent borrows from nobody. */
export function shareOf(node: QuotaNode, usage: Usage): Share {
  const { weight } = node;
  if (node.parent === undefined) return { ratio: 0, weight, dominantResource: undefined, borrowed: NOTHING };
  const borrowed = new Set<FlavorResource>();
  const byResource = new Map<string, Amount>();
  for (const [key, quota] of node.subtree) {
    const over = minus(usage.get(node.id, key), quota);
    if (over <= ZERO) continue;
    borrowed.add(key);
    const { resource } = splitFlavorResource(key);
    byResource.set(resource, plus(byResource.get(resource) ?? ZERO, over));
  }
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

/** The share of a ClusterQueue, or of a Cohort above it, as it would be if the ClusterQueue were charged this. */
export function shareAfter(node: QuotaNode, queue: QuotaNode, usage: Usage, charges: readonly Charge[]): Share {
  const after = usage.fork();
  for (const [key, amount] of charges) addUsage(queue, after, key, amount);
  return shareOf(node, after);
}

/** Negative when `a` is the lesser share: who has it goes first, and loses last. Whoever borrows with weight 0 has more than all others. */
export function compareShares(a: Share, b: Share): number {
  const [aBorrowsWeightless, bBorrowsWeightless] = [isInfinite(a), isInfinite(b)];
  if (aBorrowsWeightless !== bBorrowsWeightless) return aBorrowsWeightless ? 1 : -1;
  return aBorrowsWeightless ? a.ratio - b.ratio : weightedShare(a) - weightedShare(b);
}

/** Infinity for whoever borrows with weight 0. */
export const weightedShare = (share: Share): number => (share.ratio === 0 ? 0 : isInfinite(share) ? Infinity : share.ratio / share.weight);

const isInfinite = ({ ratio, weight }: Share): boolean => weight === 0 && ratio !== 0;

export const isBorrowing = ({ borrowed }: Share): boolean => borrowed.size > 0;

/** Whether anything is borrowed of what these charges ask for. */
export const borrowsAnyOf = ({ borrowed }: Share, charges: readonly Charge[]): boolean =>
  charges.some(([key, amount]) => amount > ZERO && borrowed.has(key));

/** What the status shows of a share: rounded up; an infinite one is the greatest int64 that survives JSON here (Kueue's is 2^63 - 1). */
export const shownShare = (share: Share): number => Math.min(Math.ceil(weightedShare(share)), GREATEST_SHOWN);
const GREATEST_SHOWN = 2 ** 63 - 1024;
