import { QuotaReservedReason } from '../../api/reasons.ts';
import { formatAmount, isCharge, minus, plus, resourceOf, ZERO, type Amount, type Requests } from '../../api/amount.ts';
import type { Combinable, PodSetCharges } from './flavor-combination.ts';
import { inPreferredOrder, worstMode, type FlavorMode } from './flavor-fungibility.ts';
import { matchFlavor } from './flavor-match.ts';
import { available, borrowingReach, nominalQuota, potentialAvailable, type FlavorResource } from '../quota/quota-tree.ts';
import type { FlavorSetup, InadmissibleReason, QueueSetup } from '../snapshot/snapshot.ts';
import type { Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * A flavor on which the pods of a Workload can run, with quota for its requests in one resource group: free now, or once others give it
 * back.
 */
export type FlavorOption = Combinable & {
  readonly flavor: string;
  /** `Fit`: the quota is free. `Preempt`: other Workloads must give it back first. */
  readonly mode: 'Fit' | 'Preempt';
  /** Place in the group's order of preference, from 0; smaller is better. */
  readonly rank: number;
  readonly resources: readonly string[];
  readonly charges: readonly Charge[];
  /** The height in the cohort tree up to which the Workload borrows; 0 if it does not borrow. */
  readonly borrowing: number;
};
export type Charge = readonly [FlavorResource, Amount];
/** The charges of some options, each flavor resource once: pod sets may share one. */
export function chargesOf(options: readonly Pick<FlavorOption, 'charges' | 'podSet'>[]): readonly Charge[] {
  const [only, another] = options;
  if (only !== undefined && another === undefined) return only.charges;
  const all = options.flatMap(({ charges }) => charges);
  if (options.every(({ podSet }) => podSet === undefined)) return all;
  const sums = new Map<FlavorResource, Amount>();
  for (const [key, amount] of all) sums.set(key, plus(sums.get(key) ?? ZERO, amount));
  return [...sums];
}

/** Options of each resource group of each pod set, best first. */
export type OptionGroups = readonly (readonly FlavorOption[])[];

export type FlavorOptions =
  | {
      readonly kind: 'Fit';
      /** Options with free quota. */
      readonly groups: OptionGroups;
      /** Options with quota that is free or can be given back, best first in each group. */
      readonly claimable: OptionGroups;
      /** Why the pods cannot run on nodes of other flavors. */
      readonly mismatches: readonly string[];
    }
  | ({
      readonly kind: 'NoFit';
      /** As above; undefined if a group has no such option, so that nothing can be claimed. */
      readonly claimable: OptionGroups | undefined;
    } & InadmissibleReason);

/** Whether these reasons hold whatever quota becomes free: the Workload fits no flavor even if no other Workload uses any. */
export const isHopeless = ({ reason }: InadmissibleReason): boolean =>
  reason === QuotaReservedReason.ExceedsQuota || reason === QuotaReservedReason.NoMatchingFlavor;

/**
 * Finds the flavors on which the pods of a Workload can run with enough quota. Each resource is in one group only, so no group's quota
 * depends on another's. placement.ts chooses the combination of flavors together with the cluster.
 */
export function assignFlavors(
  workload: Workload,
  queue: QueueSetup,
  usage: Usage,
  preemption: PreemptionOracle = withoutPreemption(queue, usage),
): FlavorOptions {
  const uncovered = uncoveredResource(workload.requests, queue);
  if (uncovered !== undefined) {
    const remedy = `add it to a resource group of the queue, or set quotaCheckStrategy: IgnoreUndeclared there`;
    return noFit(QuotaReservedReason.ExceedsQuota, `cluster queue ${queue.name} gives no quota for ${uncovered}; ${remedy}`);
  }
  // As in Kueue, each pod set has flavors of its own, and together they have all or none.
  const groups = (workload.podSets ?? [workload]).flatMap((pods) =>
    groupsFor(pods, queue).map(({ flavors, resources }) =>
      flavors.map((flavor) => tryFlavor(pods, queue, usage, flavor, resources, preemption)),
    ),
  );
  const unmet = groups.filter((findings) => !findings.some(isFit));
  const claimable = groups.map((findings) => ranked(findings, queue));
  // A group that never fits outranks a group that waits for quota.
  const worst = unmet.find(isNever) ?? unmet[0];
  if (worst !== undefined) return summary(queue, worst, claimable.every((options) => options.length > 0) ? claimable : undefined);
  return {
    kind: 'Fit',
    groups: claimable.map((options) => options.filter(({ mode }) => mode === 'Fit')),
    claimable,
    mismatches: groups.flat().flatMap((finding) => (finding.kind === 'Mismatch' ? [finding.problem] : [])),
  };
}

/**
 * The charges of a Workload whichever flavors it gets, because there is one flavor only in each of its groups; undefined if they depend on
 * the choice, or on the number of its pods.
 */
export function onlyCharges(workload: Workload, queue: QueueSetup): readonly Charge[] | undefined {
  if (workload.podSets !== undefined || workload.minPods !== undefined) return undefined;
  const charges: Charge[] = [];
  for (const { flavors } of groupsFor(workload, queue)) {
    const [flavor, another] = flavors;
    if (flavor === undefined || another !== undefined) return undefined;
    for (const [resource, key] of flavor.keys) charges.push([key, workload.requests.get(resource) ?? ZERO]);
  }
  return charges;
}

type Finding =
  | ({ readonly kind: 'Option'; readonly option: Unranked; readonly offer: FlavorMode } & Partial<Shortage>)
  /** Not enough quota now. */
  | ({ readonly kind: 'Short' } & Shortage)
  /** `Exceeded`: never enough quota. `Mismatch`: the flavor's nodes do not suit the pods. */
  | { readonly kind: 'Exceeded' | 'Mismatch'; readonly problem: string };
/** The resources of which too little quota is free. */
type Shortage = { readonly problem: string; readonly shortOf: readonly string[] };
type Unranked = Omit<FlavorOption, 'rank'>;

const isFit = (finding: Finding): boolean => finding.kind === 'Option' && finding.option.mode === 'Fit';
const isNever = (findings: readonly Finding[]): boolean => findings.every(({ kind }) => kind === 'Exceeded' || kind === 'Mismatch');

/** What preemption yields of one flavor resource. */
export type PreemptionOracle = (key: FlavorResource, amount: Amount) => FlavorMode;

const withoutPreemption =
  ({ node }: QueueSetup, usage: Usage): PreemptionOracle =>
  (key, amount) => ({ mode: 'NoCandidates', borrowing: borrowingReach(node, usage, key, amount).height });

/** Options in order of preference. The preferred option is not always chosen: a flavor that no cluster with room offers is skipped. */
const ranked = (findings: readonly Finding[], queue: QueueSetup): FlavorOption[] =>
  inPreferredOrder(
    findings.flatMap((finding) => (finding.kind === 'Option' ? [finding] : [])),
    queue,
  ).map(({ option }, rank) => ({ ...option, rank }));

/** Pods that get the same flavors: all of a Workload, or one of its pod sets, which has a name. */
type Pods = Pick<Workload, 'requests' | 'nodeWish'> & { readonly podSet?: string };

function tryFlavor(
  pods: Pods,
  queue: QueueSetup,
  usage: Usage,
  flavor: FlavorSetup,
  resources: readonly string[],
  preemption: PreemptionOracle,
): Finding {
  const match = matchFlavor(pods.nodeWish, flavor);
  if (match.kind === 'Mismatch') return match;
  const charges: Charge[] = [];
  const amounts: PodSetCharges['amounts'][number][] = [];
  const shortages: string[] = [];
  const shortOf: string[] = [];
  const modes: FlavorMode[] = [];
  let claimable = true;
  for (const [resource, key] of flavor.keys) {
    const amount = pods.requests.get(resource) ?? ZERO;
    const most = potentialAvailable(queue.node, key);
    if (amount > most) {
      return {
        kind: 'Exceeded',
        problem: `flavor ${flavor.name} never has more than ${formatAmount(resource, most)} of the ${formatAmount(resource, amount)} ${resourceOf(resource)} asked for`,
      };
    }
    const free = available(queue.node, usage, key);
    charges.push([key, amount]);
    amounts.push({ key, amount, free, most });
    if (amount === ZERO) continue;
    const { height, reclaimable } = borrowingReach(queue.node, usage, key, amount);
    if (amount <= free) {
      modes.push({ mode: 'Fit', borrowing: height });
      continue;
    }
    shortages.push(`${formatAmount(resource, minus(amount, free))} ${resourceOf(resource)}`);
    shortOf.push(resourceOf(resource));
    claimable &&= amount <= nominalQuota(queue.node, key) || reclaimable || queue.mayPreemptWhileBorrowing;
    if (claimable) modes.push(preemption(key, amount));
  }
  const { name, clusters, nodeLabels } = flavor;
  const borrowing = modes.reduce((most, each) => Math.max(most, each.borrowing), 0);
  const offer = worstMode(modes, queue);
  const mode = shortages.length === 0 ? 'Fit' : 'Preempt';
  const together = pods.podSet === undefined ? {} : { podSet: { name: pods.podSet, amounts } };
  const option: Unranked = { flavor: name, mode, clusters, nodeLabels, terms: match.terms, resources, charges, borrowing, ...together };
  if (shortages.length === 0) return { kind: 'Option', option, offer };
  const problem = `flavor ${flavor.name} is short of ${shortages.join(' and ')}`;
  return claimable ? { kind: 'Option', option, offer, problem, shortOf } : { kind: 'Short', problem, shortOf };
}

function summary(queue: QueueSetup, findings: readonly Finding[], claimable: OptionGroups | undefined): FlavorOptions {
  const problems = findings.flatMap(({ problem }) => problem ?? []);
  const [shortOf] = findings.flatMap((finding) => ('shortOf' in finding && finding.shortOf !== undefined ? [finding.shortOf] : []));
  return noFit(reasonOf(findings), `cluster queue ${queue.name}: ${problems.join('; ')}`, { claimable, shortOf });
}

function reasonOf(findings: readonly Finding[]): QuotaReservedReason {
  if (!isNever(findings)) return QuotaReservedReason.InsufficientQuota;
  // As in Kueue, a matching flavor that is too small tells more than flavors that do not match.
  return findings.every(({ kind }) => kind === 'Mismatch') ? QuotaReservedReason.NoMatchingFlavor : QuotaReservedReason.ExceedsQuota;
}

const noFit = (
  reason: QuotaReservedReason,
  message: string,
  { claimable, shortOf }: { readonly claimable?: OptionGroups | undefined; readonly shortOf?: readonly string[] | undefined } = {},
): FlavorOptions => ({ kind: 'NoFit', reason, message, shortOf, claimable });

/**
 * `pods` counts only if the ClusterQueue has quota for it; every other requested resource must be covered, unless the queue excludes it or
 * ignores what is not (Kueue's excludeResourcePrefixes and quotaCheckStrategy).
 */
function uncoveredResource(requests: Requests, queue: QueueSetup): string | undefined {
  if (queue.ignoresUndeclared === true) return undefined;
  const isTransformed = queue.transformations !== undefined;
  for (const [name, amount] of requests) {
    if (amount === ZERO || isCharge(name) !== isTransformed) continue;
    const resource = resourceOf(name);
    if (resource === 'pods') continue;
    // Charges of transformed requests leave out what is excluded.
    if (!isTransformed && queue.excludedPrefixes?.some((prefix) => resource.startsWith(prefix)) === true) continue;
    if (!queue.groups.some((group) => group.resources.includes(name))) return resource;
  }
  return undefined;
}

/**
 * Resource groups with requests of the Workload. A Workload without requests still takes a flavor of the first group, so that it goes to a
 * cluster that its ClusterQueue may use.
 */
function groupsFor({ requests }: Pods, queue: QueueSetup): QueueSetup['groups'] {
  const asked = queue.groups.filter((group) => group.resources.some((resource) => (requests.get(resource) ?? ZERO) > ZERO));
  return asked.length > 0 ? asked : queue.groups.slice(0, 1);
}
