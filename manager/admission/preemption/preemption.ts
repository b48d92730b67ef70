import { minus, ZERO, type Amount } from '../../api/amount.ts';
import type { Admitted, AdmittedIndex } from '../workload/admitted-index.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { FairSharingConfig } from '../fair-sharing/fair-strategy.ts';
import { findFairVictims } from './fair-victims.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { charge, discharge, type Holding } from '../flavors/holding.ts';
import type { LocalQueueUsage } from '../fair-sharing/local-queue-order.ts';
import { findCandidates, type Candidate, type Candidates } from './preemption-candidates.ts';
import type { PreemptionRule, Preemptor } from './preemption-rules.ts';
import { isRepeatedlyPreempted } from './repeated-preemption.ts';
import {
  available,
  isBorrowingAny,
  splitFlavorResource,
  subtreeQuota,
  wouldBorrow,
  type FlavorResource,
  type QuotaNode,
} from '../quota/quota-tree.ts';
import { freeOn, type Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/** A Workload to preempt, and the rule. */
export type Victim = { readonly admitted: Admitted; readonly rule: PreemptionRule };

export type PreemptionRequest = {
  readonly preemptor: Preemptor;
  /** The preemptor's charges to its ClusterQueue. */
  readonly charges: readonly Charge[];
  /** The cluster on which room is made; undefined: only quota is missing. */
  readonly cluster: ClusterState | undefined;
};

export type PreemptionWorld = {
  readonly usage: Usage;
  readonly admitted: AdmittedIndex;
  /** ClusterQueues by name. */
  readonly nodes: ReadonlyMap<string, QuotaNode>;
  /** With fair sharing, shares decide the victims. */
  readonly fairSharing?: FairSharingConfig | undefined;
  /** With admission fair sharing, the usage of LocalQueues orders the Workloads of a ClusterQueue. */
  readonly localQueueUsage?: LocalQueueUsage | undefined;
  /** Whether the Workload can be expected to stop once it is preempted. */
  readonly mayStop: (admitted: Admitted) => boolean;
};

/**
 * A minimal set of victims after which the preemptor fits its quota and the cluster; undefined if there is none. The search is Kueue's:
 * take candidates in order until the preemptor fits, then put back those that are not needed, the last first.
 *
 * Quota is the same on every cluster; room is not. For room, only Workloads on that cluster count, whatever their flavor: within the
 * ClusterQueue by priority, in the cohort only if their queue borrows a flavor that the preemptor takes. If both are short, Workloads on
 * the cluster are tried alone first, because each of them frees both.
 */
export function findVictims(request: PreemptionRequest, world: PreemptionWorld): readonly Victim[] | undefined {
  const victims = searchQuotaAndRoom(request, world);
  if (victims === undefined || !isRepeatedlyPreempted(request.preemptor.workload.record)) return victims;
  const usage = usageWithout(victims, world);
  const { node } = request.preemptor.queue;
  return request.charges.some(([key, amount]) => amount > ZERO && wouldBorrow(node, usage, key, amount)) ? undefined : victims;
}

function searchQuotaAndRoom(request: PreemptionRequest, world: PreemptionWorld): readonly Victim[] | undefined {
  const { preemptor, charges, cluster } = request;
  const { node } = preemptor.queue;
  const shortOfQuota = charges.filter(([key, amount]) => amount > ZERO && amount > available(node, world.usage, key)).map(([key]) => key);
  const shortOfRoom = cluster === undefined ? [] : shortagesOn(cluster, preemptor.workload, world.usage);
  if (shortOfRoom.length === 0) return search(request, world, shortOfQuota, shortOfRoom, undefined);
  const onlyThere = search(request, world, shortOfQuota, shortOfRoom, cluster?.name);
  if (shortOfQuota.length === 0) return onlyThere;
  const anywhere = search(request, world, shortOfQuota, shortOfRoom, undefined);
  return fewestPreemptions([{ victims: onlyThere }, { victims: anywhere }])?.victims;
}

/**
 * The plan that preempts least: the fewest Workloads that do not leave anyway, then lower priorities, the highest compared first, then
 * later admissions. The first among equals; undefined if no plan has victims.
 */
export function fewestPreemptions<P extends { readonly victims: readonly Victim[] | undefined }>(plans: readonly P[]): P | undefined {
  let least: P | undefined;
  for (const plan of plans) {
    if (plan.victims !== undefined && (least?.victims === undefined || compareTargets(plan.victims, least.victims) < 0)) least = plan;
  }
  return least;
}

/** Negative if `a` preempts less. */
export function compareTargets(a: readonly Victim[], b: readonly Victim[]): number {
  const [some, others] = [preempted(a), preempted(b)];
  if (some.length !== others.length) return some.length - others.length;
  const byPriority = lexical(
    some.map(({ priority }) => priority),
    others.map(({ priority }) => priority),
  );
  if (byPriority !== 0) return byPriority;
  return -lexical(some.map(({ sinceMs }) => sinceMs).toSorted(ascending), others.map(({ sinceMs }) => sinceMs).toSorted(ascending));
}

const preempted = (victims: readonly Victim[]): readonly Admitted[] =>
  victims
    .map(({ admitted }) => admitted)
    .filter(({ leaving }) => !leaving)
    .toSorted((a, b) => b.priority - a.priority);
const ascending = (a: number, b: number): number => a - b;
const lexical = (a: readonly number[], b: readonly number[]): number => {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
  return 0;
};

/** The resources of which a cluster has less free than a Workload requests. */
export function shortagesOn(cluster: ClusterState, workload: Workload, usage: Usage): string[] {
  return [...workload.requests].flatMap(([resource, amount]) =>
    amount > ZERO && amount > freeOn(cluster, usage, resource) ? [resource] : [],
  );
}

/** One search among the Workloads of one cluster, or of all. */
function search(
  request: PreemptionRequest,
  world: PreemptionWorld,
  shortOfQuota: readonly FlavorResource[],
  shortOfRoom: readonly string[],
  onlyOn: string | undefined,
): readonly Victim[] | undefined {
  const { preemptor, charges, cluster } = request;
  const { node } = preemptor.queue;
  const scarce = charges.map(([key]) => key).filter((key) => shortOfRoom.includes(splitFlavorResource(key).resource));
  const contested = new Set([...shortOfQuota, ...scarce]);
  const isThere = ({ reservation }: Admitted): boolean => shortOfRoom.length > 0 && reservation.record.cluster === cluster?.name;
  const makesRoom = (candidate: Admitted, own: boolean): boolean =>
    isThere(candidate) &&
    (own ? shortOfRoom.some((resource) => (candidate.reservation.held.get(resource) ?? ZERO) > ZERO) : holdsAny(candidate, scarce));
  const searched = {
    preemptor,
    charges,
    contested,
    usage: world.usage,
    admitted: world.admitted,
    helps: (candidate: Admitted, own: boolean) =>
      (makesRoom(candidate, own) || holdsAny(candidate, shortOfQuota)) && world.mayStop(candidate),
    cluster: onlyOn,
    localQueueUsage: world.localQueueUsage,
  };
  const hasRoom = (usage: Usage): boolean =>
    cluster === undefined || shortOfRoom.length === 0 || shortagesOn(cluster, preemptor.workload, usage).length === 0;
  if (world.fairSharing !== undefined) {
    return findFairVictims({
      ...searched,
      strategies: world.fairSharing.preemptionStrategies,
      fits: (usage) => charges.every(([key, amount]) => fitsIn(node, usage, key, amount, true)) && hasRoom(usage),
      takeAway: (admitted, usage) => takeAway(admitted, { usage, nodes: world.nodes }),
      putBack: (admitted, usage) => putBack(admitted, { usage, nodes: world.nodes }),
    });
  }
  const candidates = findCandidates(searched);
  const missing = missingNow(request, shortOfQuota, shortOfRoom, world.usage);
  if (!isEnough(missing, candidates, cluster)) return undefined;
  for (const mayBorrow of attemptsFor(preemptor, candidates, contested, world.usage)) {
    const trial = { usage: world.usage.fork(), nodes: world.nodes };
    const fitsQuota = (): boolean => charges.every(([key, amount]) => fitsIn(node, trial.usage, key, amount, mayBorrow));
    const fits = (): boolean => fitsQuota() && hasRoom(trial.usage);
    const chosen: Candidate[] = [];
    const left = { quota: new Map(missing.quota), room: new Map(missing.room) };
    for (const candidate of candidates.inOrder(({ withoutBorrowing }) => !mayBorrow || !withoutBorrowing)) {
      if (!candidate.borrowers.every((borrower) => isBorrowingAny(borrower, trial.usage, contested))) continue;
      // On other clusters a candidate frees only quota, and the quota suffices.
      if (shortOfRoom.length > 0 && !isThere(candidate.admitted) && fitsQuota()) continue;
      takeAway(candidate.admitted, trial);
      chosen.push(candidate);
      if (!mayFit(left, candidate.admitted, isThere(candidate.admitted)) || !fits()) continue;
      return fillBack(chosen, trial, fits, () => tooMuch(request, trial.usage)).map(({ admitted, eligibility }) => ({
        admitted,
        rule: eligibility.rule,
      }));
    }
  }
  return undefined;
}

/** The missing amounts. */
type Missing = { readonly quota: Map<FlavorResource, Amount>; readonly room: Map<string, Amount> };

function missingNow(
  { preemptor: { workload, queue }, charges, cluster }: PreemptionRequest,
  shortOfQuota: readonly FlavorResource[],
  shortOfRoom: readonly string[],
  usage: Usage,
): Missing {
  const quota = charges
    .filter(([key]) => shortOfQuota.includes(key))
    .map(([key, amount]) => [key, minus(amount, available(queue.node, usage, key))] as const);
  const room = [...workload.requests].flatMap(([resource, amount]): [string, Amount][] =>
    cluster === undefined || !shortOfRoom.includes(resource) ? [] : [[resource, minus(amount, freeOn(cluster, usage, resource))]],
  );
  return { quota: new Map(quota), room: new Map(room) };
}

/** Whether all candidates together may free the missing amounts. A Workload frees at most what it holds. */
const isEnough = ({ quota, room }: Missing, { quotaHeld, roomHeld }: Candidates, cluster: ClusterState | undefined): boolean =>
  [...quota].every(([key, amount]) => quotaHeld(key) >= amount) &&
  [...room].every(([resource, amount]) => cluster !== undefined && roomHeld(cluster.name, resource) >= amount);

/** Subtracts what a candidate frees at most. True once that may suffice: only then the exact check is worth its cost. */
function mayFit({ quota, room }: Missing, { charges, reservation }: Admitted, isThere: boolean): boolean {
  for (const [key, amount] of charges) {
    const left = quota.get(key);
    if (left !== undefined) quota.set(key, minus(left, amount));
  }
  if (isThere) for (const [resource, left] of room) room.set(resource, minus(left, reservation.held.get(resource) ?? ZERO));
  for (const left of quota.values()) if (left > ZERO) return false;
  for (const left of room.values()) if (left > ZERO) return false;
  return true;
}

const holdsAny = ({ charges }: Admitted, keys: readonly FlavorResource[]): boolean =>
  charges.some(([key, amount]) => amount > ZERO && keys.includes(key));

/**
 * Whether the preemptor's ClusterQueue may borrow afterwards, in the order of attempts. Some candidates count only without borrowing: then
 * there are more candidates, and less quota.
 */
function attemptsFor(
  { queue: { node, preemption } }: Preemptor,
  { fromOthers, fromFarther }: Candidates,
  contested: ReadonlySet<FlavorResource>,
  usage: Usage,
): readonly boolean[] {
  const isForbidden = preemption.borrowWithinCohort.policy === 'Never';
  const isUnderNominal = [...contested].every((key) => usage.get(node.id, key) < subtreeQuota(node, key));
  if (!fromOthers || (isForbidden && !isUnderNominal)) return [true];
  return isForbidden && !fromFarther ? [false, true] : [true, false];
}

const fitsIn = (node: QuotaNode, usage: Usage, key: FlavorResource, amount: Amount, mayBorrow: boolean): boolean =>
  amount <= ZERO || ((mayBorrow || !wouldBorrow(node, usage, key, amount)) && amount <= available(node, usage, key));

/**
 * Puts back victims that are not needed, the last first. The very last one was needed, or the search would have stopped before. `obstacle`
 * rules out a victim that holds more than is left over, without a trial.
 */
function fillBack(
  chosen: readonly Candidate[],
  trial: UsageOfNodes,
  fits: () => boolean,
  obstacle: () => (admitted: Admitted) => boolean,
): readonly Candidate[] {
  const needed = chosen.slice(-1);
  let isTooMuch = obstacle();
  for (const candidate of chosen.slice(0, -1).reverse()) {
    if (!isTooMuch(candidate.admitted)) {
      putBack(candidate.admitted, trial);
      if (fits()) {
        isTooMuch = obstacle();
        continue;
      }
      takeAway(candidate.admitted, trial);
    }
    needed.push(candidate);
  }
  return needed.reverse();
}

/** Whether a victim of the preemptor's ClusterQueue, or on its cluster, holds more than is left over: it would take all of that back. */
function tooMuch({ preemptor, charges, cluster }: PreemptionRequest, usage: Usage): (admitted: Admitted) => boolean {
  const { workload, queue } = preemptor;
  const asked = charges.filter(([, amount]) => amount > ZERO);
  const quota = new Map(asked.map(([key, amount]) => [key, minus(available(queue.node, usage, key), amount)]));
  const room = new Map(
    cluster === undefined
      ? []
      : [...workload.requests]
          .filter(([, amount]) => amount > ZERO)
          .map(([resource, amount]) => [resource, minus(freeOn(cluster, usage, resource), amount)]),
  );
  return ({ reservation: { record, held }, charges: theirs }) =>
    (record.clusterQueue === queue.name && theirs.some(([key, amount]) => amount > (quota.get(key) ?? amount))) ||
    (cluster !== undefined &&
      record.cluster === cluster.name &&
      [...held].some(([resource, amount]) => amount > (room.get(resource) ?? amount)));
}

type UsageOfNodes = Pick<PreemptionWorld, 'usage' | 'nodes'>;

/** The usage once these victims have stopped. */
export function usageWithout(victims: readonly Victim[], { usage: origin, nodes }: UsageOfNodes): Usage {
  const usage = origin.fork();
  for (const { admitted } of victims) takeAway(admitted, { usage, nodes });
  return usage;
}

/** Removes an admitted Workload from a usage. */
export const takeAway = (admitted: Admitted, { usage, nodes }: UsageOfNodes): void => discharge(usage, holdingOf(admitted, nodes));
const putBack = (admitted: Admitted, { usage, nodes }: UsageOfNodes): void => charge(usage, holdingOf(admitted, nodes));

const holdingOf = ({ reservation: { record, held }, charges }: Admitted, nodes: UsageOfNodes['nodes']): Holding => ({
  node: nodes.get(record.clusterQueue),
  charges,
  cluster: record.cluster,
  amounts: held,
});
