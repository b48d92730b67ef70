import type { LabelRequirements } from '../../shared/kube/selectors.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import { formatAmount, minus, ZERO, type Amount, type Requests } from '../api/amount.ts';
import { available, flavorResource, potentialAvailable, wouldBorrow, type FlavorResource } from './quota-tree.ts';
import type { FlavorSetup, InadmissibleReason, QueueSetup } from './snapshot.ts';
import type { Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/** A flavor that has quota for all that a Workload asks of one resource group. */
export type FlavorOption = {
  readonly flavor: string;
  /** Place in the group's order of preference, from 0. */
  readonly rank: number;
  /** Labels of the WorkerClusters that offer the flavor. */
  readonly clusters: LabelRequirements;
  readonly resources: readonly string[];
  readonly charges: readonly Charge[];
  readonly borrowing: boolean;
};
export type Charge = readonly [FlavorResource, Amount];

export type FlavorOptions =
  /** For each resource group, the flavors that fit, best first. */
  { readonly kind: 'Fit'; readonly groups: readonly (readonly FlavorOption[])[] } | ({ readonly kind: 'NoFit' } & InadmissibleReason);

/**
 * Finds the flavors whose quota has room for a Workload. The groups do not depend on one another, because each resource is in one group only;
 * which combination of flavors is taken is decided together with the cluster, in placement.ts.
 */
export function assignFlavors(workload: Workload, queue: QueueSetup, usage: Usage): FlavorOptions {
  const uncovered = uncoveredResource(workload.requests, queue);
  if (uncovered !== undefined) {
    return noFit(QuotaReservedReason.ExceedsQuota, `cluster queue ${queue.name} gives no quota for ${uncovered}`);
  }
  const groups: FlavorOption[][] = [];
  for (const group of groupsFor(workload, queue)) {
    const findings = group.flavors.map((flavor, rank) => tryFlavor(workload, queue, usage, { flavor, rank, resources: group.resources }));
    const options = findings.flatMap((finding) => (finding.kind === 'Option' ? [finding.option] : []));
    if (options.length === 0) return summary(queue, findings);
    groups.push(options);
  }
  return { kind: 'Fit', groups };
}

type Finding = { readonly kind: 'Option'; readonly option: FlavorOption } | { readonly kind: 'Short' | 'Never'; readonly problem: string };

function tryFlavor(
  workload: Workload,
  queue: QueueSetup,
  usage: Usage,
  { flavor, rank, resources }: { readonly flavor: FlavorSetup; readonly rank: number; readonly resources: readonly string[] },
): Finding {
  const clash = Object.entries(flavor.nodeLabels).find(([label, value]) => (workload.nodeSelector[label] ?? value) !== value);
  if (clash !== undefined) {
    return { kind: 'Never', problem: `flavor ${flavor.name} is for nodes with ${clash.join('=')}, which the Job's nodeSelector excludes` };
  }
  const charges: Charge[] = [];
  const shortages: string[] = [];
  let borrowing = false;
  for (const resource of resources) {
    const key = flavorResource(flavor.name, resource);
    const amount = workload.requests.get(resource) ?? ZERO;
    const most = potentialAvailable(queue.node, key);
    if (amount > most) {
      return {
        kind: 'Never',
        problem: `flavor ${flavor.name} never has more than ${formatAmount(resource, most)} of the ${formatAmount(resource, amount)} ${resource} asked for`,
      };
    }
    const free = available(queue.node, usage, key);
    if (amount > ZERO && amount > free) shortages.push(`${formatAmount(resource, minus(amount, free))} ${resource}`);
    borrowing ||= amount > ZERO && wouldBorrow(queue.node, usage, key, amount);
    charges.push([key, amount]);
  }
  if (shortages.length > 0) return { kind: 'Short', problem: `flavor ${flavor.name} is short of ${shortages.join(' and ')}` };
  return { kind: 'Option', option: { flavor: flavor.name, rank, clusters: flavor.clusters, resources, charges, borrowing } };
}

function summary(queue: QueueSetup, findings: readonly Finding[]): FlavorOptions {
  const problems = findings.flatMap((finding) => (finding.kind === 'Option' ? [] : [finding.problem]));
  const hopeless = findings.every((finding) => finding.kind === 'Never');
  return noFit(
    hopeless ? QuotaReservedReason.ExceedsQuota : QuotaReservedReason.InsufficientQuota,
    `cluster queue ${queue.name}: ${problems.join('; ')}`,
  );
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
