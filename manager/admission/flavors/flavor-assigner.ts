import { QuotaReservedReason } from '../../api/reasons.ts';
import { formatAmount, minus, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import type { Combinable } from './flavor-combination.ts';
import { inPreferredOrder, worstMode, type FlavorMode } from './flavor-fungibility.ts';
import { matchFlavor } from './flavor-match.ts';
import { available, borrowingReach, flavorResource, nominalQuota, potentialAvailable, type FlavorResource } from '../quota/quota-tree.ts';
import type { FlavorSetup, InadmissibleReason, QueueSetup } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

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
      /** These and those whose quota could be given back, in each group the best first. */
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
export function assignFlavors(
  workload: Workload,
  queue: QueueSetup,
  usage: Usage,
  preemption: PreemptionOracle = nobody(queue, usage),
): FlavorOptions {
  const uncovered = uncoveredResource(workload.requests, queue);
  if (uncovered !== undefined) {
    return noFit(QuotaReservedReason.ExceedsQuota, `cluster queue ${queue.name} gives no quota for ${uncovered}`);
  }
  const groups = groupsFor(workload, queue).map(({ flavors, resources }) =>
    flavors.map((flavor) => tryFlavor(workload, queue, usage, flavor, resources, preemption)),
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
  | { readonly kind: 'Option'; readonly option: Unranked; readonly offer: FlavorMode; readonly problem?: string }
  /** It has no room now; it could never have so much; its nodes are no nodes for these pods. */
  | { readonly kind: 'Short' | 'Exceeded' | 'Mismatch'; readonly problem: string };
type Unranked = Omit<FlavorOption, 'rank'>;

const isFit = (finding: Finding): boolean => finding.kind === 'Option' && finding.option.mode === 'Fit';
const isNever = (findings: readonly Finding[]): boolean => findings.every(({ kind }) => kind === 'Exceeded' || kind === 'Mismatch');

/** What of one resource could be had if others gave it back. */
export type PreemptionOracle = (key: FlavorResource, amount: Amount) => FlavorMode;

const nobody =
  ({ node }: QueueSetup, usage: Usage): PreemptionOracle =>
  (key, amount) => ({ mode: 'NoCandidates', borrowing: borrowingReach(node, usage, key, amount).height });

/** The options in the order in which they are preferred. Preferred is not chosen: a flavor that no cluster with room offers is passed over, whatever it has. */
const ranked = (findings: readonly Finding[], queue: QueueSetup): FlavorOption[] =>
  inPreferredOrder(
    findings.flatMap((finding) => (finding.kind === 'Option' ? [finding] : [])),
    queue,
  ).map(({ option }, rank) => ({ ...option, rank }));

function tryFlavor(
  workload: Workload,
  queue: QueueSetup,
  usage: Usage,
  flavor: FlavorSetup,
  resources: readonly string[],
  preemption: PreemptionOracle,
): Finding {
  const match = matchFlavor(workload.nodeWish, flavor);
  if (match.kind === 'Mismatch') return match;
  const charges: Charge[] = [];
  const shortages: string[] = [];
  const modes: FlavorMode[] = [];
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
    if (amount <= free) {
      modes.push({ mode: 'Fit', borrowing: height });
      continue;
    }
    shortages.push(`${formatAmount(resource, minus(amount, free))} ${resource}`);
    claimable &&= amount <= nominalQuota(queue.node, key) || reclaimable || queue.mayPreemptWhileBorrowing;
    if (claimable) modes.push(preemption(key, amount));
  }
  const { name, clusters, nodeLabels } = flavor;
  const borrowing = modes.reduce((most, each) => Math.max(most, each.borrowing), 0);
  const offer = worstMode(modes, queue);
  const mode = shortages.length === 0 ? 'Fit' : 'Preempt';
  const option: Unranked = { flavor: name, mode, clusters, nodeLabels, terms: match.terms, resources, charges, borrowing };
  if (shortages.length === 0) return { kind: 'Option', option, offer };
  const problem = `flavor ${flavor.name} is short of ${shortages.join(' and ')}`;
  return claimable ? { kind: 'Option', option, offer, problem } : { kind: 'Short', problem };
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
