import { QuotaReservedReason } from '../api/reasons.ts';
import { formatAmount, minus, ZERO, type Amount, type Requests } from '../api/amount.ts';
import type { Combinable } from './flavor-combination.ts';
import { matchFlavor } from './flavor-match.ts';
import { available, borrowingReach, flavorResource, nominalQuota, potentialAvailable, type FlavorResource } from './quota-tree.ts';
import type { FlavorSetup, InadmissibleReason, QueueSetup } from './snapshot.ts';
import type { Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** A flavor on which pods of a Workload could run, with quota for all that it asks of one resource group, now or once it is given back. */
export type FlavorOption = Combinable & {
  readonly flavor: string;
  /** Whether the quota is free, or others must give it back first. */
  readonly mode: 'Fit' | 'Preempt';
  /** Place in the group's order of preference, from 0: the less, the better. */
  readonly rank: number;
  readonly resources: readonly string[];
  readonly charges: readonly Charge[];
  /** How far up the cohort tree it would borrow; 0: not at all. */
  readonly borrowing: number;
};
export type Charge = readonly [FlavorResource, Amount];
/** For each resource group the options, best first. */
export type OptionGroups = readonly (readonly FlavorOption[])[];

export type FlavorOptions =
  | {
      readonly kind: 'Fit';
      /** Those whose quota is free. */
      readonly groups: OptionGroups;
      /** These, and behind them in each group those whose quota could be given back. */
      readonly claimable: OptionGroups;
      /** Why pods could not run on nodes of some of the others. */
      readonly mismatches: readonly string[];
    }
  | ({
      readonly kind: 'NoFit';
      /** As above; undefined where some group has none, so that nothing can be claimed. */
      readonly claimable: OptionGroups | undefined;
    } & InadmissibleReason);

/** That more quota becomes free changes nothing about these: they are told of a Workload that fits no flavor, whoever else uses it. */
export const isHopeless = ({ reason }: InadmissibleReason): boolean =>
  reason === QuotaReservedReason.ExceedsQuota || reason === QuotaReservedReason.NoMatchingFlavor;

/**
 * Finds the flavors on which pods of a Workload could run and whose quota has room for it. No group's quota depends on another's, because each
 * resource is in one group only; which combination of flavors is taken is decided together with the cluster, in placement.ts.
 */
export function assignFlavors(workload: Workload, queue: QueueSetup, usage: Usage): FlavorOptions {
  const uncovered = uncoveredResource(workload.requests, queue);
  if (uncovered !== undefined) {
    return noFit(QuotaReservedReason.ExceedsQuota, `cluster queue ${queue.name} gives no quota for ${uncovered}`);
  }
  const groups = groupsFor(workload, queue).map(({ flavors, resources }) =>
    flavors.map((flavor) => tryFlavor(workload, queue, usage, flavor, resources)),
  );
  const unmet = groups.filter((findings) => !findings.some(isFit));
  const claimable = groups.map((findings) => ranked(findings, queue));
  // What never fits one group need not wait for another.
  const worst = unmet.find(isNever) ?? unmet[0];
  if (worst !== undefined) return summary(queue, worst, claimable.every((options) => options.length > 0) ? claimable : undefined);
  return {
    kind: 'Fit',
    groups: claimable.map((options) => options.filter(({ mode }) => mode === 'Fit')),
    claimable,
    mismatches: groups.flat().flatMap((finding) => (finding.kind === 'Mismatch' ? [finding.problem] : [])),
  };
}

type Finding =
  | { readonly kind: 'Option'; readonly option: Unranked; readonly problem?: string }
  /** It has no room now; it could never have so much; its nodes are no nodes for these pods. */
  | { readonly kind: 'Short' | 'Exceeded' | 'Mismatch'; readonly problem: string };
type Unranked = Omit<FlavorOption, 'rank'>;

const isFit = (finding: Finding): boolean => finding.kind === 'Option' && finding.option.mode === 'Fit';
const isNever = (findings: readonly Finding[]): boolean => findings.every(({ kind }) => kind === 'Exceeded' || kind === 'Mismatch');

/**
 * The options in the order in which they are preferred: as the queue lists them, but where it says TryNextFlavor by how little they must borrow.
 * Those that others must give back first come last, and are always told apart by that, as in Kueue. Preferred is not chosen: a flavor that no
 * cluster with room offers is passed over, whatever it has.
 */
function ranked(findings: readonly Finding[], { whenCanBorrow }: QueueSetup): FlavorOption[] {
  const reach = ({ mode, borrowing }: Unranked): number => {
    if (mode === 'Preempt') return HIGHER_THAN_ANY_TREE + borrowing;
    return whenCanBorrow === 'TryNextFlavor' ? borrowing : 0;
  };
  return findings
    .flatMap((finding, index) =>
      finding.kind === 'Option' ? [{ ...finding.option, rank: reach(finding.option) * findings.length + index }] : [],
    )
    .sort((a, b) => a.rank - b.rank);
}
const HIGHER_THAN_ANY_TREE = 1_000_000;

function tryFlavor(workload: Workload, queue: QueueSetup, usage: Usage, flavor: FlavorSetup, resources: readonly string[]): Finding {
  const match = matchFlavor(workload.nodeWish, flavor);
  if (match.kind === 'Mismatch') return match;
  const charges: Charge[] = [];
  const shortages: string[] = [];
  let borrowing = 0;
  let claimable = true;
  for (const resource of resources) {
    const key = flavorResource(flavor.name, resource);
    const amount = workload.requests.get(resource) ?? ZERO;
    const most = potentialAvailable(queue.node, key);
    if (amount > most) {
      return {
        kind: 'Exceeded',
        problem: `flavor ${flavor.name} never has more than ${formatAmount(resource, most)} of the ${formatAmount(resource, amount)} ${resource} asked for`,
      };
    }
    const free = available(queue.node, usage, key);
    charges.push([key, amount]);
    if (amount === ZERO) continue;
    const { height, reclaimable } = borrowingReach(queue.node, usage, key, amount);
    borrowing = Math.max(borrowing, height);
    if (amount <= free) continue;
    shortages.push(`${formatAmount(resource, minus(amount, free))} ${resource}`);
    claimable &&= amount <= nominalQuota(queue.node, key) || reclaimable;
  }
  const { name, clusters, nodeLabels } = flavor;
  const mode = shortages.length === 0 ? 'Fit' : 'Preempt';
  const option: Unranked = { flavor: name, mode, clusters, nodeLabels, terms: match.terms, resources, charges, borrowing };
  if (shortages.length === 0) return { kind: 'Option', option };
  const problem = `flavor ${flavor.name} is short of ${shortages.join(' and ')}`;
  return claimable ? { kind: 'Option', option, problem } : { kind: 'Short', problem };
}

function summary(queue: QueueSetup, findings: readonly Finding[], claimable: OptionGroups | undefined): FlavorOptions {
  const problems = findings.flatMap(({ problem }) => problem ?? []);
  return noFit(reasonOf(findings), `cluster queue ${queue.name}: ${problems.join('; ')}`, claimable);
}

function reasonOf(findings: readonly Finding[]): QuotaReservedReason {
  if (!isNever(findings)) return QuotaReservedReason.InsufficientQuota;
  // As in Kueue, a flavor that matches and is too small tells more than those that do not match.
  return findings.every(({ kind }) => kind === 'Mismatch') ? QuotaReservedReason.NoMatchingFlavor : QuotaReservedReason.ExceedsQuota;
}

const noFit = (reason: QuotaReservedReason, message: string, claimable?: OptionGroups): FlavorOptions => ({
  kind: 'NoFit',
  reason,
  message,
  claimable,
});

/** `pods` counts only where a ClusterQueue gives quota for it; every other resource asked for must be covered. */
function uncoveredResource(requests: Requests, queue: QueueSetup): string | undefined {
  for (const [resource, amount] of requests) {
    if (amount === ZERO || resource === 'pods') continue;
    if (!queue.groups.some((group) => group.resources.includes(resource))) return resource;
  }
  return undefined;
}

/**
 * The groups of which the Workload asks something. One that asks for nothing at all still takes a flavor of the first group, so that it
 * lands on a cluster that its queue may use.
 */
function groupsFor(workload: Workload, queue: QueueSetup): QueueSetup['groups'] {
  const asked = queue.groups.filter((group) => group.resources.some((resource) => (workload.requests.get(resource) ?? ZERO) > ZERO));
  return asked.length > 0 ? asked : queue.groups.slice(0, 1);
}
