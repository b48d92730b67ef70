import { ZERO } from '../../api/amount.ts';
import { compareShares, shareOf, sharesIn, usageWith, type Share } from './fair-sharing.ts';
import type { FairCandidate, FairSearch } from './fair-preemption.ts';
import { wouldBorrow, type QuotaNode } from '../quota/quota-tree.ts';
import type { Usage } from '../quota/usage.ts';

/**
 * Whether fair sharing certainly finds no victim outside the preemptor's ClusterQueue, so that no search is needed. Unless the preemptor
 * reclaims its own quota, the first victim comes from a side whose share is at least that of the preemptor's side. This holds under either
 * strategy. Without such a side there is no first victim, and so none at all.
 */
export function hasNoVictimElsewhere({
  preemptor,
  contested,
  usage,
}: Pick<FairSearch<FairCandidate>, 'preemptor' | 'contested' | 'usage'>): boolean {
  const { queue } = preemptor;
  const shared = usageWith(preemptor, usage);
  if ([...contested].every((key) => !wouldBorrow(queue, shared, key, ZERO))) return false;
  const heaviestIn = usage.derived(heaviestChildren);
  for (let side = queue; side.parent !== undefined; side = side.parent) {
    const other = heaviestIn(side.parent).find(({ node }) => node !== side);
    if (other !== undefined && compareShares(shareOf(side, shared), other.share) <= 0) return false;
  }
  return true;
}

type Heavy = { readonly node: QuotaNode; readonly share: Share };

/** The two children of a Cohort with the highest shares, the highest first: at least one of them is not the preemptor's side. */
function heaviestChildren(usage: Usage): (cohort: QuotaNode) => readonly Heavy[] {
  const known = new Map<string, readonly Heavy[]>();
  return (cohort) => {
    const found = known.get(cohort.id) ?? twoHeaviest(cohort, usage);
    known.set(cohort.id, found);
    return found;
  };
}

function twoHeaviest(cohort: QuotaNode, usage: Usage): readonly Heavy[] {
  const shares = usage.derived(sharesIn);
  let first: Heavy | undefined;
  let second: Heavy | undefined;
  for (const node of cohort.children) {
    const share = shares(node);
    if (first === undefined || compareShares(share, first.share) > 0) [first, second] = [{ node, share }, first];
    else if (second === undefined || compareShares(share, second.share) > 0) second = { node, share };
  }
  return [first, second].filter((each) => each !== undefined);
}
