import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { PackingJob } from './jobs.ts';

/** Who decides which Jobs start, and where. */
export type PackingScheduler = {
  arrive(job: PackingJob, nowMs: number): void;
  end(job: PackingJob, nowMs: number): void;
  /** Starts what is to start now; `begin` is called once for each, with the number of its cluster. */
  start(nowMs: number, begin: (job: PackingJob, cluster: number) => void): void;
};

export type Machine = { readonly clusters: number; readonly clusterCpu: number };

/** A Job that ran, from when, and where. */
export type Start = { readonly job: PackingJob; readonly startMs: number; readonly cluster: number };

type Event = { readonly id: string; readonly atMs: number; readonly happen: () => void };

/**
 * Plays Jobs in virtual time, in which deciding takes none. Throws when a cluster is given more than it has, when a Job starts twice, or
 * when Jobs are left that nothing will start.
 */
export function play(jobs: readonly PackingJob[], { clusters, clusterCpu }: Machine, scheduler: PackingScheduler): readonly Start[] {
  const starts = new Map<string, Start>();
  const used = Array.from({ length: clusters }, () => 0);
  let order = 0;
  const events = new IndexedHeap<Event & { readonly order: number }>(
    ({ id }) => id,
    (a, b) => a.atMs - b.atMs || a.order - b.order,
  );
  const at = (id: string, atMs: number, happen: () => void): void => events.set({ id, atMs, happen, order: order++ });
  for (const job of jobs) at(`arrival of ${job.name}`, job.arrivalMs, () => scheduler.arrive(job, job.arrivalMs));
  for (let event = events.peek(); event !== undefined; event = events.peek()) {
    const nowMs = event.atMs;
    // All that happens at one time is decided on together.
    for (let next = events.peek(); next !== undefined && next.atMs === nowMs; next = events.peek()) {
      events.delete(next.id);
      next.happen();
    }
    scheduler.start(nowMs, (job, cluster) => {
      const now = (used[cluster] ?? Number.POSITIVE_INFINITY) + job.cpu;
      if (now > clusterCpu) throw new Error(`${job.name} starts on cluster ${cluster}, which has ${clusterCpu} cpus, and then uses ${now}`);
      if (starts.has(job.name)) throw new Error(`${job.name} starts twice`);
      used[cluster] = now;
      starts.set(job.name, { job, startMs: nowMs, cluster });
      const endMs = nowMs + job.runMs;
      at(`end of ${job.name}`, endMs, () => {
        used[cluster] = (used[cluster] ?? 0) - job.cpu;
        scheduler.end(job, endMs);
      });
    });
  }
  if (starts.size < jobs.length) throw new Error(`${jobs.length - starts.size} of ${jobs.length} Jobs never start`);
  return [...starts.values()];
}
