import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { ZERO } from '../../api/amount.ts';
import type { Claim, Head } from './decision.ts';
import { chargesOf, type FlavorOption, type OptionGroups, type PreemptionOracle } from '../flavors/flavor-assigner.ts';
import { takersByFlavors, type EqualTakers, type Placed, type Taker } from '../flavors/placement.ts';
import { findVictims, fewestPreemptions, shortagesOn, usageWithout, type PreemptionWorld, type Victim } from '../preemption/preemption.ts';
import { mayPreempt } from '../quota/preemption-policies.ts';
import type { Preemptor } from '../preemption/preemption-rules.ts';
import { available, borrowingReach } from '../quota/quota-tree.ts';
import type { QueueSetup, Snapshot } from '../snapshot/snapshot.ts';

/** The placement of a preemptor once its victims have stopped. */
export type PreemptionPlan = {
  readonly placement: Placed;
  readonly victims: readonly Victim[];
  /** The height in the cohort tree up to which the preemptor borrows then; 0 if it does not borrow. */
  readonly borrowing: number;
};

/** Whether the ClusterQueue may prefer a flavor in which it preempts to a free one. */
export const mayRatherPreempt = (queue: QueueSetup): boolean =>
  mayPreempt(queue) && (queue.whenCanPreempt === 'MayStopSearch' || queue.flavorPreference === 'PreemptionOverBorrowing');

/**
 * Flavors, a cluster and victims for a Workload that does not fit; undefined if there are none, or if a better choice is free. Better
 * flavors go first. If some cluster has room, only quota is reclaimed, on any cluster; otherwise room is made on the cluster that needs
 * the fewest preemptions. A preemptor keeps to the victims that it had before while it fits once they have stopped: with other ones it
 * would stop more Workloads than it needs.
 */
export function planPreemption(
  snapshot: Snapshot,
  head: Head,
  queue: QueueSetup,
  groups: OptionGroups,
  nowMs: number,
): PreemptionPlan | undefined {
  const { workload, priority } = head.queued;
  const preemptor: Preemptor = { workload, priority, queue };
  const world = worldOf(snapshot);
  const choices = takersByFlavors(workload, groups, snapshot, nowMs, queue.placement);
  const kept = keptPlan(choices, head, queue, world);
  for (const { flavors, withRoom, all } of choices) {
    const charges = chargesOf(flavors);
    const roomy = withRoom(head.claim?.cluster);
    // The Workload fits without preemption.
    if (roomy !== undefined && flavors.every(({ mode }) => mode === 'Fit')) return undefined;
    if (kept !== undefined) {
      if (isSameChoice(kept.taker.flavors, flavors)) return planOf(kept.taker, kept.victims, queue, world);
      continue;
    }
    const found =
      roomy === undefined
        ? fewestPreemptions(
            claimedFirst(all(), head).map((taker) => ({
              taker,
              victims: findVictims({ preemptor, charges, cluster: taker.state }, world),
            })),
          )
        : { taker: roomy, victims: findVictims({ preemptor, charges, cluster: undefined }, world) };
    if (found?.victims === undefined) continue;
    return planOf(found.taker, found.victims, queue, world);
  }
  return undefined;
}

function planOf(taker: Taker, victims: readonly Victim[], { node }: QueueSetup, world: PreemptionWorld): PreemptionPlan {
  const usage = usageWithout(victims, world);
  const charges = chargesOf(taker.flavors);
  return {
    placement: placedAt(taker),
    victims,
    borrowing: Math.max(0, ...charges.map(([key, amount]) => borrowingReach(node, usage, key, amount).height)),
  };
}

type KeptPlan = { readonly taker: Taker; readonly victims: readonly Victim[] };

/**
 * The plan behind the claim of a preemptor, without the victims that have stopped since; undefined if it has none, if a victim stays after
 * all, or if the preemptor no longer fits.
 */
function keptPlan(
  choices: readonly EqualTakers[],
  { claim, queued }: Head,
  { node }: QueueSetup,
  world: PreemptionWorld,
): KeptPlan | undefined {
  if (claim?.victims === undefined) return undefined;
  const taker = choices
    .flatMap((equals) => equals.all())
    .find(({ cluster, flavors }) => cluster === claim.cluster && hasFlavorsOf(claim, flavors));
  const victims = claim.victims.flatMap(({ admitted, rule }): Victim[] => {
    const now = world.admitted.get(admitted.reservation.workload.key);
    return now === undefined ? [] : [{ admitted: now, rule }];
  });
  if (taker === undefined || !victims.every(({ admitted }) => admitted.leaving && world.mayStop(admitted))) return undefined;
  const usage = usageWithout(victims, world);
  const charges = chargesOf(taker.flavors);
  const fits =
    charges.every(([key, amount]) => amount === ZERO || amount <= available(node, usage, key)) &&
    shortagesOn(taker.state, queued.workload, usage).length === 0;
  return fits ? { taker, victims } : undefined;
}

const hasFlavorsOf = (claim: Claim, flavors: readonly FlavorOption[]): boolean =>
  flavors.length === claim.flavors.length && flavors.every(({ flavor }, index) => flavor === claim.flavors[index]?.flavor);

/** What preemption yields in one flavor and resource, to choose among several flavors: Kueue's preemption oracle. */
export function preemptionOracle(snapshot: Snapshot, head: Head, queue: QueueSetup): PreemptionOracle {
  const { workload, priority } = head.queued;
  const world = worldOf(snapshot);
  return (key, amount) => {
    const charges = [[key, amount]] as const;
    const victims = findVictims({ preemptor: { workload, priority, queue }, charges, cluster: undefined }, world);
    const usage = usageWithout(victims ?? [], world);
    const { height } = borrowingReach(queue.node, usage, key, amount);
    if (victims === undefined) return { mode: 'NoCandidates', borrowing: height };
    const takesOwn = victims.some(({ admitted }) => admitted.reservation.record.clusterQueue === queue.name);
    return { mode: takesOwn ? 'Preempt' : 'Reclaim', borrowing: height };
  };
}

/** Workloads on an unreachable cluster cannot be shown to have stopped, so preemption never waits for them. */
function worldOf({ usage, admitted, nodes, clusters, fairSharing, localQueueUsage }: Snapshot): PreemptionWorld {
  const table = usage.tableOf(clusters);
  return {
    usage,
    admitted,
    nodes,
    fairSharing,
    localQueueUsage,
    mayStop: ({ reservation, leaving }) => {
      const cluster = table.named(reservation.record.cluster);
      return cluster !== undefined && (leaving ? !cluster.lost : cluster.connected);
    },
  };
}

const isSameChoice = (a: readonly FlavorOption[], b: readonly FlavorOption[]): boolean =>
  a.every(({ rank }, group) => rank === b[group]?.rank);

/** The cluster of the Workload's claim goes before clusters that are equally good. */
const claimedFirst = (all: readonly Taker[], { claim }: Head): readonly Taker[] =>
  claim === undefined ? all : all.toSorted((a, b) => Number(b.cluster === claim.cluster) - Number(a.cluster === claim.cluster));

const placedAt = ({ cluster, clusterUID, flavors }: Taker): Placed => ({
  kind: 'Placed',
  cluster,
  ...omitUndefined({ clusterUID }),
  flavors,
  verdicts: [],
});
