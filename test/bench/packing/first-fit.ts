import type { PackingJob } from './jobs.ts';
import type { Machine, PackingScheduler } from './play.ts';

/** Every Job that fits starts, in the order of arrival, on the first cluster with room. Nothing is ever kept for a Job that waits. */
export function createFirstFit({ clusters, clusterCpu }: Machine): PackingScheduler {
  const free = Array.from({ length: clusters }, () => clusterCpu);
  const clusterOf = new Map<string, number>();
  let waiting: PackingJob[] = [];
  return {
    arrive: (job) => {
      waiting.push(job);
    },
    end: ({ name, cpu }) => {
      const cluster = clusterOf.get(name) ?? 0;
      free[cluster] = (free[cluster] ?? 0) + cpu;
    },
    start: (_nowMs, begin) => {
      waiting = waiting.filter((job) => {
        const cluster = free.findIndex((left) => left >= job.cpu);
        if (cluster < 0) return true;
        free[cluster] = (free[cluster] ?? 0) - job.cpu;
        clusterOf.set(job.name, cluster);
        begin(job, cluster);
        return false;
      });
    },
  };
}
