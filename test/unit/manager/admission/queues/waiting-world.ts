/** Worlds in which Jobs come, wait, run for times that only the world knows, and end: for tests of what can be told of that beforehand. */
import { createAdmissionCache, type AdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { Past } from '../../../../../manager/insight/estimate/run-time-sampler.ts';
import type { StartQuestion } from '../../../../../manager/insight/estimate/estimate-start.ts';
import { compareQueued, type QueuedWorkload } from '../../../../../manager/admission/workload/ordering.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import { createRunTimes, type RunFacts } from '../../../../../manager/insight/estimate/run-times.ts';
import { nextMost, runCycle } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import { aWorkload, objects } from '../setup.ts';

export const SECOND_MS = 1_000;
export const START_MS = Date.parse('2026-01-02T00:00:00Z');

export type Arrival = {
  readonly name: string;
  readonly clusterQueue: string;
  readonly cpu: string;
  readonly runMs: number;
  readonly family?: string;
  readonly longestMs?: number;
  readonly priority?: number;
};
export type WaitingWorld = ReturnType<typeof createWaitingWorld>;

export function createWaitingWorld(clusterQueues: readonly ClusterQueue[], clusters: readonly ClusterState[], strict = false) {
  const queueing = buildQueueingSetup(objects({ clusterQueues }));
  const cache: AdmissionCache = createAdmissionCache(queueing);
  cache.setClusters(clusters);
  const queues = createPendingQueues();
  const runTimes = createRunTimes();
  const waiting = new Map<string, { readonly clusterQueue: string; readonly queued: QueuedWorkload }>();
  const arrivals = new Map<string, Arrival>();
  const ends = new Map<string, number>();
  const admittedMs = new Map<string, number>();
  let nowMs = START_MS;
  let count = 0;

  const settle = (): void => {
    let most = 1;
    for (;;) {
      const result = runCycle(
        {
          cache,
          queues,
          admit: ({ head, record }) => {
            const { workload } = head.queued;
            const { key } = workload;
            queues.delete(key);
            waiting.delete(key);
            cache.admit({ ...workload, phase: 'Admitted', record }, record);
            admittedMs.set(key, nowMs);
            ends.set(key, nowMs + (arrivals.get(key)?.runMs ?? 0));
            return true;
          },
          at: () => undefined,
        },
        nowMs,
        most,
      );
      if (result.tried === 0 || !result.progressed) return;
      most = nextMost(most, result);
    }
  };

  /** The next end of a Job, if that is before `untilMs`. */
  const endOne = (untilMs: number): boolean => {
    let next: readonly [string, number] | undefined;
    for (const each of ends) if (next === undefined || each[1] < next[1]) next = each;
    if (next === undefined || next[1] > untilMs) return false;
    const [key, endMs] = next;
    nowMs = endMs;
    ends.delete(key);
    const gone = cache.forget(key);
    const { clusterQueue = '', family = 'team/any' } = arrivals.get(key) ?? {};
    runTimes.observe({ clusterQueue, family, ranMs: endMs - Date.parse(gone?.record.since ?? ''), endedMs: endMs });
    queues.wake(cache.rootOf(clusterQueue));
    queues.wakeWaitingForCluster();
    settle();
    return true;
  };

  const past: Past = {
    runTimes,
    factsOf: (key): RunFacts => ({ family: arrivals.get(key)?.family ?? 'team/any', longestMs: () => arrivals.get(key)?.longestMs }),
  };

  return {
    past,
    cache,
    now: () => nowMs,
    waiting: (clusterQueue: string): QueuedWorkload[] =>
      [...waiting.values()]
        .filter((each) => each.clusterQueue === clusterQueue)
        .map(({ queued }) => queued)
        .toSorted(compareQueued),
    arrive: (arrival: Arrival): void => {
      const { name, clusterQueue, cpu, priority = 0 } = arrival;
      const workload = aWorkload(name, { cpu }, { queue: clusterQueue, createdMs: nowMs, uid: name });
      const queued = { workload, priority, arrival: count++ };
      arrivals.set(workload.key, arrival);
      waiting.set(workload.key, { clusterQueue, queued });
      queues.add(clusterQueue, strict, queued);
      settle();
    },
    /** Lets everything happen that happens until then. */
    runUntil: (untilMs: number): void => {
      while (endOne(untilMs));
      nowMs = untilMs;
    },
    /** Lets Jobs end until this one is admitted, and tells when that was; undefined where it never is. */
    admissionOf: (key: string): number | undefined => {
      while (!admittedMs.has(key)) if (!endOne(Number.POSITIVE_INFINITY)) return undefined;
      return admittedMs.get(key);
    },
    question: (key: string): StartQuestion => {
      const target = waiting.get(key);
      if (target === undefined) throw new Error(`${key} does not wait`);
      const names = [...new Set([...waiting.values()].map(({ clusterQueue }) => clusterQueue))];
      const inOrder = (clusterQueue: string): QueuedWorkload[] =>
        [...waiting.values()]
          .filter((each) => each.clusterQueue === clusterQueue)
          .map(({ queued }) => queued)
          .toSorted(compareQueued);
      return {
        queueing,
        clusters,
        priorityClasses: NO_PRIORITY_CLASSES,
        reservations: [...cache.reservations()],
        target,
        position: inOrder(target.clusterQueue).findIndex(({ workload }) => workload.key === key),
        waiting: names.map((clusterQueue) => ({ clusterQueue, strict, first: (most) => queues.firstInOrder(clusterQueue, most) })),
        nowMs,
      };
    },
  };
}
