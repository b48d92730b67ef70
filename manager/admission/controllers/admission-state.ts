import { inBaseUnit, type Amount } from '../../api/amount.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import type { JobWatcher } from './job-watcher.ts';
import type { PendingQueues } from '../queues/pending-queues.ts';
import { namedQueueOf } from '../cache/queue-counts.ts';
import type { QueueingSetup } from '../snapshot/snapshot.ts';
import { splitFlavorResource, type FlavorResource } from '../quota/quota-tree.ts';
import type { ReasonCounts } from './reason-counts.ts';
import { clusterHolder } from '../quota/usage.ts';

/** The state of the queues. Amounts are in the base unit of the resource. */
export type AdmissionState = {
  readonly clusterQueues: readonly {
    readonly name: string;
    /** When the first Workload in order was created or evicted, in epoch seconds; undefined if none is pending. */
    readonly headSinceSeconds: number | undefined;
    readonly pendingByReason: ReadonlyMap<string, number>;
  }[];
  readonly localQueues: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly pending: number;
    readonly admitted: number;
    readonly usage: readonly { readonly flavor: string; readonly resource: string; readonly amount: number }[];
  }[];
  /** The amount of a resource that is charged to a cluster. */
  readonly usedOn: (cluster: string, resource: string) => number;
};

/** Observes the queues. The cost depends on the number of queues, not of Jobs. */
export function observeAdmission({
  cache,
  watcher,
  queues,
  reasons,
}: {
  readonly cache: AdmissionCache;
  readonly watcher: Pick<JobWatcher, 'pendingOf' | 'isPending'>;
  readonly queues: Pick<PendingQueues, 'firstInOrder'>;
  readonly reasons: Pick<ReasonCounts, 'all'>;
}): AdmissionState {
  const setup = cache.queueing();
  const counts = countsOf({ cache, watcher }, setup);
  const byQueue = new Map<string, Map<string, number>>();
  for (const [localQueue, reason, count] of reasons.all()) {
    const clusterQueue = setup.localQueues.get(localQueue)?.clusterQueue;
    if (clusterQueue === undefined) continue;
    const byReason = byQueue.get(clusterQueue) ?? new Map<string, number>();
    byQueue.set(clusterQueue, byReason.set(reason, (byReason.get(reason) ?? 0) + count));
  }
  return {
    clusterQueues: [...setup.tree.clusterQueues.keys()].map((name) => {
      const head = queues.firstInOrder(name, 1)[0];
      return { name, headSinceSeconds: head && head.workload.createdMs / 1000, pendingByReason: byQueue.get(name) ?? NO_REASONS };
    }),
    localQueues: [...setup.localQueues.keys()].map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      const { pending = 0, admitted = 0 } = counts.localQueues.get(key) ?? {};
      return { namespace, name, pending, admitted, usage: [...cache.heldFrom(key)].map(usageOf) };
    }),
    usedOn: (cluster, resource) => inBaseUnit(resource, cache.usage().get(clusterHolder(cluster), resource)),
  };
}

const NO_REASONS: ReadonlyMap<string, number> = new Map();

function usageOf([key, amount]: readonly [FlavorResource, Amount]): { flavor: string; resource: string; amount: number } {
  const { flavor, resource } = splitFlavorResource(key);
  return { flavor, resource, amount: inBaseUnit(resource, amount) };
}

type Count = { readonly pending: number; readonly admitted: number };
export type Counts = { readonly clusterQueues: ReadonlyMap<string, Count>; readonly localQueues: ReadonlyMap<string, Count> };
export const NONE: Count = { pending: 0, admitted: 0 };

type AdmissionCounts = { readonly cache: AdmissionCache; readonly watcher: Pick<JobWatcher, 'pendingOf' | 'isPending'> };

/** Pending and admitted Workloads of each queue. The cost depends on the number of queues and of assumed Workloads. */
export function countsOf({ cache, watcher }: AdmissionCounts, setup: QueueingSetup): Counts {
  const counts = { clusterQueues: new Map<string, Count>(), localQueues: new Map<string, Count>() };
  const add = (into: Map<string, Count>, key: string | undefined, more: Count): void => {
    if (key === undefined) return;
    const before = into.get(key) ?? NONE;
    into.set(key, { pending: before.pending + more.pending, admitted: before.admitted + more.admitted });
  };
  const addPending = (local: string, pending: number): void => {
    add(counts.localQueues, local, { pending, admitted: 0 });
    add(counts.clusterQueues, setup.localQueues.get(local)?.clusterQueue, { pending, admitted: 0 });
  };
  for (const [local, pending] of watcher.pendingOf()) addPending(local, pending);
  // An assumed Workload stays in `pending` until its record is observed, and counts as admitted.
  for (const { workload } of cache.assumed()) {
    const local = watcher.isPending(workload.key) ? namedQueueOf(workload) : undefined;
    if (local !== undefined) addPending(local, -1);
  }
  for (const [local, admitted] of cache.admittedFrom()) add(counts.localQueues, local, { pending: 0, admitted });
  for (const [queue, admitted] of cache.admittedTo()) add(counts.clusterQueues, queue, { pending: 0, admitted });
  return counts;
}
