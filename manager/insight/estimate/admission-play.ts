import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { AdmissionCache } from '../../admission/cache/admission-cache.ts';
import type { QueuedWorkload } from '../../admission/workload/ordering.ts';
import { createPendingQueues, type PendingQueues } from '../../admission/queues/pending-queues.ts';
import type { PriorityClasses } from '../../admission/workload/priority.ts';
import { putInQueue, queueEntry } from '../../admission/queues/queue-entry.ts';
import { runToEnd } from '../../admission/cache/sliced-work.ts';
import { hasPlace, type Reservation } from '../../admission/workload/reservation.ts';
import { nextMost, runCycle } from '../../admission/queues/scheduling-cycle.ts';
import type { Workload } from '../../admission/workload/workload.ts';

/** The start of a simulation of admission that shows when one Workload is admitted. */
export type Stage = {
  /** A private copy of the cache, restored when the simulation ends. */
  readonly cache: AdmissionCache;
  readonly priorityClasses: PriorityClasses;
  /** The usage of a LocalQueue; undefined if it does not order its ClusterQueue. */
  readonly usageOf?: ((localQueue: string) => number | undefined) | undefined;
  /** Pending Workloads that take part, in queue order. */
  readonly lanes: readonly Lane[];
  /** Reservations whose end may matter to the target. */
  readonly running: readonly Reservation[];
  /** Key of the Workload to estimate, and keys of those of its ClusterQueue before it. */
  readonly target: string;
  readonly before: ReadonlySet<string>;
  /** Epoch milliseconds. */
  readonly nowMs: number;
};
export type Lane = { readonly clusterQueue: string; readonly strict: boolean; readonly waiting: readonly QueuedWorkload[] };

/** Random run times, in milliseconds or epoch milliseconds. */
export type Durations = {
  /** When a running Workload ends, in epoch milliseconds. */
  readonly endMs: (reservation: Reservation) => number;
  /** How long an admitted Workload holds its quota, in milliseconds. */
  readonly holdMs: (workload: Workload, record: AdmissionRecord) => number;
  /** How long an evicted Workload takes to stop, in milliseconds. */
  readonly stopMs: (workload: Workload) => number;
};

/** The outcome for the target. */
export type TrialResult =
  | { readonly kind: 'Admitted'; readonly atMs: number }
  /** The limit of ends was reached: the target still waits, and `admittedBefore` of the Workloads before it were admitted. */
  | { readonly kind: 'CutOff'; readonly atMs: number; readonly admittedBefore: number }
  /** All running Workloads have ended, and the target still waits. */
  | { readonly kind: 'Never' };

/** A simulation stops after this many ends of Jobs. */
export const ENDS_MAX = 128;

/** An event: a Workload ends, or stops and is pending again, or a retry is due. */
type SimulatedEvent = { readonly key: string; readonly atMs: number; readonly kind: 'End' | 'Stop'; readonly retry?: () => void };

/** Ends simulated in one slice. */
const SLICE = 4;

/**
 * Simulates admission: runs the manager's scheduling cycles, lets the next Workload end, and so on, until the target is admitted. No
 * Workloads are added. The work is sliced into steps of some milliseconds.
 */
export function simulating(stage: Stage, durations: Durations): Generator<undefined, TrialResult> {
  return new Play(stage, durations).run();
}

class Play {
  readonly #stage: Stage;
  readonly #durations: Durations;
  readonly #queues: PendingQueues;
  readonly #events = new IndexedHeap<SimulatedEvent>(
    ({ key }) => key,
    (a, b) => a.atMs - b.atMs || (a.key < b.key ? -1 : 1),
  );
  readonly #ended: Reservation[] = [];
  readonly #assumed = new Map<string, Workload>();
  #admittedBefore = 0;
  #nowMs: number;
  #admittedMs: number | undefined;
  #retries = 0;

  constructor(stage: Stage, durations: Durations) {
    this.#stage = stage;
    this.#durations = durations;
    this.#queues = createPendingQueues(stage.usageOf);
    this.#nowMs = stage.nowMs;
  }

  *run(): Generator<undefined, TrialResult> {
    const { cache, lanes } = this.#stage;
    for (const { waiting, ...queue } of lanes) for (const queued of waiting) putInQueue(this.#queues, cache, { ...queue, queued });
    yield;
    for (const each of firstEnds(this.#stage, this.#durations)) this.#events.set(each);
    yield;
    const result = yield* this.#untilAdmitted();
    cache.withdraw(() => false);
    for (const [key, workload] of this.#assumed) {
      cache.forget(key);
      cache.shapes.released(workload);
    }
    for (const { workload, record } of this.#ended) cache.admit(workload, record);
    return result;
  }

  *#untilAdmitted(): Generator<undefined, TrialResult> {
    this.#scheduleAll();
    for (let ends = 0; this.#admittedMs === undefined; ) {
      if (ends >= ENDS_MAX) return { kind: 'CutOff', atMs: this.#nowMs, admittedBefore: this.#admittedBefore };
      const next = this.#events.peek();
      if (next === undefined) return { kind: 'Never' };
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      for (let due: SimulatedEvent | undefined = next; due !== undefined && due.atMs <= this.#nowMs; due = this.#events.peek()) {
        this.#events.delete(due.key);
        this.#leave(due);
        ends++;
      }
      this.#scheduleAll();
      if (ends % SLICE === 0) yield;
    }
    return { kind: 'Admitted', atMs: this.#admittedMs };
  }

  #scheduleAll(): void {
    const { cache } = this.#stage;
    let most = 1;
    for (;;) {
      const result = runCycle(
        {
          cache,
          queues: this.#queues,
          admit: ({ head, record }) => {
            this.#admit(head.queued.workload, record);
            return true;
          },
          at: (atMs, retry) => this.#events.set({ key: `retry ${this.#retries++}`, kind: 'Stop', atMs, retry }),
        },
        this.#nowMs,
        most,
      );
      if (result.tried === 0 || !result.progressed || this.#admittedMs !== undefined) break;
      most = nextMost(most, result);
    }
    for (const { reservation } of cache.displaced()) {
      const { workload } = reservation;
      const known = this.#events.get(workload.key);
      const atMs = this.#nowMs + this.#durations.stopMs(workload);
      if (known?.kind !== 'Stop' && (known === undefined || known.atMs > atMs)) this.#events.set({ key: workload.key, kind: 'Stop', atMs });
    }
  }

  #admit(workload: Workload, record: AdmissionRecord): void {
    const { key } = workload;
    this.#queues.delete(key);
    this.#stage.cache.assume(workload, record);
    this.#assumed.set(key, workload);
    this.#events.set({ key, kind: 'End', atMs: this.#nowMs + this.#durations.holdMs(workload, record) });
    if (this.#stage.before.has(key)) this.#admittedBefore++;
    if (key === this.#stage.target) this.#admittedMs = this.#nowMs;
  }

  #leave({ key, kind, retry }: SimulatedEvent): void {
    const { cache, priorityClasses } = this.#stage;
    if (retry !== undefined) return retry();
    const gone = cache.forget(key);
    if (gone === undefined) return;
    if (!this.#assumed.delete(key)) this.#ended.push(gone);
    cache.shapes.released(gone.workload);
    this.#queues.wake(cache.rootOf(gone.record.clusterQueue));
    this.#queues.wakeWaitingForCluster();
    if (kind === 'End') return;
    const workload: Workload = { ...gone.workload, phase: 'Pending' };
    const entry = queueEntry(workload, 0, { queueing: cache.queueing(), priorityClasses });
    if (!('reason' in entry)) putInQueue(this.#queues, cache, entry);
  }
}

/** {@link simulating} in one go. */
export const simulate = (stage: Stage, durations: Durations): TrialResult => runToEnd(simulating(stage, durations));

/**
 * The first ends; later ones than the limit are not reached. A Workload that is stopping already stops soon, and is not admitted again
 * before that.
 */
const firstEnds = ({ running, nowMs }: Stage, { endMs, stopMs }: Durations): SimulatedEvent[] =>
  running
    .map((reservation): SimulatedEvent => {
      const { workload } = reservation;
      if (reservation.assumed || hasPlace(workload)) return { key: workload.key, kind: 'End', atMs: endMs(reservation) };
      return { key: workload.key, kind: 'Stop', atMs: nowMs + stopMs(workload) };
    })
    .toSorted((a, b) => a.atMs - b.atMs || (a.key < b.key ? -1 : 1))
    .slice(0, ENDS_MAX);
