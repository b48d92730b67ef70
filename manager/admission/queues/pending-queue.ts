import { QuotaReservedReason } from '../../api/reasons.ts';
import type { Inadmissibility } from '../scheduling/decision.ts';
import { compareQueued, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import type { CapacityBounds } from '../scheduling/capacity-bounds.ts';
import { classOf, PendingClass } from './pending-class.ts';

/** A pending Workload, its ClusterQueue and its class. */
export type Pending = { readonly queue: PendingQueue; readonly class: PendingClass; readonly queued: QueuedWorkload };

/** The Workload to nominate, if any may fit. `waitsForRoom`: Workloads that do not fit lack room on clusters. */
export type Candidate = { readonly candidate?: QueuedWorkload; readonly waitsForRoom: boolean };

type LeastOfClass = Pick<PendingClass, 'least' | 'resources' | 'earliest'>;

/**
 * Pending Workloads of one ClusterQueue, by class. They are ordered by priority and age; if the queue shares by the usage of LocalQueues,
 * the LocalQueue with the least usage goes first.
 */
export class PendingQueue {
  readonly name: string;
  strict = false;
  size = 0;
  readonly classes = new Map<string, PendingClass>();
  /** Lower bound of the queue's place among the queues to nominate from. */
  rank: Nominated | undefined;
  /** The first Workload in order, once it is decided whether it gets a claim. */
  considered: QueuedWorkload | undefined;
  /** The root of the queue's cohort tree while the queue is parked. */
  parked: string | undefined;
  /** The counters of freed capacity at the last visit. */
  seen: { readonly root: string; readonly quota: number; readonly room: number } | undefined;
  /** The smallest requests of each class, and its first Workload, until the Workloads change. */
  #leasts: readonly LeastOfClass[] | undefined;
  readonly #usageOf: (localQueue: string) => number | undefined;
  readonly #usage = new Map<string, number>();

  /** `usageOf`: the usage of a LocalQueue; undefined if it does not order the ClusterQueue. */
  constructor(name: string, usageOf: (localQueue: string) => number | undefined) {
    this.name = name;
    this.#usageOf = usageOf;
  }

  add(queued: QueuedWorkload, apart: readonly string[]): Pending {
    const lane = this.#laneOf(queued);
    const { id, resources } = classOf(queued.workload, lane === '' ? apart : [...apart, lane]);
    const waiting = this.classes.get(id) ?? new PendingClass(id, resources, lane);
    this.classes.set(id, waiting);
    waiting.add(queued);
    this.#leasts = undefined;
    this.size++;
    return { queue: this, class: waiting, queued };
  }

  delete({ class: waiting, queued }: Pending): void {
    waiting.delete(queued);
    this.#leasts = undefined;
    this.size--;
    if (waiting.size === 0) this.classes.delete(waiting.id);
    if (this.considered === queued) this.considered = undefined;
  }

  /** Negative if `a` goes first. */
  compare(a: QueuedWorkload, b: QueuedWorkload): number {
    return this.usageBefore(a) - this.usageBefore(b) || compareQueued(a, b);
  }

  /** The usage of the Workload's LocalQueue; 0 if it does not order this ClusterQueue. */
  usageBefore(queued: QueuedWorkload): number {
    return this.#laneUsage(this.#laneOf(queued));
  }

  sharesByUsage(queued: QueuedWorkload): boolean {
    return this.#laneOf(queued) !== '';
  }

  /** The usage of one LocalQueue, or of all if undefined, has changed. */
  usageChanged(localQueue: string | undefined): void {
    if (localQueue === undefined) this.#usage.clear();
    else this.#usage.delete(localQueue);
  }

  /** The first Workload that may fit under the current setup. */
  first(): QueuedWorkload | undefined {
    let first: QueuedWorkload | undefined;
    for (const each of this.classes.values()) {
      const candidate = each.first();
      if (candidate !== undefined && (first === undefined || this.compare(candidate, first) < 0)) first = candidate;
    }
    return first;
  }

  /** The first Workload that nothing known blocks. `first`: {@link first}. `preemptor`: the Workload that waits for its victims, if any. */
  firstWithin(bounds: CapacityBounds, first: QueuedWorkload, preemptor: QueuedWorkload | undefined): Candidate {
    let waitsForRoom = false;
    let candidate: QueuedWorkload | undefined;
    for (const each of this.classes.values()) {
      waitsForRoom ||= each.waitsForRoom;
      const found = each.firstWithin((resources, amounts, from) => {
        const obstacle = bounds.blockedBy(this.name, resources, amounts, from);
        waitsForRoom ||= obstacle === 'cluster';
        return obstacle !== undefined;
      });
      if (found === undefined || (this.strict && found !== first)) continue;
      // A preemptor that waits for its victims blocks later Workloads of its queue.
      if (preemptor !== undefined && this.compare(preemptor, found) < 0) continue;
      if (candidate === undefined || this.compare(found, candidate) < 0) candidate = found;
    }
    return candidate === undefined ? { waitsForRoom } : { candidate, waitsForRoom };
  }

  /** The first Workloads in order, `most` at most, whether they may be nominated or not. */
  firstInOrder(most: number): QueuedWorkload[] {
    const next = [...this.classes.values()]
      .map((each) => each.inOrder()[Symbol.iterator]())
      .map((rest) => ({ rest, head: rest.next().value }));
    const first: QueuedWorkload[] = [];
    while (first.length < most) {
      let earliest: (typeof next)[number] | undefined;
      for (const each of next) {
        if (each.head === undefined) continue;
        if (earliest?.head === undefined || this.compare(each.head, earliest.head) < 0) earliest = each;
      }
      if (earliest?.head === undefined) break;
      first.push(earliest.head);
      earliest.head = earliest.rest.next().value;
    }
    return first;
  }

  /** How many Workloads go before this one. */
  before({ queued, class: { lane } }: Pending): number {
    const usage = this.#laneUsage(lane);
    let before = 0;
    for (const each of this.classes.values()) {
      const theirs = this.#laneUsage(each.lane);
      if (theirs < usage) before += each.size;
      else if (theirs === usage) before += each.before(queued);
    }
    return before;
  }

  forgive(hasEnded: (inadmissibility: Inadmissibility) => boolean): void {
    for (const each of this.classes.values()) each.forgive(hasEnded);
  }

  /** What blocks all Workloads of the queue; undefined if some may fit. */
  leastObstacle(bounds: CapacityBounds): 'quota' | 'cluster' | undefined {
    let found: 'quota' | 'cluster' = 'quota';
    for (const { least, resources, earliest } of this.#leastOfClasses()) {
      const obstacle = bounds.blockedBy(this.name, resources, least, earliest);
      if (obstacle === undefined) return undefined;
      if (obstacle === 'cluster') found = obstacle;
    }
    return found;
  }

  /** A lower bound of the height in the cohort tree up to which any Workload of the queue borrows. */
  leastReach(bounds: CapacityBounds): number {
    return this.#leastOfClasses().reduce(
      (lowest, { least, resources }) => Math.min(lowest, bounds.leastReach(this.name, resources, least)),
      Number.POSITIVE_INFINITY,
    );
  }

  /** The reason for Workloads behind a blocked first Workload. It names no Workload, so that it stays true while the queue moves. */
  behind({ waitsFor, reason }: Inadmissibility): Inadmissibility {
    const why =
      reason === QuotaReservedReason.Preempting ? 'waits until those that it preempts have stopped' : 'does not fit yet (StrictFIFO)';
    return { reason: QuotaReservedReason.BehindEarlierJob, message: `an earlier Job of cluster queue ${this.name} ${why}`, waitsFor };
  }

  #leastOfClasses(): readonly LeastOfClass[] {
    this.#leasts ??= [...this.classes.values()].map(({ least, resources, earliest }) => ({ least, resources, earliest }));
    return this.#leasts;
  }

  #laneOf({ workload: { namespace, queue } }: QueuedWorkload): string {
    const localQueue = `${namespace}/${queue ?? ''}`;
    // Cached usage answers for every comparison, so `#usageOf` is called once.
    if (this.#usage.has(localQueue)) return localQueue;
    return this.#usageOf(localQueue) === undefined ? '' : localQueue;
  }

  /** The usage as of the last {@link usageChanged}: the order must not change otherwise. */
  #laneUsage(lane: string): number {
    if (lane === '') return 0;
    const known = this.#usage.get(lane) ?? this.#usageOf(lane) ?? 0;
    this.#usage.set(lane, known);
    return known;
  }
}
