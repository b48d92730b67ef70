/**
 * What the job-controller suite runs, and what it may cost.
 *
 * Calls per pod are a property of the controller: the bounds hold on every machine. Without Events a pod costs one create,
 * one finalizer patch, and its share of the status writes of its Job. Events come on top as their own kind: a Job of one
 * pod has two, and no Job more than 25 at once (the recorder's bucket), so they are a quarter of a call for each of 100 pods.
 *
 * Seconds depend on the machine. The bounds are what kube-controller-manager took for the same load on two cores shared
 * with its API server; on a machine as small as that we must not be slower.
 */
export type Shape = {
  readonly name: string;
  readonly jobs: number;
  readonly podsPerJob: number;
  /** Default: all pods of a Job at once. */
  readonly parallelism?: number;
  readonly modes: readonly CompletionMode[];
  /** Left out of a run that names no shapes. */
  readonly onRequest?: boolean;
  /** Beside the load, a Job of one pod is created this often, and its time to completion is measured. */
  readonly probeEveryMs?: number;
  /** The worker's limit of calls a second, where the load is about it; a flag of the command line counts more. */
  readonly qps?: number;
  readonly permitted: Permitted;
};

export type CompletionMode = 'NonIndexed' | 'Indexed';

export type Permitted = {
  readonly callsPerPodMax: number;
  /** Without Events. */
  readonly ownCallsPerPodMax: number;
  readonly secondsMax?: number;
  /** Of the slowest Job of one pod beside the load. */
  readonly probeSecondsMax?: number;
};

const BOTH: readonly CompletionMode[] = ['NonIndexed', 'Indexed'];

export const SHAPES: readonly Shape[] = [
  {
    name: '1x2000',
    jobs: 1,
    podsPerJob: 2000,
    modes: BOTH,
    permitted: { callsPerPodMax: 2.05, ownCallsPerPodMax: 2.03, secondsMax: 10.8 },
  },
  {
    name: '20x100',
    jobs: 20,
    podsPerJob: 100,
    modes: BOTH,
    permitted: { callsPerPodMax: 2.3, ownCallsPerPodMax: 2.05, secondsMax: 10.2 },
  },
  {
    name: '2000x1',
    jobs: 2000,
    podsPerJob: 1,
    modes: BOTH,
    // 500 such Jobs took kube-controller-manager 16.5 s.
    permitted: { callsPerPodMax: 7, ownCallsPerPodMax: 5, secondsMax: 66 },
  },
  {
    name: '500x1',
    jobs: 500,
    podsPerJob: 1,
    modes: BOTH,
    onRequest: true,
    permitted: { callsPerPodMax: 7, ownCallsPerPodMax: 5, secondsMax: 16.5 },
  },
  {
    name: '1x100000',
    jobs: 1,
    podsPerJob: 100_000,
    parallelism: 2000,
    modes: ['Indexed'],
    onRequest: true,
    probeEveryMs: 5000,
    permitted: { callsPerPodMax: 2.05, ownCallsPerPodMax: 2.03 },
  },
  {
    // Whether a small Job waits for the calls of a hundred others, at the worker's default limit.
    name: '100x20',
    jobs: 100,
    podsPerJob: 20,
    modes: ['NonIndexed'],
    onRequest: true,
    probeEveryMs: 5000,
    qps: 50,
    // In so long a time each pod has its Event.
    permitted: { callsPerPodMax: 3.3, ownCallsPerPodMax: 2.3, probeSecondsMax: 5 },
  },
];
