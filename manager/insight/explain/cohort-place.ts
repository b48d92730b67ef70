import type { AdmissionCache } from '../../admission/cache/admission-cache.ts';
import { compareNominated } from '../../admission/workload/ordering.ts';
import { createCapacityBounds } from '../../admission/scheduling/capacity-bounds.ts';
import type { QueueEntry } from '../../admission/queues/queue-entry.ts';
import type { QueueingSetup } from '../../admission/snapshot/snapshot.ts';
import { sharingWith } from '../world/world.ts';

/** The place of a Workload among all pending ones of ClusterQueues that share its quota. */
export type CohortPlace = {
  /** The topmost Cohort. */
  readonly cohort: string;
  /**
   * How many go before it, how many wait in all, and the first of those before it. The order is by borrowing height now, then by priority
   * and age.
   */
  readonly position: number;
  readonly waiting: number;
  readonly ahead: readonly { readonly job: string; readonly clusterQueue: string }[];
};

const NAMED_MAX = 5;

/**
 * The place of a pending Workload; undefined if its ClusterQueue shares no quota. Within its own ClusterQueue the queue's order counts.
 * With fair sharing, shares order the ClusterQueues and change with every admission; then this is the order at equal shares.
 */
export function cohortPlace(
  target: QueueEntry,
  byQueue: ReadonlyMap<string, readonly QueueEntry[]>,
  queueing: QueueingSetup,
  cache: AdmissionCache,
): CohortPlace | undefined {
  const root = queueing.tree.clusterQueues.get(target.clusterQueue)?.rootId ?? '';
  if (!root.startsWith(COHORT)) return undefined;
  const bounds = createCapacityBounds(cache.snapshot());
  const rankOf = ({ clusterQueue, queued }: QueueEntry) => ({
    head: queued,
    borrowing: bounds.borrowing(clusterQueue, queued.workload.requests),
  });
  const own = rankOf(target);
  const sharers = [...sharingWith(queueing, target.clusterQueue)];
  const all = sharers.flatMap((name) => byQueue.get(name) ?? []);
  const before = sharers.flatMap((name) => {
    const waiting = byQueue.get(name) ?? [];
    if (name !== target.clusterQueue) return waiting.filter((each) => compareNominated(rankOf(each), own) < 0);
    return waiting.slice(
      0,
      waiting.findIndex(({ queued }) => queued.workload.key === target.queued.workload.key),
    );
  });
  return {
    cohort: root.slice(COHORT.length),
    position: before.length,
    waiting: all.length,
    ahead: before
      .map((each) => ({ each, rank: rankOf(each) }))
      .toSorted((a, b) => compareNominated(a.rank, b.rank))
      .slice(0, NAMED_MAX)
      .map(({ each: { clusterQueue, queued } }) => ({ job: queued.workload.key, clusterQueue })),
  };
}

const COHORT = 'Cohort/';
