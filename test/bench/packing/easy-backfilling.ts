import type { PackingJob } from './jobs.ts';
import type { Machine, PackingScheduler } from './play.ts';
import { createRunningJobs, type RunningJobs } from './running-jobs.ts';
import type { RunTimeEstimates } from './run-time-estimates.ts';

/**
 * EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", 1995; Mu'alem and Feitelson, 2001), over several clusters: one queue in the
 * order of arrival. The first Job that does not fit has a reservation where it is expected to start soonest. A later Job goes in front if
 * it delays that start by nothing: it runs on another cluster, ends before, or takes only what the reservation leaves.
 */
export function createEasyBackfilling(machine: Machine, estimates: RunTimeEstimates): PackingScheduler {
  const running = createRunningJobs(machine, estimates);
  let waiting: PackingJob[] = [];
  return {
    arrive: (job) => {
      waiting.push(job);
    },
    end: running.end,
    start: (nowMs, begin) => {
      let reserved: Reserved | undefined;
      waiting = waiting.filter((job) => {
        const endMs = nowMs + estimates.of(job);
        const cluster = leastRoom(
          running.free,
          job,
          (each) => reserved?.cluster !== each || endMs <= reserved.atMs || job.cpu <= reserved.spare,
        );
        if (cluster === undefined) {
          reserved ??= reservationFor(job, running, nowMs);
          return true;
        }
        if (reserved?.cluster === cluster && endMs > reserved.atMs) reserved = { ...reserved, spare: reserved.spare - job.cpu };
        running.begin(job, cluster, nowMs);
        begin(job, cluster);
        return false;
      });
    },
  };
}

/** `spare`: what the reserved Job leaves of the cluster when it starts. */
type Reserved = { readonly cluster: number; readonly atMs: number; readonly spare: number };

function reservationFor({ cpu }: PackingJob, running: RunningJobs, nowMs: number): Reserved {
  let best: Reserved | undefined;
  for (const [cluster, left] of running.free.entries()) {
    let free = left;
    for (const end of running.ends(cluster, nowMs)) {
      free += end.cpu;
      if (free < cpu) continue;
      if (best === undefined || end.atMs < best.atMs) best = { cluster, atMs: end.atMs, spare: free - cpu };
      break;
    }
  }
  if (best === undefined) throw new Error(`a Job of ${cpu} cpus fits no cluster`);
  return best;
}

/** The cluster with the least room that has enough; undefined if none has. */
export function leastRoom(free: readonly number[], { cpu }: PackingJob, mayGo: (cluster: number) => boolean): number | undefined {
  let best: number | undefined;
  for (const [cluster, left] of free.entries())
    if (left >= cpu && (best === undefined || left < (free[best] ?? 0)) && mayGo(cluster)) best = cluster;
  return best;
}
