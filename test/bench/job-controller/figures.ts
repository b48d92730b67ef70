/** From two readings of the worker's metrics to the figures of a run. */
import { increase, quantileBetween, type Sample } from '../prometheus-text.ts';
import type { Permitted } from './shapes.ts';

export type Figures = {
  readonly seconds: number;
  readonly podsPerMinute: number;
  /** Per pod. Watches and lists are among `other`, and so is what cannot be told apart. */
  readonly calls: {
    readonly create: number;
    readonly finalizer: number;
    readonly status: number;
    readonly events: number;
    readonly other: number;
    readonly all: number;
  };
  readonly refusedCalls: number;
  readonly cpuSeconds: number;
  /** Of API server and etcd meanwhile; NaN where they are not programs of this run. */
  readonly serverCpuSeconds: number;
  readonly peakMiB: number;
  readonly syncs: number;
  readonly syncP50Ms: number;
  readonly syncP99Ms: number;
};

export type Load = {
  readonly pods: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly serverCpuSeconds: number;
  readonly peakBytes: number;
};

const REQUESTS = 'rest_client_requests_total';
const SYNC_DURATION = 'job_controller_job_sync_duration_seconds';

export function figuresOf(
  before: readonly Sample[],
  after: readonly Sample[],
  { pods, seconds, cpuSeconds, serverCpuSeconds, peakBytes }: Load,
): Figures {
  const grown = (name: string, labels?: Record<string, string>): number => increase(before, after, name, labels);
  const created = grown('job_controller_job_pods_creation_total', { status: 'succeeded' });
  const freed = grown('job_controller_terminated_pods_tracking_finalizer_total', { event: 'delete' });
  const [all, posts, patches, puts] = [undefined, 'POST', 'PATCH', 'PUT'].map((method) =>
    grown(REQUESTS, method === undefined ? {} : { method }),
  );
  const events = (posts ?? 0) - created + (patches ?? 0) - freed;
  return {
    seconds,
    podsPerMinute: (pods * 60) / seconds,
    calls: {
      create: created / pods,
      finalizer: freed / pods,
      status: (puts ?? 0) / pods,
      events: events / pods,
      other: ((all ?? 0) - (posts ?? 0) - (patches ?? 0) - (puts ?? 0)) / pods,
      all: (all ?? 0) / pods,
    },
    refusedCalls: (all ?? 0) - grown(REQUESTS, { code: '200' }) - grown(REQUESTS, { code: '201' }),
    cpuSeconds,
    serverCpuSeconds,
    peakMiB: peakBytes / 2 ** 20,
    syncs: grown(`${SYNC_DURATION}_count`),
    syncP50Ms: quantileBetween(before, after, SYNC_DURATION, 0.5) * 1000,
    syncP99Ms: quantileBetween(before, after, SYNC_DURATION, 0.99) * 1000,
  };
}

/** What is outside its range, in words. Calls count to two decimals: a watch that was opened anew is no cost per pod. */
export function violations({ calls, seconds }: Figures, permitted: Permitted): string[] {
  const [all, own] = [round(calls.all), round(calls.all - calls.events)];
  const { callsPerPodMax, ownCallsPerPodMax, secondsMax = Number.POSITIVE_INFINITY } = permitted;
  return [
    ...(all > callsPerPodMax ? [`${all} calls a pod, permitted are ${callsPerPodMax}`] : []),
    ...(own > ownCallsPerPodMax ? [`${own} calls a pod without Events, permitted are ${ownCallsPerPodMax}`] : []),
    ...(seconds > secondsMax ? [`${seconds.toFixed(1)} s, permitted are ${secondsMax} s`] : []),
  ];
}

/** That a small Job beside the load has waited for it. */
export function slowProbes(probesMs: readonly number[], { probeSecondsMax = Number.POSITIVE_INFINITY }: Permitted): string[] {
  const slowest = Math.max(0, ...probesMs) / 1000;
  return slowest > probeSecondsMax ? [`a Job of one pod beside it took ${slowest.toFixed(1)} s, permitted are ${probeSecondsMax} s`] : [];
}

const round = (calls: number): number => Math.round(calls * 100) / 100;
