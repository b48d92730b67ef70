import type { Decision } from '../../admission/scheduling/decision.ts';
import { createPendingQueues } from '../../admission/queues/pending-queues.ts';
import type { Victim } from '../../admission/preemption/preemption.ts';
import { putInQueue } from '../../admission/queues/queue-entry.ts';
import { nextMost, runCycle } from '../../admission/queues/scheduling-cycle.ts';
import { waitingReason } from '../../admission/queues/waiting-reason.ts';
import { cacheOf, queueingOf, usageIn, waitingByQueue, type World } from './world.ts';

/**
 * What becomes of those that wait in a world if nothing in it ends or comes: the manager's scheduling cycles, one after another, until none of them comes to anything
 * more. By key, with what was decided last of each, or of one like it, in the words that the manager has for it.
 * With `until`, no further than it takes to know what becomes of that one.
 */
export function scheduleUntilIdle(world: World, until?: string): ReadonlyMap<string, Decision> {
  const queueing = queueingOf(world);
  const usage = usageIn(world, queueing, (...which) => queues.usageChanged(...which));
  const queues = createPendingQueues((localQueue) => usage?.usageOf(localQueue));
  const cache = cacheOf(world, queueing, usage);
  for (const waiting of waitingByQueue(world, queueing).values()) for (const entry of waiting) putInQueue(queues, cache, entry);
  const decided = new Map<string, Decision>();
  /** Whom those preempt that were decided last. */
  const victimsOf = new Map<string, readonly Victim[]>();
  const deps: Parameters<typeof runCycle>[0] = {
    cache: {
      snapshot: cache.snapshot,
      displace: (by, victims) => {
        victimsOf.set(by.key, victims);
        cache.displace(by, victims);
      },
    },
    queues: {
      ...queues,
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
    // Time stands still.
    at: () => undefined,
  };
  for (let most = 1; ; ) {
    const result = runCycle(deps, world.nowMs, most);
    most = nextMost(most, result);
    if (!result.progressed || (until !== undefined && isFinal(decided.get(until)))) break;
  }
  // Others were tried in their place, or what is free is known to be less than they ask for.
  for (const key of until === undefined ? world.workloads.map((workload) => workload.key) : [until]) {
    const head = decided.has(key) ? undefined : queues.get(key);
    const why = head && waitingReason({ cache, queues }, key, world.nowMs);
    if (head !== undefined && why !== undefined)
      decided.set(key, { waitsFor: 'quota', ...queues.inadmissibilityOf(key), ...why, kind: 'Inadmissible', head, verdicts: [] });
  }
  return decided;
}

/** One for whom something is kept is decided of again and again. */
const isFinal = (decision: Decision | undefined): boolean =>
  decision?.kind === 'Admit' || (decision?.kind === 'Inadmissible' && decision.claim === undefined);
