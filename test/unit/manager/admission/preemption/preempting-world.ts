/** Queues and clusters in which Jobs come, are admitted, give their place up, stop and end, as in the manager, one step after the other. */
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { FairSharingConfig } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { runCycle } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import { buildQueueingSetup, type QueueingObjects } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { WorkloadPriorityClass } from '../../../../../manager/api/workload-priority-class.ts';
import { priorityClassesOf } from '../../../../../manager/admission/workload/priority.ts';
import { aWorkload, objects, queued } from '../setup.ts';

export type PreemptingWorld = ReturnType<typeof aPreemptingWorld>;
type Running = { readonly clusterQueue: string; readonly workload: Workload; readonly record: AdmissionRecord };

const PRIORITIES = [-2, -1, 0, 1, 2, 3, 4, 5, 10];
const CLASSES = priorityClassesOf(
  PRIORITIES.map(
    (value): WorkloadPriorityClass => ({
      metadata: { name: `p${value}`, uid: `p${value}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
      value,
    }),
  ),
  [],
);

export function aPreemptingWorld(parts: Partial<QueueingObjects>, clusters: readonly ClusterState[], fairSharing?: FairSharingConfig) {
  const setup = buildQueueingSetup(objects(parts), fairSharing);
  const cache = createAdmissionCache(setup, () => CLASSES);
  cache.setClusters(clusters);
  let queues = createPendingQueues();
  const waiting = new Map<string, { readonly clusterQueue: string; readonly workload: Workload; readonly arrival: number }>();
  const running = new Map<string, Running>();
  /** Who was preempted, by whom, by which rule. */
  const preemptions: string[] = [];
  let arrivals = 0;
  let nowMs = Date.UTC(2026, 0, 1);

  const queue = (clusterQueue: string, workload: Workload, arrival: number): void => {
    const priority = CLASSES.workload.get(workload.priorityWish.workloadClass ?? '') ?? 0;
    waiting.set(workload.name, { clusterQueue, workload, arrival });
    queues.add(clusterQueue, setup.queues.get(clusterQueue)?.strict ?? false, queued(workload, arrival, priority));
  };
  const wake = (clusterQueue: string): void => {
    queues.wake(cache.rootOf(clusterQueue));
    queues.wakeWaitingForCluster();
  };
  /** Suspends those that are to be: they stop later. */
  const suspend = (): void => {
    for (const { record } of cache.withdraw(({ key }) => queues.has(key))) wake(record.clusterQueue);
    for (const { reservation, by, rule } of cache.displaced()) {
      const { workload, record } = reservation;
      if (workload.phase === 'Evicting') continue;
      preemptions.push(`${workload.name} for ${by.key.slice('team/'.length)} (${rule})`);
      cache.admit({ ...workload, phase: 'Evicting' }, { ...record, evicted: true });
    }
  };
  const decide = (): string[] => {
    const admitted: string[] = [];
    for (let cycles = 0; ; cycles++) {
      if (cycles > 1_000) throw new Error('the cycles do not come to an end');
      nowMs += 1_000;
      const result = runCycle(
        {
          cache,
          queues,
          admit: ({ head, record }) => {
            const { workload } = head.queued;
            queues.delete(workload.key);
            waiting.delete(workload.name);
            const seen: Workload = { ...workload, phase: 'Admitted', record };
            cache.assume(workload, record);
            cache.admit(seen, record);
            running.set(workload.name, { clusterQueue: head.clusterQueue, workload: seen, record });
            admitted.push(workload.name);
            return true;
          },
          at: () => undefined,
        },
        nowMs,
      );
      if (result.tried === 0 || !result.progressed) return admitted;
    }
  };

  return {
    cache,
    running,
    waiting,
    preemptions,
    /** A Job comes into a ClusterQueue. */
    arrive: (clusterQueue: string, name: string, cpu: string, priority = 0, more: Partial<Workload> = {}) => {
      const workload = aWorkload(name, { cpu }, { createdMs: nowMs + arrivals, priorityWish: { workloadClass: `p${priority}` }, ...more });
      queue(clusterQueue, workload, arrivals++);
    },
    /** Decides and suspends until nothing more comes of it; nobody stops meanwhile. Returns who was admitted. */
    settle: (): string[] => {
      const admitted: string[] = [];
      for (let rounds = 0; ; rounds++) {
        if (rounds > 100) throw new Error('it does not settle');
        const before = preemptions.length;
        suspend();
        admitted.push(...decide());
        suspend();
        if (before === preemptions.length) return admitted;
      }
    },
    /** One that was suspended has stopped, and queues again. */
    stop: (name: string) => {
      const { clusterQueue, workload, record } = running.get(name) ?? fail(name);
      running.delete(name);
      cache.forget(workload.key);
      queue(clusterQueue, { ...workload, phase: 'Pending', record: { ...record, evicted: true } }, arrivals++);
      wake(clusterQueue);
    },
    /** One that is admitted ends, or one that waits is deleted. */
    end: (name: string) => {
      running.delete(name);
      waiting.delete(name);
      queues.delete(`team/${name}`);
      const gone = cache.forget(`team/${name}`);
      if (gone !== undefined) wake(gone.record.clusterQueue);
    },
    /** Those that were suspended and have not stopped. */
    stopping: (): string[] =>
      [...cache.reservations()].filter(({ workload }) => workload.phase === 'Evicting').map(({ workload }) => workload.name),
    /** The manager starts anew: what was only in memory is gone. */
    restart: () => {
      queues = createPendingQueues();
      cache.withdraw(() => false);
      for (const { clusterQueue, workload, arrival } of waiting.values()) queue(clusterQueue, workload, arrival);
    },
    reasonOf: (name: string) => queues.inadmissibilityOf(`team/${name}`),
  };
}

const fail = (name: string): never => {
  throw new Error(`${name} does not run`);
};
