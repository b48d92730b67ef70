import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { finishedCondition } from '../../shared/kube/conditions.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import { isSameAdmission, type AdmissionCache, type Holding } from './admission-cache.ts';
import type { PendingQueues } from './pending-queues.ts';
import { routeOf, type Hindrance } from './snapshot.ts';
import { workloadOf, type Workload } from './workload.ts';

/**
 * Brings what happens to Jobs into the queues and the cache. It looks at the Job alone, never at the event, so that a restart, a relist and
 * a missed event all lead to the same state.
 */
export interface JobWatcher extends EventHandler<Job> {
  added(job: DeepReadonly<Job>): void;
  updated(next: DeepReadonly<Job>): void;
  deleted(job: DeepReadonly<Job>): void;
  /** Queues every pending Workload anew, because the queues were set up anew. */
  reroute(): void;
  /** An assumed admission will not be written: the Workload waits, with `hindrance`, until its Job changes or {@link retry} is called. */
  giveUp(holding: Holding, hindrance: Hindrance): void;
  retry(key: string): void;
  /** Every Workload that waits. */
  pending(): IterableIterator<Workload>;
  /** Keys of all Jobs that wait, those that are being evicted included. */
  waiting(): Iterable<string>;
  /** Why a Job waits; undefined while it has not been tried, and when it does not wait. */
  hindranceOf(key: string): Hindrance | undefined;
}

export function createJobWatcher(deps: {
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly metrics: AdmissionMetrics;
  /** There may be something to admit. */
  readonly wakeScheduler: () => void;
}): JobWatcher {
  const { cache, queues, metrics, wakeScheduler } = deps;
  const pending = new Map<string, Workload>();
  /** What keeps Jobs out of the queues. Those in a queue have their verdict there. */
  const hindrances = new Map<string, Hindrance>();
  /** Order in which unfinished Jobs were first seen: it survives admission, so that an evicted Job keeps its place. */
  const arrivals = new Map<string, number>();
  let arrivalsSeen = 0;

  const observe = (job: DeepReadonly<Job>): void => {
    const workload = workloadOf(job);
    if (workload === undefined) return;
    const { key, record } = workload;
    if (!arrivals.has(key)) arrivals.set(key, arrivalsSeen++);
    switch (workload.phase) {
      case 'Finished':
        dequeue(key);
        arrivals.delete(key);
        if (cache.get(key) !== undefined)
          metrics.finished.inc({ cluster_queue: record?.clusterQueue ?? '', result: finishedCondition(job.status)?.type ?? 'Deleted' });
        return release(key);
      case 'Admitted':
      case 'Evicting': {
        dequeue(key);
        if (record === undefined) return;
        const before = cache.get(key);
        cache.admit(workload, record);
        // Fewer pods are left to run, or another place is taken: what was held before is free.
        if (before !== undefined && (before.workload.shape !== workload.shape || !isSameAdmission(before.record, record)))
          wakeSharers(before);
        if (workload.phase === 'Evicting') hindrances.set(key, evicted);
        wakeScheduler();
        return;
      }
      case 'Pending':
        if (isBeingWritten(workload)) return;
        release(key);
        return enqueue(workload);
    }
  };

  /**
   * An admission that is being written is conditional on the version it was decided on. While the Job is still at that version the write may
   * succeed; once it has moved on without our record, the write is certain to be refused.
   */
  const isBeingWritten = (workload: Workload): boolean => {
    const holding = cache.get(workload.key);
    if (holding?.assumed !== true || holding.workload.uid !== workload.uid) return false;
    return holding.workload.resourceVersion === workload.resourceVersion;
  };

  const enqueue = (workload: Workload): void => {
    const { key } = workload;
    pending.set(key, workload);
    const route = routeOf(workload, cache.queueing());
    if ('reason' in route) {
      queues.delete(key);
      hindrances.set(key, route);
    } else {
      hindrances.delete(key);
      queues.add(route.name, route.strict, { workload, arrival: arrivals.get(key) ?? arrivalsSeen });
    }
    wakeScheduler();
  };

  /** Pending, and not assumed: its admission is not being written. */
  const waits = (key: string): boolean => cache.get(key) === undefined;

  const dequeue = (key: string): void => {
    pending.delete(key);
    queues.delete(key);
    hindrances.delete(key);
  };

  const release = (key: string): void => {
    const holding = cache.forget(key);
    if (holding !== undefined) wakeSharers(holding);
  };

  const wakeSharers = ({ record }: Holding): void => {
    queues.wake(cache.sharingWith(record.clusterQueue));
    queues.wakeWaitingForCluster();
    wakeScheduler();
  };

  return {
    added: observe,
    updated: observe,
    deleted: (job) => {
      const key = keyOfObject(job);
      dequeue(key);
      arrivals.delete(key);
      release(key);
    },
    reroute: () => {
      for (const workload of pending.values()) if (waits(workload.key)) enqueue(workload);
    },
    giveUp: (holding, hindrance) => {
      const { key } = holding.workload;
      if (cache.get(key) !== holding) return;
      release(key);
      pending.set(key, holding.workload);
      hindrances.set(key, hindrance);
    },
    retry: (key) => {
      const workload = pending.get(key);
      if (workload !== undefined && waits(key) && !queues.has(key)) enqueue(workload);
    },
    pending: () => pending.values(),
    waiting: () => new Set([...pending.keys(), ...hindrances.keys()]),
    hindranceOf: (key) => hindrances.get(key) ?? queues.verdictOf(key),
  };
}

const evicted: Hindrance = {
  reason: QuotaReservedReason.Evicted,
  message: 'suspended after admission; quota is held until nothing runs any more',
};
