import type { Decision } from '../../admission/scheduling/decision.ts';
import { createPendingQueues } from '../../admission/queues/pending-queues.ts';
import type { Victim } from '../../admission/preemption/preemption.ts';
import { putInQueue } from '../../admission/queues/queue-entry.ts';
import { nextMost, runCycle } from '../../admission/queues/scheduling-cycle.ts';
import { waitingReason } from '../../admission/queues/waiting-reason.ts';
import { cacheOf, queueingOf, usageIn, waitingByQueue, type World } from './world.ts';

/**
 * Runs the manager's scheduling cycles on a world in which no Job ends or is added, until they change nothing. Returns the last decision
 * about each pending Workload, or about one like it, by key. With `until`, it stops once that Workload's decision is final.
 */
export function scheduleUntilIdle(world: World, until?: string): ReadonlyMap<string, Decision> {
  const queueing = queueingOf(world);
  const usage = usageIn(world, queueing, (...which) => queues.usageChanged(...which));
  const queues = createPendingQueues((localQueue) => usage?.usageOf(localQueue));
  const cache = cacheOf(world, queueing, usage);
  for (const waiting of waitingByQueue(world, queueing).values()) for (const entry of waiting) putInQueue(queues, cache, entry);
  const decided = new Map<string, Decision>();
  /** The victims in the last decision of each preemptor. */
  const victimsOf = new Map<string, readonly Victim[]>();
  const deps: Parameters<typeof runCycle>[0] = {
    cache: {
      snapshot: () => cache.snapshot(),
      displace: (by, victims) => {
        victimsOf.set(by.key, victims);
        cache.displace(by, victims);
      },
    },
    queues: {
      claims: (...args) => queues.claims(...args),
      reviseAt: (atMs) => queues.reviseAt(atMs),
      heads: (...args) => queues.heads(...args),
      endClaims: (isStopped) => queues.endClaims(isStopped),
      sharesChanged: (clusterQueue) => queues.sharesChanged(clusterQueue),
      markInadmissible: (head, inadmissibility) => {
        const { key } = head.queued.workload;
        const { claim } = inadmissibility;
        decided.set(
          key,
          claim?.preempts === true
            ? { ...inadmissibility, kind: 'Preempt', head, claim, victims: victimsOf.get(key) ?? [] }
            : { ...inadmissibility, kind: 'Inadmissible', head, verdicts: [] },
        );
        return queues.markInadmissible(head, inadmissibility);
      },
    },
    admit: (decision) => {
      const { workload } = decision.head.queued;
      decided.set(workload.key, decision);
      queues.delete(workload.key);
      cache.assume(workload, decision.record);
      return true;
    },
    // Time does not advance.
    at: () => undefined,
  };
  for (let most = 1; ; ) {
    const result = runCycle(deps, world.nowMs, most);
    most = nextMost(most, result);
    if (!result.progressed || (until !== undefined && isFinal(decided.get(until)))) break;
  }
  // Some Workloads were not nominated: others were in their place, or less is free than they request.
  for (const key of until === undefined ? world.workloads.map((workload) => workload.key) : [until]) {
    const head = decided.has(key) ? undefined : queues.get(key);
    const why = head && waitingReason({ cache, queues }, key, world.nowMs);
    if (head !== undefined && why !== undefined)
      decided.set(key, { waitsFor: 'quota', ...queues.inadmissibilityOf(key), ...why, kind: 'Inadmissible', head, verdicts: [] });
  }
  return decided;
}

/** A Workload with a claim is decided on again and again. */
const isFinal = (decision: Decision | undefined): boolean =>
  decision?.kind === 'Admit' || (decision?.kind === 'Inadmissible' && decision.claim === undefined);
