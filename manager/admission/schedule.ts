import { admit, type Cycle } from './admit.ts';
import { claimedBy, keep } from './claims.ts';
import type { Decision, Head } from './decision.ts';
import { orderNominees } from './nominee-order.ts';
import type { Creditor, Nominee } from './nominate.ts';
import { nominateLargest } from './partial-admission.ts';
import { preempt } from './preempt.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * One scheduling cycle over the heads of all ClusterQueues.
 *
 * 1. Nominate: find flavors and a cluster for each head, as if it were alone.
 * 2. Order: who borrows from nearer first, then by priority and age; with fair sharing who borrows least for its weight, which each decision changes.
 * 3. Admit one by one, or have others give their place up, and check each again, because an earlier one may have taken the room, or have it kept for itself.
 *
 * `standing` are those that wait from earlier cycles and have something kept for them. They take part like all others.
 */
export function schedule(snapshot: Snapshot, heads: readonly Head[], nowMs: number, standing: readonly Head[] = []): Decision[] {
  const decisions: Decision[] = [];
  const nominees: Nominee[] = [];
  for (const head of [...standing, ...heads]) {
    const outcome = nominateLargest(snapshot, head, nowMs); // 1
    if (outcome.kind === 'Requeue' || outcome.kind === 'Inadmissible') decisions.push(outcome);
    else nominees.push(outcome);
  }
  const cycle: Cycle = {
    snapshot: { ...snapshot, usage: snapshot.usage.fork() },
    unclaimed: snapshot.usage,
    claims: new Map(),
    displaced: new Set(),
    preemptors: new Set(),
    hasStanding: standing.length > 0,
    nowMs,
  };
  const order = orderNominees(nominees, cycle.snapshot); // 2
  for (let nominee = order.next(); nominee !== undefined; nominee = order.next()) {
    const decision = decide(cycle, nominee); // 3
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

function decide(cycle: Cycle, nominee: Nominee): Decision {
  if (nominee.kind === 'Fit') return admit(cycle, nominee);
  const outcome = nominee.kind === 'Preempt' ? preempt(cycle, nominee) : nominee;
  return outcome.kind === 'Creditor' ? claim(cycle, outcome) : outcome;
}

/** Of each ClusterQueue one has something kept for it, the first Creditor or who preempts; others would take it from their own queue. */
function claim({ snapshot, claims, preemptors, nowMs }: Cycle, creditor: Creditor): Decision {
  const { head, decision } = creditor;
  const hasClaimed = claims.has(head.clusterQueue) || preemptors.has(head.clusterQueue);
  const claimed = hasClaimed ? undefined : claimedBy(creditor, snapshot, nowMs);
  if (claimed === undefined) return decision;
  keep(claimed, snapshot.usage);
  claims.set(head.clusterQueue, { creditor, claimed });
  return { ...decision, claim: claimed.claim };
}
