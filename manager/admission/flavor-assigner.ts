import { QuotaReservedReason } from '../api/reasons.ts';
import { formatAmount, minus, ZERO, type Amount, type Requests } from '../api/amount.ts';
import type { Combinable } from './flavor-combination.ts';
import { matchFlavor } from './flavor-match.ts';
import { available, flavorResource, potentialAvailable, wouldBorrow, type FlavorResource } from './quota-tree.ts';
import type { FlavorSetup, InadmissibleReason, QueueSetup } from './snapshot.ts';
import type { Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** A flavor on which pods of a Workload could run, and that has quota for all that it asks of one resource group. */
export type FlavorOption = Combinable & {
  readonly flavor: string;
  /** Place in the group's order of preference, from 0: the less, the better. */
  readonly rank: number;
  readonly resources: readonly string[];
  readonly charges: readonly Charge[];
  readonly borrowing: boolean;
};
export type Charge = readonly [FlavorResource, Amount];

export type FlavorOptions =
  | {
      readonly kind: 'Fit';
      /** For each resource group, the flavors that fit, best first. */
      readonly groups: readonly (readonly FlavorOption[])[];
      /** Why pods could not run on nodes of some of the others. */
      readonly mismatches: readonly string[];
    }
  | ({ readonly kind: 'NoFit' } & InadmissibleReason);

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
  const unmet = groups.filter((findings) => !findings.some(({ kind }) => kind === 'Option'));
  // What never fits one group need not wait for another.
  const worst = unmet.find(isNever) ?? unmet[0];
  if (worst !== undefined) return summary(queue, worst);
  return {
    kind: 'Fit',
    groups: groups.map((findings) => ranked(findings, queue)),
    mismatches: groups.flat().flatMap((finding) => (finding.kind === 'Mismatch' ? [finding.problem] : [])),
  };
}

type Finding =
  | { readonly kind: 'Option'; readonly option: Omit<FlavorOption, 'rank'> }
  /** It has no room now; it could never have so much; its nodes are no nodes for these pods. */
  | { readonly kind: 'Short' | 'Exceeded' | 'Mismatch'; readonly problem: string };

const isNever = (findings: readonly Finding[]): boolean => findings.every(({ kind }) => kind === 'Exceeded' || kind === 'Mismatch');

/**
 * The options in the order in which they are preferred: as the queue lists them, but where it says TryNextFlavor those that need not borrow
 * before those that must. Preferred is not chosen: a flavor that no cluster with room offers is passed over, whatever it has.
 */
function ranked(findings: readonly Finding[], { whenCanBorrow }: QueueSetup): FlavorOption[] {
  const options = findings.flatMap((finding, index): FlavorOption[] => {
    if (finding.kind !== 'Option') return [];
    const comesAfter = whenCanBorrow === 'TryNextFlavor' ? Number(finding.option.borrowing) * findings.length : 0;
    return [{ ...finding.option, rank: comesAfter + index }];
  });
  return options.sort((a, b) => a.rank - b.rank);
}

function tryFlavor(workload: Workload, queue: QueueSetup, usage: Usage, flavor: FlavorSetup, resources: readonly string[]): Finding {
  const match = matchFlavor(workload.nodeWish, flavor);
  if (match.kind === 'Mismatch') return match;
  const charges: Charge[] = [];
  const shortages: string[] = [];
  let borrowing = false;
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
    if (amount > ZERO && amount > free) shortages.push(`${formatAmount(resource, minus(amount, free))} ${resource}`);
    borrowing ||= amount > ZERO && wouldBorrow(queue.node, usage, key, amount);
    charges.push([key, amount]);
  }
  if (shortages.length > 0) return { kind: 'Short', problem: `flavor ${flavor.name} is short of ${shortages.join(' and ')}` };
  const { name, clusters, nodeLabels } = flavor;
  return { kind: 'Option', option: { flavor: name, clusters, nodeLabels, terms: match.terms, resources, charges, borrowing } };
}

function summary(queue: QueueSetup, findings: readonly Finding[]): FlavorOptions {
  const problems = findings.flatMap((finding) => (finding.kind === 'Option' ? [] : [finding.problem]));
  return noFit(reasonOf(findings), `cluster queue ${queue.name}: ${problems.join('; ')}`);
}

function reasonOf(findings: readonly Finding[]): QuotaReservedReason {
  if (!isNever(findings)) return QuotaReservedReason.InsufficientQuota;
  // As in Kueue, a flavor that matches and is too small tells more than those that do not match.
  return findings.every(({ kind }) => kind === 'Mismatch') ? QuotaReservedReason.NoMatchingFlavor : QuotaReservedReason.ExceedsQuota;
}

const noFit = (reason: QuotaReservedReason, message: string): FlavorOptions => ({ kind: 'NoFit', reason, message });

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
