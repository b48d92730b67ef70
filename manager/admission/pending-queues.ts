import { IndexedHeap } from '../../shared/kube/indexed-heap.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import { compareQueued, type QueuedWorkload } from './ordering.ts';
import type { Head, WaitsFor } from './schedule.ts';
import type { Hindrance } from './snapshot.ts';

/** Why a Workload that was tried could not be admitted, and what must change before it is tried again. */
export type Verdict = Hindrance & { readonly waitsFor: WaitsFor };

/**
 * What waits for admission. Each ClusterQueue is a heap by priority and age, split by shape: when the first Workload of a shape does not fit,
 * none of that shape does, so all of them are parked together and cost nothing until a change wakes them. A StrictFIFO queue
 * is blocked as a whole by its first Workload. Memory only: everything here is derived from Jobs.
 */
export interface PendingQueues {
  /** Adds a Workload, or replaces its earlier version. Into a parked shape it goes parked. */
  add(clusterQueue: string, strict: boolean, queued: QueuedWorkload): void;
  /** Takes a Workload out, if it is there. */
  delete(key: string): void;
  has(key: string): boolean;
  /** The first Workload of each ClusterQueue that has one to try. It stays where it is. */
  heads(): Head[];
  /** Parks everything of the head's shape, or blocks its StrictFIFO queue. Costs the same however many wait. */
  park(head: Head, verdict: Verdict): void;
  /** Why a Workload that waits here was not admitted when it, or one like it, was last tried; undefined before the first try. */
  verdictOf(key: string): Verdict | undefined;
  /** Makes all parked Workloads of these ClusterQueues active again. */
  wake(clusterQueues: Iterable<string>): void;
  /** Makes all Workloads active again that had quota and found no cluster. */
  wakeWaitingForCluster(): void;
  /** Every ClusterQueue that has held a Workload, with how many will be tried and how many are parked. */
  counts(): ReadonlyMap<string, { readonly active: number; readonly inadmissible: number }>;
  /** How many Workloads of the same ClusterQueue go before this one; undefined when it does not wait here. */
  position(key: string): number | undefined;
}

type Shape = {
  readonly shape: string;
  readonly waiting: IndexedHeap<QueuedWorkload>;
  /** Not to be tried until a change wakes it. */
  parked: boolean;
  /** Of the last try; it outlives the wake, until the next try says something else. */
  verdict: Verdict | undefined;
};
type Queue = {
  readonly name: string;
  strict: boolean;
  readonly shapes: Map<string, Shape>;
  /** Shapes to be tried, by their first Workload. */
  readonly active: IndexedHeap<Shape>;
  /** A StrictFIFO queue waits behind its first Workload. */
  blocked: { readonly key: string; readonly verdict: Verdict } | undefined;
};
type Entry = { readonly queue: Queue; readonly shape: Shape; readonly queued: QueuedWorkload };

export function createPendingQueues(): PendingQueues {
  const queues = new Map<string, Queue>();
  const entries = new Map<string, Entry>();

  const queueNamed = (name: string): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = {
      name,
      strict: false,
      shapes: new Map(),
      active: new IndexedHeap((each) => each.shape, compareShapes),
      blocked: undefined,
    };
    queues.set(name, queue);
    return queue;
  };

  const take = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    const { queue, shape } = entry;
    if (firstOf(queue)?.workload.key === key) queue.blocked = undefined;
    shape.waiting.delete(key);
    if (shape.waiting.size === 0) {
      queue.shapes.delete(shape.shape);
      queue.active.delete(shape.shape);
    } else if (!shape.parked) queue.active.set(shape);
  };

  const unpark = (queue: Queue, isConcerned: (verdict: Verdict) => boolean): void => {
    if (queue.blocked !== undefined && isConcerned(queue.blocked.verdict)) queue.blocked = undefined;
    for (const shape of queue.shapes.values()) {
      if (!shape.parked || shape.verdict === undefined || !isConcerned(shape.verdict)) continue;
      shape.parked = false;
      queue.active.set(shape);
    }
  };

  return {
    add: (clusterQueue, strict, queued) => {
      const { workload } = queued;
      take(workload.key);
      const queue = queueNamed(clusterQueue);
      if (queue.strict !== strict) {
        queue.strict = strict;
        unpark(queue, () => true);
      }
      const shape = queue.shapes.get(workload.shape) ?? newShape(workload.shape);
      queue.shapes.set(shape.shape, shape);
      shape.waiting.set(queued);
      entries.set(workload.key, { queue, shape, queued });
      if (shape.parked) return;
      queue.active.set(shape);
      // Whoever arrives behind a blocked first Workload changes nothing; whoever arrives before it is to be tried.
      if (queue.blocked !== undefined && firstOf(queue)?.workload.key === workload.key) queue.blocked = undefined;
    },
    delete: take,
    has: (key) => entries.has(key),
    heads: () => {
      const heads: Head[] = [];
      for (const queue of queues.values()) {
        const first = queue.blocked === undefined ? firstOf(queue) : undefined;
        if (first !== undefined) heads.push({ clusterQueue: queue.name, queued: first });
      }
      return heads;
    },
    park: ({ queued }, verdict) => {
      const entry = entries.get(queued.workload.key);
      if (entry === undefined) return;
      const { queue, shape } = entry;
      shape.verdict = verdict;
      if (queue.strict) {
        queue.blocked = { key: queued.workload.key, verdict };
        return;
      }
      shape.parked = true;
      queue.active.delete(shape.shape);
    },
    verdictOf: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const { queue, shape } = entry;
      if (queue.blocked === undefined || queue.blocked.key === key) return shape.verdict;
      return behind(queue, queue.blocked.verdict);
    },
    wake: (clusterQueues) => {
      for (const name of clusterQueues) {
        const queue = queues.get(name);
        if (queue !== undefined) unpark(queue, () => true);
      }
    },
    wakeWaitingForCluster: () => {
      for (const queue of queues.values()) unpark(queue, ({ waitsFor }) => waitsFor === 'cluster');
    },
    counts: () => new Map([...queues.values()].map((queue) => [queue.name, countOf(queue)])),
    position: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      let before = 0;
      for (const shape of entry.queue.shapes.values()) {
        for (const other of shape.waiting.values()) if (compareQueued(other, entry.queued) < 0) before++;
      }
      return before;
    },
  };
}

const newShape = (shape: string): Shape => ({
  shape,
  waiting: new IndexedHeap((queued) => queued.workload.key, compareQueued),
  parked: false,
  verdict: undefined,
});

/** What is told to those behind a blocked first Workload. It names nobody, so that it stays true while the queue moves. */
const behind = (queue: Queue, { waitsFor }: Verdict): Verdict => ({
  reason: QuotaReservedReason.BehindEarlierJob,
  message: `an earlier Job of cluster queue ${queue.name} does not fit yet (StrictFIFO)`,
  waitsFor,
});

const firstOf = (queue: Queue): QueuedWorkload | undefined => queue.active.peek()?.waiting.peek();

function compareShapes(a: Shape, b: Shape): number {
  const first = a.waiting.peek();
  const second = b.waiting.peek();
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
  return compareQueued(first, second);
}

function countOf(queue: Queue): { active: number; inadmissible: number } {
  let active = 0;
  let inadmissible = 0;
  for (const shape of queue.shapes.values()) {
    if (!shape.parked && queue.blocked === undefined) active += shape.waiting.size;
    else inadmissible += shape.waiting.size;
  }
  return { active, inadmissible };
}
