import type { AdmissionCache } from '../cache/admission-cache.ts';
import { reachOf, revisedClaim, usageVersionOf } from '../scheduling/claims.ts';
import type { Decision } from '../scheduling/decision.ts';
import { createCapacityBounds } from '../scheduling/capacity-bounds.ts';
import type { PendingQueues } from './pending-queues.ts';
import { schedule } from '../scheduling/schedule.ts';

export type CycleDeps = {
  readonly cache: Pick<AdmissionCache, 'snapshot' | 'displace'> & Partial<Pick<AdmissionCache, 'releases'>>;
  readonly queues: Pick<PendingQueues, 'claims' | 'reviseAt' | 'heads' | 'markInadmissible' | 'sharesChanged' | 'endClaims'>;
  /** Carries out an admission; false if it is postponed. */
  readonly admit: (decision: Extract<Decision, { kind: 'Admit' }>) => boolean;
  /** Calls `retry` at a time in epoch milliseconds. */
  readonly at: (timeMs: number, retry: () => void) => void;
  /** A Workload still runs although it was expected to have ended. */
  readonly outlived?: ((key: string) => void) | undefined;
  /** Receives all decisions before any is carried out. */
  readonly decided?: ((decisions: readonly Decision[]) => void) | undefined;
};

export type CycleResult = {
  /** The number of heads decided. */
  readonly tried: number;
  readonly admitted: number;
  /** Whether running Workloads are to be preempted. */
  readonly displaces: boolean;
  /** Whether another cycle may decide otherwise. */
  readonly progressed: boolean;
};

/**
 * The number of ClusterQueues whose heads the next cycle decides, first in order. It doubles while every head is admitted. While capacity
 * is scarce it is 1, because later heads would be nominated in vain.
 */
export const nextMost = (most: number, { tried, admitted }: CycleResult): number =>
  tried === admitted ? Math.min(HEADS_MAX, most * 2) : 1;
const HEADS_MAX = 64;
/**
 * The least number of turns in a cycle with fair sharing. Such a cycle compares all heads however few turns it has, so that fewer turns
 * cost more for each; more of them, of which each may look for victims, make it longer.
 */
const TURNS_MIN = 16;

/** One scheduling cycle: takes the heads, decides, and updates the queues. */
export function runCycle({ cache, queues, admit, at, decided, outlived }: CycleDeps, nowMs: number, most = HEADS_MAX): CycleResult {
  for (const release of cache.releases?.overrun(nowMs) ?? []) outlived?.(release.key);
  const snapshot = cache.snapshot();
  queues.endClaims((clusterQueue) => snapshot.queues.get(clusterQueue)?.stopPolicy !== 'None');
  const claims = queues.claims({ of: (each) => reachOf(each, snapshot), versionOf: (each) => usageVersionOf(each, snapshot) }, (each) =>
    revisedClaim(each, snapshot, nowMs),
  );
  // An expected start comes later when a Workload outlives the end that was expected of it.
  const nextMs = claims.some(({ claim }) => claim.start !== undefined) ? cache.releases?.nextMs() : undefined;
  const revise = nextMs === undefined ? undefined : queues.reviseAt(nextMs);
  if (nextMs !== undefined && revise !== undefined) at(nextMs, revise);
  // Fair sharing compares all heads, so it needs all of them.
  const atMost = snapshot.fairSharing === undefined ? most : Number.POSITIVE_INFINITY;
  const heads = queues.heads(createCapacityBounds(snapshot, claims, nowMs), atMost);
  if (heads.length === 0) return { tried: 0, admitted: 0, displaces: false, progressed: false };
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  let admitted = 0;
  let others = 0;
  let displaces = false;
  const turns = snapshot.fairSharing && Math.max(most, TURNS_MIN);
  const decisions = schedule(snapshot, heads, nowMs, claims, turns);
  decided?.(decisions);
  for (const decision of decisions) {
    const { clusterQueue, queued } = decision.head;
    const victims = decision.kind === 'Preempt' ? decision.victims : [];
    cache.displace({ key: queued.workload.key, uid: queued.workload.uid, clusterQueue }, victims);
    displaces ||= victims.some(({ admitted }) => !admitted.leaving);
    if (decision.kind === 'Admit') {
      if (admit(decision)) {
        admitted++;
        if (snapshot.fairSharing !== undefined) queues.sharesChanged(clusterQueue);
      } else others++;
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
  return {
    tried: decisions.filter(({ head }) => tried.has(head.queued.workload.key)).length,
    admitted,
    displaces,
    progressed: admitted + others > 0,
  };
}
