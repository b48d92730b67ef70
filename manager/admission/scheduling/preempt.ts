import { QuotaReservedReason } from '../../api/reasons.ts';
import { hasQuota, behindClaims, type Cycle } from './admit.ts';
import type { Admitted, AdmittedIndex } from '../workload/admitted-index.ts';
import type { Decision, Head } from './decision.ts';
import { chargesOf } from '../flavors/flavor-assigner.ts';
import { charge } from '../flavors/holding.ts';
import type { ReservingHead, Preemptive } from './nominate.ts';
import { nominateLargest } from './partial-admission.ts';
import { shortagesOn, takeAway, usageWithout, type Victim } from '../preemption/preemption.ts';

/**
 * Preempts for a nominee if the decisions of this cycle leave its plan valid: no victim serves two preemptors. Otherwise plans again
 * without the victims of this cycle, with the most pods that fit; the new plan may need other victims, or only wait for capacity those
 * victims leave. All of it
 * counts as used for later nominees. Only the first nominee of a ClusterQueue preempts, as in Kueue; the others wait behind it.
 */
export function preempt(cycle: Cycle, nominee: Preemptive): Decision | ReservingHead {
  if (cycle.preemptors.has(nominee.head.clusterQueue)) return behindClaims(nominee.head, 'cluster');
  if (isStillGood(cycle, nominee)) return reserve(cycle, nominee, nominee.victims);
  const { head } = nominee;
  const { snapshot, displaced, nowMs } = cycle;
  const left = { ...snapshot, queues: withNominatedFlavors(nominee), admitted: without(snapshot.admitted, displaced) };
  const outcome = nominateLargest(left, withAllPods(head), nowMs);
  if (outcome.kind === 'Preempt') return reserve(cycle, outcome, outcome.victims);
  if (outcome.kind === 'Fit') return reserve(cycle, { ...outcome, kind: 'Preempt', victims: [] }, []);
  if (outcome.kind === 'Requeue') return behindClaims(head, 'cluster');
  // Its quota is free, and claimed in this cycle alone: once there is room it may fit without preemption.
  const lacksRoomOnly = nominee.placement.flavors.every(({ mode }) => mode === 'Fit');
  if (lacksRoomOnly) Object.assign(outcome.kind === 'Inadmissible' ? outcome : outcome.decision, { waitsFor: 'cluster' });
  return outcome;
}

/** The head as it waits, whatever number of pods it was nominated with. */
const withAllPods = (head: Head): Head => {
  const { whole } = head.queued.workload;
  return whole === undefined ? head : { ...head, queued: { ...head.queued, workload: whole } };
};

/**
 * The nominee's ClusterQueue, its groups reduced to the nominated flavors (Kueue's nomination mapping): with other flavors the nominee
 * might preempt more than in the next cycle.
 */
function withNominatedFlavors({ head, queue, placement }: Preemptive): Cycle['snapshot']['queues'] {
  const nominated = new Set(placement.flavors.map(({ flavor }) => flavor));
  const groups = queue.groups.map((group) => {
    const flavors = group.flavors.filter(({ name }) => nominated.has(name));
    return flavors.length === 0 ? group : { ...group, flavors };
  });
  return new Map([[head.clusterQueue, { ...queue, groups }]]);
}

function isStillGood(cycle: Cycle, { head, queue, placement, victims }: Preemptive): boolean {
  if (victims.some(({ admitted }) => cycle.displaced.has(admitted.reservation.workload.key))) return false;
  const usage = usageWithout(victims, cycle.snapshot);
  const state = cycle.snapshot.usage.tableOf(cycle.snapshot.clusters).named(placement.cluster);
  return state !== undefined && hasQuota(queue, usage, placement.flavors) && shortagesOn(state, head.queued.workload, usage).length === 0;
}

function reserve(cycle: Cycle, { head, queue, placement, borrowing }: Preemptive, victims: readonly Victim[]): Decision {
  const { snapshot, displaced, preemptors } = cycle;
  const { workload } = head.queued;
  preemptors.add(head.clusterQueue);
  const { cluster, flavors } = placement;
  for (const { admitted } of victims) {
    takeAway(admitted, snapshot);
    displaced.add(admitted.reservation.workload.key);
  }
  charge(snapshot.usage, { node: queue.node, charges: chargesOf(flavors), cluster, amounts: workload.requests });
  return {
    kind: 'Preempt',
    head,
    victims,
    claim: { cluster, flavors, borrowing, preempts: true, victims },
    reason: QuotaReservedReason.Preempting,
    message: `it goes to cluster ${cluster} once ${whoStops(victims.length)} stopped`,
  };
}

const whoStops = (count: number): string =>
  count === 0 ? 'Jobs that others preempt have' : count === 1 ? 'a Job that it preempts has' : `${count} Jobs that it preempts have`;

/** The index without the Workloads preempted in this cycle. Sums over all Workloads stay upper bounds. */
const without = (index: AdmittedIndex, keys: ReadonlySet<string>): AdmittedIndex => {
  const stays = ({ reservation }: Admitted): boolean => !keys.has(reservation.workload.key);
  return {
    ...index,
    get: (key) => (keys.has(key) ? undefined : index.get(key)),
    of: (clusterQueue) => index.of(clusterQueue).filter(stays),
    on: (clusterQueue, cluster) => index.on(clusterQueue, cluster).filter(stays),
  };
};
