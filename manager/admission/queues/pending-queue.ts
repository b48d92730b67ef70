import type { Inadmissibility } from '../scheduling/decision.ts';
import { compareQueued, type Nominated, type QueuedWorkload } from '../workload/ordering.ts';
import type { CapacityBounds } from '../scheduling/capacity-bounds.ts';
import { classOf, PendingClass } from './pending-class.ts';

/** A Workload that waits, and its class. */
export type Pending = { readonly queue: PendingQueue; readonly class: PendingClass; readonly queued: QueuedWorkload };

/**
 * What waits in one ClusterQueue, by class. Its order is by priority and age; where its LocalQueues share it by what they have used, those of the one that has
 * used least go first.
 */
export class PendingQueue {
  readonly name: string;
  strict = false;
  size = 0;
  readonly classes = new Map<string, PendingClass>();
  /** Where it stands among those to be tried, as far as is known: never later than where it belongs. */
  rank: Nominated | undefined;
  /** The first in order for which it was found out whether something is to be kept. */
  considered: QueuedWorkload | undefined;
  /** The root of its tree, while nothing of it is to be tried. */
  parked: string | undefined;
  /** How much had become free where it last looked. */
  seen: { readonly root: string; readonly quota: number; readonly room: number } | undefined;
  readonly #usageOf: (localQueue: string) => number | undefined;
  readonly #usage = new Map<string, number>();

  /** `usageOf`: what a LocalQueue has used; undefined where that does not count. */
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
    this.size++;
    return { queue: this, class: waiting, queued };
  }

  delete({ class: waiting, queued }: Pending): void {
    waiting.delete(queued);
    this.size--;
    if (waiting.size === 0) this.classes.delete(waiting.id);
    if (this.considered === queued) this.considered = undefined;
  }

  /** Negative when `a` goes first. */
  compare(a: QueuedWorkload, b: QueuedWorkload): number {
    return this.usageBefore(a) - this.usageBefore(b) || compareQueued(a, b);
  }

  /** What its LocalQueue counts for; 0 where that does not order this ClusterQueue. */
  usageBefore(queued: QueuedWorkload): number {
    return this.#laneUsage(this.#laneOf(queued));
  }

  sharesByUsage(queued: QueuedWorkload): boolean {
    return this.#laneOf(queued) !== '';
  }

  /** A LocalQueue, or each of them, has used something else now. */
  usageChanged(localQueue: string | undefined): void {
    if (localQueue === undefined) this.#usage.clear();
    else this.#usage.delete(localQueue);
  }

  /** The first that is not out of the question. */
  first(): QueuedWorkload | undefined {
    let first: QueuedWorkload | undefined;
    for (const each of this.classes.values()) {
      const candidate = each.first();
      if (candidate !== undefined && (first === undefined || this.compare(candidate, first) < 0)) first = candidate;
    }
    return first;
  }

  /** The first so many, whether they may be tried or not. */
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

  /** How many go before this one. */
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

  /** What stands in the way of all of them; undefined: some may fit. */
  leastObstacle(bounds: CapacityBounds): 'quota' | 'cluster' | undefined {
    let found: 'quota' | 'cluster' = 'quota';
    for (const { least, resources, earliest } of this.classes.values()) {
      const obstacle = bounds.blockedBy(this.name, resources, least, earliest);
      if (obstacle === undefined) return undefined;
      if (obstacle === 'cluster') found = obstacle;
    }
    return found;
  }

  #laneOf({ workload: { namespace, queue } }: QueuedWorkload): string {
    const localQueue = `${namespace}/${queue ?? ''}`;
    // What is asked for by every comparison is not computed by each.
    if (this.#usage.has(localQueue)) return localQueue;
    return this.#usageOf(localQueue) === undefined ? '' : localQueue;
  }

  /** As it was when it was last said to have changed: an order may not change by itself. */
  #laneUsage(lane: string): number {
    if (lane === '') return 0;
    const known = this.#usage.get(lane) ?? this.#usageOf(lane) ?? 0;
    this.#usage.set(lane, known);
    return known;
  }
}
