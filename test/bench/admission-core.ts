/** Admission without the API server around it: queues, clusters, and as many waiting Workloads as one likes. */
import { createAdmissionCache } from '../../manager/admission/cache/admission-cache.ts';
import { endedRecord } from '../../manager/admission/cache/execution-time.ts';
import type { Head } from '../../manager/admission/scheduling/decision.ts';
import type { ClusterState } from '../../manager/admission/quota/cluster-state.ts';
import type { FairSharingConfig } from '../../manager/admission/fair-sharing/fair-strategy.ts';
import { createPendingQueues } from '../../manager/admission/queues/pending-queues.ts';
import { nextMost, runCycle } from '../../manager/admission/queues/scheduling-cycle.ts';
import { buildQueueingSetup, type QueueingObjects } from '../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../manager/admission/workload/workload.ts';
import { parseRequests, UNLIMITED } from '../../manager/api/amount.ts';
import { preemptedBy } from '../../manager/api/preempted.ts';
import type { ClusterQueue, ClusterQueueSpec } from '../../manager/api/cluster-queue.ts';
import { waitingWorkload } from '../support/waiting-workload.ts';

export const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });

export const cpuQueue = (
  name: string,
  nominalQuota: number,
  borrowingLimit: number | undefined,
  spec: Partial<ClusterQueueSpec> = {},
): ClusterQueue => ({
  metadata: meta(name),
  spec: {
    namespaceSelector: {},
    resourceGroups: [
      {
        coveredResources: ['cpu'],
        flavors: [
          { name: 'default', resources: [{ name: 'cpu', nominalQuota, ...(borrowingLimit === undefined ? {} : { borrowingLimit }) }] },
        ],
      },
    ],
    ...spec,
  },
});

export const cpuCluster = (name: string, cpu: number): ClusterState => ({
  name,
  uid: name,
  labels: {},
  closed: undefined,
  connected: true,
  lost: false,
  reachableSinceMs: 0,
  tryingSinceMs: undefined,
  unsteady: false,
  draining: false,
  preference: 0,
  otherCapacity: UNLIMITED,
  nodeShapes: undefined,
  servedNamespaces: undefined,
  priorityClasses: undefined,
  workKinds: [],
  runtimeClasses: undefined,
  capacity: parseRequests({ cpu }),
});

export const queueingObjects = (clusterQueues: readonly ClusterQueue[]): QueueingObjects => ({
  clusterQueues,
  localQueues: [],
  resourceFlavors: [{ metadata: meta('default'), spec: {} }],
  cohorts: [],
  namespaces: [],
});

export type AdmissionCore = ReturnType<typeof createAdmissionCore>;

/** `preempted`: whoever gives its place up has done so at once, and waits again from then on. */
export type AdmissionCoreOptions = {
  readonly fairSharing?: FairSharingConfig | undefined;
  readonly preempted?: (key: string) => void;
};

export function createAdmissionCore(
  clusterQueues: readonly ClusterQueue[],
  clusters: readonly ClusterState[],
  { fairSharing, preempted }: AdmissionCoreOptions = {},
) {
  const priorities = new Map<string, number>();
  const cache = createAdmissionCache(buildQueueingSetup(queueingObjects(clusterQueues), fairSharing), () => ({
    workload: priorities,
    pod: new Map(),
    fallback: 0,
  }));
  cache.setClusters(clusters);
  const queues = createPendingQueues();
  /** Keys of those that run, the one that was admitted first, first. */
  const running = new Map<string, Head>();
  let arrivals = 0;
  let most = 1;

  const add = (clusterQueue: string, workload: Workload, priority = 0): void =>
    queues.add(clusterQueue, false, { workload, priority, arrival: arrivals++ });

  const release = (key: string): void => {
    running.delete(key);
    const gone = cache.forget(key);
    if (gone === undefined) return;
    queues.wake(cache.rootOf(gone.record.clusterQueue));
    queues.wakeWaitingForCluster();
  };

  /** Whoever is to give its place up does so, and waits again. */
  const stopDisplaced = (nowMs: number): void => {
    for (const { reservation, by, rule } of cache.displaced()) {
      const { key, namespace } = reservation.workload;
      const head = running.get(key);
      release(key);
      if (head === undefined) continue;
      preempted?.(key);
      const { clusterQueue, queued } = head;
      const record = { ...endedRecord(reservation.record, nowMs), preempted: preemptedBy(by, rule, namespace) };
      queues.add(clusterQueue, false, { ...queued, workload: { ...queued.workload, record, queuedSinceMs: nowMs } });
    }
  };

  return {
    cache,
    queues,
    running,
    add,
    arrive: (clusterQueue: string, name: string, cpu: string, priority = 0, createdMs = arrivals): void => {
      const workloadClass = `class-${priority}`;
      priorities.set(workloadClass, priority);
      const parts = { createdMs, shape: 'shape', schedulingHash: cpu, ...(priority === 0 ? {} : { priorityWish: { workloadClass } }) };
      add(clusterQueue, waitingWorkload(name, { cpu, pods: '1' }, parts), priority);
    },
    release,
    /** One cycle: of how many heads it decided, and how many of them it admitted; undefined when nothing was left to decide. */
    cycle: (
      nowMs: number,
      admitted?: (key: string, clusterQueue: string, cluster: string) => void,
    ): { decided: number; admitted: number } | undefined => {
      const result = runCycle(
        {
          cache,
          queues,
          admit: ({ head, record }) => {
            const { key } = head.queued.workload;
            queues.delete(key);
            cache.assume(head.queued.workload, record);
            running.set(key, head);
            admitted?.(key, record.clusterQueue, record.cluster);
            return true;
          },
          at: () => undefined,
        },
        nowMs,
        most,
      );
      most = nextMost(most, result);
      if (result.displaces) stopDisplaced(nowMs);
      return result.tried === 0 || !result.progressed ? undefined : { decided: result.tried, admitted: result.admitted };
    },
  };
}
