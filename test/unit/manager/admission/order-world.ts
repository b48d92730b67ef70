/** Queues, clusters, and Jobs that come, are admitted and end: cycles run until nothing is left to decide, as in the scheduler. */
import { createAdmissionCache } from '../../../../manager/admission/admission-cache.ts';
import type { ClusterState } from '../../../../manager/admission/cluster-state.ts';
import { createPendingQueues } from '../../../../manager/admission/pending-queues.ts';
import { runCycle } from '../../../../manager/admission/scheduling-cycle.ts';
import { buildQueueingSetup, type QueueingObjects } from '../../../../manager/admission/snapshot.ts';
import type { Workload } from '../../../../manager/admission/workload.ts';
import { aWorkload, objects, queued } from './setup.ts';

export type OrderWorld = ReturnType<typeof anOrderWorld>;

export function anOrderWorld(parts: Partial<QueueingObjects>, clusters: readonly ClusterState[]) {
  const setup = buildQueueingSetup(objects(parts));
  const cache = createAdmissionCache(setup);
  cache.setClusters(clusters);
  const queues = createPendingQueues();
  const running = new Map<string, { readonly clusterQueue: string; readonly cluster: string }>();
  let arrivals = 0;
  let nowMs = 0;
  return {
    cache,
    queues,
    running,
    /** A Job comes into a ClusterQueue. */
    arrive: (
      clusterQueue: string,
      name: string,
      cpu: string,
      options: { readonly priority?: number; readonly parts?: Partial<Workload> } = {},
    ) => {
      const workload = aWorkload(name, { cpu }, { createdMs: arrivals, ...options.parts });
      const strict = setup.queues.get(clusterQueue)?.strict ?? false;
      queues.add(clusterQueue, strict, queued(workload, arrivals++, options.priority));
    },
    /** A Job that was admitted ends, or one that waits is deleted. */
    end: (name: string) => {
      const key = `team/${name}`;
      running.delete(name);
      queues.delete(key);
      const gone = cache.forget(key);
      if (gone === undefined) return;
      queues.wake(cache.sharingWith(gone.record.clusterQueue));
      queues.wakeWaitingForCluster();
    },
    /** Decides until nothing more comes of it. Returns the names of those that were admitted. */
    settle: (): string[] => {
      const admitted: string[] = [];
      for (let cycles = 0; ; cycles++) {
        if (cycles > 10_000) throw new Error('the cycles do not come to an end');
        const { tried, progressed } = runCycle(
          {
            cache,
            queues,
            admit: ({ head, record }) => {
              const { workload } = head.queued;
              queues.delete(workload.key);
              cache.assume(workload, record);
              running.set(workload.name, record);
              admitted.push(workload.name);
              return true;
            },
            at: () => undefined,
          },
          nowMs++,
        );
        if (tried === 0 || !progressed) return admitted;
      }
    },
    reasonOf: (name: string) => queues.inadmissibilityOf(`team/${name}`)?.reason,
  };
}
