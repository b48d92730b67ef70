import { admit, claim, reserveFor, type Cycle } from './admit.ts';
import { claimedAs, claimsIn, type Claimed } from './claims.ts';
import type { Decision, Head } from './decision.ts';
import { orderNominees } from './nominee-order.ts';
import type { Fit, Nominee, Turn } from './nominate.ts';
import { nominateLargest } from './partial-admission.ts';
import { preempt } from './preempt.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ClaimOfHead } from './claims-by-queue.ts';

/**
 * One scheduling cycle over the heads of all ClusterQueues.
 *
 * 1. Nominate: find flavors and a cluster for each head, as if it were alone.
 * 2. Order: the nearest borrowing first, then priority and age; with fair sharing the least weighted share, which each decision
 * changes.
 * 3. Admit one by one, or preempt. Check each nominee again, because an earlier one may have taken or claimed the capacity.
 *
 * `earlierClaims`: claims of earlier cycles. Each is reserved in its turn; a preemptor's claim is nominated again like a head, because its
 * needs change.
 */
export function schedule(
  snapshot: Snapshot,
  heads: readonly Head[],
  nowMs: number,
  earlierClaims: readonly ClaimOfHead[] = [],
): Decision[] {
  const decisions: Decision[] = [];
  const turns: Turn[] = [];
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  const roots = new Set(heads.map(({ clusterQueue }) => snapshot.queues.get(clusterQueue)?.node.rootId));
  const others = claimsIn(roots, earlierClaims, snapshot.queues).filter(({ queued }) => !tried.has(queued.workload.key));
  for (const head of [...others, ...heads]) {
    if (isFixed(head) && !tried.has(head.queued.workload.key)) {
      const queue = snapshot.queues.get(head.clusterQueue);
      const { flavors, borrowing } = head.claim;
      if (queue !== undefined) turns.push({ kind: 'Standing', head, queue, flavors, borrowing, claim: head.claim });
      continue;
    }
    const outcome = nominateLargest(snapshot, head, nowMs); // 1
    if (outcome.kind === 'Requeue' || outcome.kind === 'Inadmissible') decisions.push(outcome);
    else turns.push(outcome);
  }
  const cycle: Cycle = {
    snapshot: { ...snapshot, usage: snapshot.usage.fork() },
    unclaimed: snapshot.usage,
    claims: new Map(),
    rooms: new Map(),
    reserving: new Set(),
    displaced: new Set(),
    preemptors: new Set(),
    admittedTo: new Set(),
    hasEarlierClaims: others.length > 0,
    nowMs,
  };
  const order = orderNominees(turns, cycle.snapshot); // 2
  for (let turn = order.next(); turn !== undefined; turn = order.next()) {
    if (turn.kind === 'Standing') {
      reserveAgain(cycle, turn);
      continue;
    }
    const decision = decide(cycle, turn); // 3
    decisions.push(decision);
    if (decision.kind !== 'Preempt') continue;
    // The usage of the victims no longer counts.
    for (const { admitted } of decision.victims) {
      const node = snapshot.nodes.get(admitted.reservation.record.clusterQueue);
      if (node !== undefined) order.changed(node);
    }
  }
  return decisions;
}

const isFixed = (head: Head): head is ClaimOfHead => head.claim !== undefined && head.claim.preempts !== true;

function decide(cycle: Cycle, nominee: Nominee): Decision {
  if (nominee.kind === 'Fit') return isBlocked(cycle, nominee) ? waitForPods(cycle, nominee) : admit(cycle, nominee);
  const outcome = nominee.kind === 'Preempt' ? preempt(cycle, nominee) : nominee;
  return outcome.kind === 'ReservingHead' ? claim(cycle, outcome) : outcome;
}

/** A ClusterQueue with blockAdmission admits one Workload, and no other until the pods of that one are ready. */
const isBlocked = ({ snapshot, admittedTo }: Cycle, { queue }: Fit): boolean =>
  queue.blocksAdmission === true && (admittedTo.has(queue.name) || snapshot.isBlocked?.(queue.name) === true);

/** The Workload whose preemption has made room keeps that until its ClusterQueue admits again. */
function waitForPods(cycle: Cycle, { head, queue, placement, borrowing }: Fit): Decision {
  const { snapshot, claims } = cycle;
  const { cluster, flavors } = placement;
  const compute = (): Claimed => claimedAs(head.queued.workload, queue, { cluster, flavors, borrowing }, snapshot.usage);
  if (!claims.has(head.clusterQueue)) reserveFor(cycle, head.clusterQueue, compute(), compute);
  return { kind: 'Requeue', head };
}

function reserveAgain(cycle: Cycle, { head, queue, claim: standing }: Extract<Turn, { kind: 'Standing' }>): void {
  const { snapshot, claims, preemptors } = cycle;
  if (claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue)) return;
  const compute = (): Claimed => claimedAs(head.queued.workload, queue, standing, snapshot.usage);
  reserveFor(cycle, head.clusterQueue, compute(), compute);
}
