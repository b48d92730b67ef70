import { admit, claim, reserveFor, type Cycle } from './admit.ts';
import { claimedAs, claimsIn, type Claimed } from './claims.ts';
import type { Decision, Head } from './decision.ts';
import { onlyCharges } from '../flavors/flavor-assigner.ts';
import { orderNominees } from './nominee-order.ts';
import type { Fit, Nominee, Turn, WaitingHead } from './nominate.ts';
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
 * With fair sharing most heads are nominated only when their turn may be next, by the usage before the cycle.
 *
 * `earlierClaims`: claims of earlier cycles. Each is reserved in its turn; a preemptor's claim is nominated again like a head, because its
 * needs change. `most`: the cycle ends after so many turns of heads, once anything has come of it; the other heads are left undecided.
 */
export function schedule(
  snapshot: Snapshot,
  heads: readonly Head[],
  nowMs: number,
  earlierClaims: readonly ClaimOfHead[] = [],
  most = Number.POSITIVE_INFINITY,
): Decision[] {
  const rejected: Decision[] = [];
  const nominate = (head: Head): Nominee | undefined => {
    const outcome = nominateLargest(snapshot, head, nowMs);
    if (outcome.kind !== 'Requeue' && outcome.kind !== 'Inadmissible') return outcome;
    rejected.push(outcome);
    return undefined;
  };
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  const roots = new Set(heads.map(({ clusterQueue }) => snapshot.queues.get(clusterQueue)?.node.rootId));
  const others = claimsIn(roots, earlierClaims, snapshot.queues).filter(({ queued }) => !tried.has(queued.workload.key));
  const turns = [...others, ...heads].flatMap((head) => turnOf(snapshot, head, tried, nominate)); // 1
  const cycle: Cycle = {
    snapshot: { ...snapshot, usage: snapshot.usage.fork(), shapes: snapshot.shapes.fork() },
    unclaimed: snapshot.usage.fork(),
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
  const decisions: Decision[] = [];
  let turnsOfHeads = 0;
  let hasEffect = false;
  while (turnsOfHeads < most || !hasEffect) {
    const turn = order.next();
    if (turn === undefined) break;
    if (turn.kind === 'Standing') {
      reserveAgain(cycle, turn);
      continue;
    }
    const decision = decide(cycle, turn); // 3
    decisions.push(decision);
    if (tried.has(turn.head.queued.workload.key)) {
      turnsOfHeads++;
      hasEffect ||= decision.kind !== 'Requeue';
    }
    if (decision.kind !== 'Preempt') continue;
    // The usage of the victims no longer counts.
    for (const { admitted } of decision.victims) {
      const node = snapshot.nodes.get(admitted.reservation.record.clusterQueue);
      if (node !== undefined) order.changed(node);
    }
  }
  return [...rejected, ...decisions];
}

/** The turn of a head or a claim: at once, unless its charges alone decide when it comes. */
function turnOf(
  { queues, fairSharing }: Snapshot,
  head: Head | ClaimOfHead,
  tried: ReadonlySet<string>,
  nominate: (head: Head) => Nominee | undefined,
): Turn | WaitingHead | readonly [] {
  const queue = queues.get(head.clusterQueue);
  if (isFixed(head) && !tried.has(head.queued.workload.key)) {
    const { flavors, borrowing } = head.claim;
    return queue === undefined ? [] : { kind: 'Standing', head, queue, flavors, borrowing, claim: head.claim };
  }
  const mayWait = fairSharing !== undefined && head.claim?.preempts !== true;
  const charges = mayWait && queue !== undefined ? onlyCharges(head.queued.workload, queue) : undefined;
  if (charges === undefined || queue === undefined) return nominate(head) ?? [];
  return { kind: 'WaitingHead', head, queue, charges, nominate: () => nominate(head) };
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
