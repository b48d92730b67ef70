import type { PackingJob } from './jobs.ts';
import type { Machine, PackingScheduler } from './play.ts';
import { createRunningJobs } from './running-jobs.ts';
import type { RunTimeEstimates } from './run-time-estimates.ts';

/**
 * Conservative backfilling (Mu'alem and Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the
 * IBM SP2 with Backfilling", 2001), over several clusters: every Job has a reservation, at the earliest time that delays no Job before it.
 * As Jobs end, all reservations are made again in the order of arrival.
 */
export function createConservativeBackfilling(machine: Machine, estimates: RunTimeEstimates): PackingScheduler {
  const running = createRunningJobs(machine, estimates);
  let waiting: PackingJob[] = [];
  return {
    arrive: (job) => {
      waiting.push(job);
    },
    end: running.end,
    start: (nowMs, begin) => {
      const profiles = running.free.map((free, cluster) => new Profile(nowMs, free, running.ends(cluster, nowMs)));
      waiting = waiting.filter((job) => {
        const estimateMs = estimates.of(job);
        let best: { readonly cluster: number; readonly atMs: number } | undefined;
        for (const [cluster, profile] of profiles.entries()) {
          const atMs = profile.earliest(job.cpu, estimateMs, best?.atMs ?? Number.POSITIVE_INFINITY);
          if (atMs !== undefined) best = { cluster, atMs };
        }
        if (best === undefined) throw new Error(`a Job of ${job.cpu} cpus fits no cluster`);
        profiles[best.cluster]?.take(job.cpu, best.atMs, best.atMs + estimateMs);
        if (best.atMs > nowMs) return true;
        running.begin(job, best.cluster, nowMs);
        begin(job, best.cluster);
        return false;
      });
    },
  };
}

/** What is free on one cluster over time: `free[i]` from `times[i]` until the next. */
class Profile {
  readonly #times: number[];
  readonly #free: number[];

  constructor(nowMs: number, free: number, ends: readonly { readonly atMs: number; readonly cpu: number }[]) {
    this.#times = [nowMs];
    this.#free = [free];
    let left = free;
    for (const { atMs, cpu } of ends) {
      left += cpu;
      if (this.#times.at(-1) === atMs) this.#free[this.#free.length - 1] = left;
      else {
        this.#times.push(atMs);
        this.#free.push(left);
      }
    }
  }

  /** The first time before `beforeMs` from which on so much is free for so long; undefined if there is none. */
  earliest(cpu: number, forMs: number, beforeMs: number): number | undefined {
    for (let from = 0; from < this.#times.length; from++) {
      const atMs = this.#times[from] ?? 0;
      if (atMs >= beforeMs) return undefined;
      if ((this.#free[from] ?? 0) < cpu) continue;
      let until = from + 1;
      while (until < this.#times.length && (this.#times[until] ?? 0) < atMs + forMs && (this.#free[until] ?? 0) >= cpu) until++;
      if (until === this.#times.length || (this.#times[until] ?? 0) >= atMs + forMs) return atMs;
      // The next time at which enough may be free comes after what is in the way.
      from = until;
    }
    return undefined;
  }

  take(cpu: number, fromMs: number, untilMs: number): void {
    const first = this.#splitAt(fromMs);
    const end = this.#splitAt(untilMs);
    for (let index = first; index < end; index++) this.#free[index] = (this.#free[index] ?? 0) - cpu;
  }

  #splitAt(atMs: number): number {
    let index = this.#times.findIndex((time) => time >= atMs);
    if (index < 0) index = this.#times.length;
    if (this.#times[index] === atMs) return index;
    this.#times.splice(index, 0, atMs);
    this.#free.splice(index, 0, this.#free[index - 1] ?? 0);
    return index;
  }
}
