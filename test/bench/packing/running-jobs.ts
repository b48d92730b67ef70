import type { PackingJob } from './jobs.ts';
import type { Machine } from './play.ts';
import type { RunTimeEstimates } from './run-time-estimates.ts';

/** What runs, as the reference schedulers know it. */
export type RunningJobs = {
  readonly free: readonly number[];
  begin(job: PackingJob, cluster: number, nowMs: number): void;
  end(job: PackingJob): void;
  /** When what runs on a cluster is expected to end, the first first. A Job that outlives its estimate is expected to end at once. */
  ends(cluster: number, nowMs: number): readonly { readonly atMs: number; readonly cpu: number }[];
};

type Running = { readonly job: PackingJob; readonly cluster: number; readonly endMs: number };

export function createRunningJobs({ clusters, clusterCpu }: Machine, estimates: RunTimeEstimates): RunningJobs {
  const free = Array.from({ length: clusters }, () => clusterCpu);
  const on = Array.from({ length: clusters }, () => new Map<string, Running>());
  const clusterOf = new Map<string, number>();
  return {
    free,
    begin: (job, cluster, nowMs) => {
      free[cluster] = (free[cluster] ?? 0) - job.cpu;
      on[cluster]?.set(job.name, { job, cluster, endMs: nowMs + estimates.of(job) });
      clusterOf.set(job.name, cluster);
    },
    end: (job) => {
      const cluster = clusterOf.get(job.name) ?? 0;
      clusterOf.delete(job.name);
      on[cluster]?.delete(job.name);
      free[cluster] = (free[cluster] ?? 0) + job.cpu;
      estimates.ended(job);
    },
    ends: (cluster, nowMs) =>
      [...(on[cluster]?.values() ?? [])]
        .map(({ job, endMs }) => ({ atMs: Math.max(nowMs + 1, endMs), cpu: job.cpu }))
        .toSorted((a, b) => a.atMs - b.atMs),
  };
}
