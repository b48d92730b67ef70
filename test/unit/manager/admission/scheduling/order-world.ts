/** Queues, clusters, and Jobs that come, are admitted and end: cycles run until nothing is left to decide, as in the scheduler. */
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { claimedAs, reserve } from '../../../../../manager/admission/scheduling/claims.ts';
import type { FairSharingConfig } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import { nominate } from '../../../../../manager/admission/scheduling/nominate.ts';
import { createPendingQueues, type PendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { compareQueued, type QueuedWorkload } from '../../../../../manager/admission/workload/ordering.ts';
import { type CycleDeps, nextMost, runCycle } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import { buildQueueingSetup, type QueueingObjects } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { aWorkload, objects, queued } from '../setup.ts';

export type OrderWorld = ReturnType<typeof anOrderWorld>;

/** `asSeen`: the queues as the cycles see them. */
export function anOrderWorld(
  parts: Partial<QueueingObjects>,
  clusters: readonly ClusterState[],
  asSeen: (queues: PendingQueues) => CycleDeps['queues'] = (queues) => queues,
  fairSharing?: FairSharingConfig,
) {
  const waiting = new Map<string, { readonly clusterQueue: string; readonly entry: QueuedWorkload }>();
  const setup = buildQueueingSetup(objects(parts), fairSharing);
  const cache = createAdmissionCache(setup);
  cache.setClusters(clusters);
  const queues = createPendingQueues();
  const seen = asSeen(queues);
  const running = new Map<string, { readonly clusterQueue: string; readonly cluster: string }>();
  const isStrict = (clusterQueue: string): boolean => setup.queues.get(clusterQueue)?.strict ?? false;
  let arrivals = 0;
  let nowMs = 0;
  return {
    cache,
    queues,
    running,
    /** Those that wait although they fit what is neither in use nor kept for others: each is looked at, as if nothing were known. */
    fitting: (): string[] => {
      const standing = queues.claims();
      const blocked = new Set<string>();
      const inOrder = [...waiting].toSorted(([, a], [, b]) => compareQueued(a.entry, b.entry));
      return inOrder.flatMap(([name, { clusterQueue, entry }]) => {
        const others = standing.filter((each) => each.clusterQueue !== clusterQueue);
        const snapshot = cache.snapshot();
        const usage = snapshot.usage.fork();
        for (const { clusterQueue: name, queued: first, claim } of others) {
          const queue = snapshot.queues.get(name);
          if (queue !== undefined && claim.preempts !== true) reserve(claimedAs(first.workload, queue, claim, usage), usage);
        }
        const nominee = nominate({ ...snapshot, usage }, { clusterQueue, queued: entry }, nowMs);
        const passes = !blocked.has(clusterQueue) && snapshot.queues.get(clusterQueue)?.stopPolicy === 'None';
        if (isStrict(clusterQueue) && !('waitsFor' in nominee && nominee.waitsFor === 'setup')) blocked.add(clusterQueue);
        return passes && nominee.kind === 'Fit' ? [name] : [];
      });
    },
    /** A Job comes into a ClusterQueue. */
    arrive: (
      clusterQueue: string,
      name: string,
      cpu: string,
      options: { readonly priority?: number; readonly parts?: Partial<Workload> } = {},
    ) => {
      const workload = aWorkload(name, { cpu }, { createdMs: arrivals, ...options.parts });
      const entry = queued(workload, arrivals++, options.priority);
      waiting.set(name, { clusterQueue, entry });
      queues.add(clusterQueue, isStrict(clusterQueue), entry);
    },
    /** A Job that was admitted ends, or one that waits is deleted. */
    end: (name: string) => {
      const key = `team/${name}`;
      running.delete(name);
      waiting.delete(name);
      queues.delete(key);
      const gone = cache.forget(key);
      if (gone === undefined) return;
      queues.wake(cache.rootOf(gone.record.clusterQueue));
      queues.wakeWaitingForCluster();
    },
    /** Decides until nothing more comes of it. Returns the names of those that were admitted. */
    settle: (): string[] => {
      const admitted: string[] = [];
      let most = 1;
      for (let cycles = 0; ; cycles++) {
        if (cycles > 10_000) throw new Error('the cycles do not come to an end');
        const result = runCycle(
          {
            cache,
            queues: seen,
            admit: ({ head, record }) => {
              const { workload } = head.queued;
              queues.delete(workload.key);
              cache.assume(workload, record);
              waiting.delete(workload.name);
              running.set(workload.name, record);
              admitted.push(workload.name);
              return true;
            },
            at: () => undefined,
          },
          nowMs++,
          most,
        );
        if (result.tried === 0 || !result.progressed) return admitted;
        most = nextMost(most, result);
      }
    },
    /** An administrator changes queues, or clusters are others. */
    change: ({
      clusterQueues,
      states,
    }: {
      readonly clusterQueues?: readonly ClusterQueue[];
      readonly states?: readonly ClusterState[];
    }) => {
      if (clusterQueues !== undefined) cache.setQueueing(buildQueueingSetup(objects({ ...parts, clusterQueues }), fairSharing));
      if (states !== undefined) cache.setClusters(states);
      cache.continueVisits(() => false);
      queues.wakeAll();
    },
    /** Time passes. */
    pass: (ms: number): void => {
      nowMs += ms;
    },
    startOf: (name: string) => queues.claims().find(({ queued: { workload } }) => workload.name === name)?.claim.start,
    messageOf: (name: string) => queues.inadmissibilityOf(`team/${name}`)?.message,
    reasonOf: (name: string) => queues.inadmissibilityOf(`team/${name}`)?.reason,
  };
}
