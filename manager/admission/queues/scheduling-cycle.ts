import type { AdmissionCache } from '../cache/admission-cache.ts';
import { reachOf } from '../scheduling/claims.ts';
import type { Decision } from '../scheduling/decision.ts';
import { createCapacityBounds } from '../scheduling/capacity-bounds.ts';
import type { PendingQueues } from './pending-queues.ts';
import { schedule } from '../scheduling/schedule.ts';

export type CycleDeps = {
  readonly cache: Pick<AdmissionCache, 'snapshot' | 'displace'>;
  readonly queues: PendingQueues;
  /** Carries an admission out; false when its turn is later. */
  readonly admit: (decision: Extract<Decision, { kind: 'Admit' }>) => boolean;
  /** Has something tried again when its time has come. */
  readonly at: (timeMs: number, retry: () => void) => void;
  /** Hears of all that was decided, before anything of it is carried out; absent: nobody does. */
  readonly decided?: ((decisions: readonly Decision[]) => void) | undefined;
};

export type CycleResult = {
  /** How many heads were tried. */
  readonly tried: number;
  readonly admitted: number;
  /** Some are to give their place up. */
  readonly displaces: boolean;
  /** Another cycle may come to something else. */
  readonly progressed: boolean;
};

/**
 * Of how many ClusterQueues the heads are tried in the next cycle, the first in order: twice as many as in the last one, while everybody is admitted; where room is
 * scarce, one, because those after it would be looked at in vain.
 */
export const nextMost = (most: number, { tried, admitted }: CycleResult): number =>
  tried === admitted ? Math.min(HEADS_MAX, most * 2) : 1;
const HEADS_MAX = 64;

/** One scheduling cycle: takes the heads, decides, and puts the queues in the state that follows. */
export function runCycle({ cache, queues, admit, at, decided }: CycleDeps, nowMs: number, most = HEADS_MAX): CycleResult {
  const snapshot = cache.snapshot();
  const standing = queues.standing((each) => reachOf(each, snapshot));
  // Whose turn it is with fair sharing all heads decide together.
  const atMost = snapshot.fairSharing === undefined ? most : Number.POSITIVE_INFINITY;
  const heads = queues.heads(createCapacityBounds(snapshot, standing), atMost);
  if (heads.length === 0) return { tried: 0, admitted: 0, displaces: false, progressed: false };
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  let admitted = 0;
  let others = 0;
  let displaces = false;
  const decisions = schedule(snapshot, heads, nowMs, standing);
  decided?.(decisions);
  for (const decision of decisions) {
    const { clusterQueue, queued } = decision.head;
    const victims = decision.kind === 'Preempt' ? decision.victims : [];
    cache.displace({ key: queued.workload.key, uid: queued.workload.uid, clusterQueue }, victims);
    displaces ||= victims.some(({ admitted }) => !admitted.leaving);
    if (decision.kind === 'Admit') {
      if (admit(decision)) admitted++;
      else others++;
    } else if (decision.kind === 'Inadmissible') {
      const { head, retryAtMs } = decision;
      const retry = queues.markInadmissible(head, decision);
      if (retry !== undefined && retryAtMs !== undefined) at(retryAtMs, retry);
      if (tried.has(queued.workload.key)) others++;
    } else if (decision.kind === 'Preempt') {
      const { head, reason, message, claim } = decision;
      queues.markInadmissible(head, { reason, message, waitsFor: 'cluster', claim });
      if (tried.has(queued.workload.key)) others++;
    }
  }
  return { tried: heads.length, admitted, displaces, progressed: admitted + others > 0 };
}
