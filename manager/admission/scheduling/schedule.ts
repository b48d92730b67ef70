import { admit, claim, type Cycle } from './admit.ts';
import { claimedAs, reserve, type Claimed } from './claims.ts';
import type { Decision, Head } from './decision.ts';
import { orderNominees } from './nominee-order.ts';
import type { Nominee, Turn } from './nominate.ts';
import { nominateLargest } from './partial-admission.ts';
import { preempt } from './preempt.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ClaimOfHead } from './claims-by-queue.ts';

/**
 * One scheduling cycle over the heads of all ClusterQueues.
 *
 * 1. Nominate: find flavors and a cluster for each head, as if it were alone.
 * 2. Order: who borrows from nearer first, then by priority and age; with fair sharing who borrows least for its weight, which each decision changes.
 * 3. Admit one by one, or have others give their place up, and check each again, because an earlier one may have taken the room, or have it kept for itself.
 *
 * `standing` are those that wait from earlier cycles. What is kept for them is kept in their turn; those that wait for others to give their place up take
 * part like heads, because what they need of that changes.
 */
export function schedule(snapshot: Snapshot, heads: readonly Head[], nowMs: number, standing: readonly Head[] = []): Decision[] {
  const decisions: Decision[] = [];
  const turns: Turn[] = [];
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  const others = standing.filter(({ queued }) => !tried.has(queued.workload.key));
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
    displaced: new Set(),
    preemptors: new Set(),
    hasStanding: others.length > 0,
    nowMs,
  };
  const order = orderNominees(turns, cycle.snapshot); // 2
  for (let turn = order.next(); turn !== undefined; turn = order.next()) {
    if (turn.kind === 'Standing') {
      stand(cycle, turn);
      continue;
    }
    const decision = decide(cycle, turn); // 3
    decisions.push(decision);
    if (decision.kind !== 'Preempt') continue;
    // What they hold is as good as gone.
    for (const { admitted } of decision.victims) {
      const node = snapshot.nodes.get(admitted.reservation.record.clusterQueue);
      if (node !== undefined) order.changed(node);
    }
  }
  return decisions;
}

const isFixed = (head: Head): head is ClaimOfHead => head.claim !== undefined && head.claim.preempts !== true;

function decide(cycle: Cycle, nominee: Nominee): Decision {
  if (nominee.kind === 'Fit') return admit(cycle, nominee);
  const outcome = nominee.kind === 'Preempt' ? preempt(cycle, nominee) : nominee;
  return outcome.kind === 'ReservingHead' ? claim(cycle, outcome) : outcome;
}

function stand({ snapshot, claims, preemptors }: Cycle, { head, queue, claim: standing }: Extract<Turn, { kind: 'Standing' }>): void {
  if (claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue)) return;
  const kept = (): Claimed => claimedAs(head.queued.workload, queue, standing, snapshot.usage);
  const claimed = kept();
  reserve(claimed, snapshot.usage);
  claims.set(head.clusterQueue, { claimed, anew: kept });
}
