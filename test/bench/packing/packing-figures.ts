import { quantile } from '../quantile.ts';
import { isLarge, type PackingJob } from './jobs.ts';
import type { Machine, Start } from './play.ts';

export type PackingFigures = {
  /** The share of all cpus in use between the first and the last arrival. */
  readonly used: number;
  /** Mean waits, in minutes. */
  readonly small: number;
  readonly large: number;
  readonly all: number;
  readonly p95: number;
  /** The mean wait in which each Job counts by its work, in minutes. */
  readonly byWork: number;
};

const MINUTE_MS = 60_000;

export function packingFigures(starts: readonly Start[], { clusters, clusterCpu }: Machine): PackingFigures {
  const [fromMs, toMs] = windowOf(starts.map(({ job }) => job));
  const waits = starts.map(({ job, startMs }) => ({ job, wait: (startMs - job.arrivalMs) / MINUTE_MS }));
  const meanOf = (which: readonly { readonly wait: number }[]): number =>
    which.length === 0 ? 0 : which.reduce((sum, { wait }) => sum + wait, 0) / which.length;
  let usedMs = 0;
  for (const { job, startMs } of starts) usedMs += job.cpu * Math.max(0, Math.min(toMs, startMs + job.runMs) - Math.max(fromMs, startMs));
  const work = starts.reduce((sum, { job }) => sum + job.cpu * job.runMs, 0);
  return {
    used: usedMs / (clusters * clusterCpu * (toMs - fromMs)),
    small: meanOf(waits.filter(({ job }) => !isLarge(job, clusterCpu))),
    large: meanOf(waits.filter(({ job }) => isLarge(job, clusterCpu))),
    all: meanOf(waits),
    p95: quantile(
      waits.map(({ wait }) => wait).toSorted((a, b) => a - b),
      0.95,
    ),
    byWork: waits.reduce((sum, { job, wait }) => sum + wait * job.cpu * job.runMs, 0) / work,
  };
}

/**
 * What no scheduler can do better, as if all cpus were one machine on which work divides at will. If no Job waited, work would come at the
 * rate of the cpus then in use; a server that does at most what all cpus do leaves the least unfinished of it (Reich's formula). Each Job
 * that waits leaves its work unfinished for as long, so the integral of what is left bounds the sum of waits times work from below.
 */
export function lowerBound(jobs: readonly PackingJob[], { clusters, clusterCpu }: Machine): Pick<PackingFigures, 'used' | 'byWork'> {
  const [fromMs, toMs] = windowOf(jobs);
  const rate = clusters * clusterCpu;
  const changes = jobs
    .flatMap(({ arrivalMs, runMs, cpu }) => [
      { atMs: arrivalMs, cpu },
      { atMs: arrivalMs + runMs, cpu: -cpu },
    ])
    .toSorted((a, b) => a.atMs - b.atMs);
  let asked = 0;
  let left = 0;
  let leftTimesMs = 0;
  let usedMs = 0;
  let nowMs = fromMs;
  const passUntil = (untilMs: number): void => {
    const net = asked - rate;
    const emptyAtMs = net < 0 && left > 0 ? Math.min(untilMs, nowMs + left / -net) : untilMs;
    for (const [start, end] of [[nowMs, emptyAtMs] as const, [emptyAtMs, untilMs] as const]) {
      const spanMs = end - start;
      if (spanMs <= 0) continue;
      const served = left > 0 || net > 0 ? rate : asked;
      usedMs += served * Math.max(0, Math.min(end, toMs) - start);
      const after = Math.max(0, left + (asked - served) * spanMs);
      leftTimesMs += ((left + after) / 2) * spanMs;
      left = after < 1e-6 ? 0 : after;
    }
    nowMs = untilMs;
  };
  for (const { atMs, cpu } of changes) {
    passUntil(atMs);
    asked += cpu;
  }
  passUntil(nowMs + left / rate);
  const work = jobs.reduce((sum, { cpu, runMs }) => sum + cpu * runMs, 0);
  return { used: usedMs / (rate * (toMs - fromMs)), byWork: leftTimesMs / work / MINUTE_MS };
}

function windowOf(jobs: readonly Pick<PackingJob, 'arrivalMs'>[]): readonly [number, number] {
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const { arrivalMs } of jobs) {
    first = Math.min(first, arrivalMs);
    last = Math.max(last, arrivalMs);
  }
  return [first, Math.max(last, first + 1)];
}
