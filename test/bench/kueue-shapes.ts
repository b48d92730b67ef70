/**
 * The loads of Kueue's scheduler performance test (test/performance/scheduler/configs), with and without its preemption policies, on one
 * cluster with ample room.
 */
import { cpuUsage } from 'node:process';
import { IndexedHeap } from '../../shared/kube/indexed-heap.ts';
import { cpuCluster, cpuQueue, createAdmissionCore } from './admission-core.ts';

type JobClass = {
  readonly count: number;
  readonly everyMs: number;
  readonly runtimeMs: number;
  readonly priority: number;
  readonly cpu: number;
};
export type Shape = {
  readonly cohorts: number;
  readonly queues: number;
  readonly nominal: number;
  readonly borrowing: number;
  readonly classes: readonly JobClass[];
};

export const KUEUE_SHAPES: Readonly<Record<string, Shape>> = {
  baseline: {
    cohorts: 5,
    queues: 6,
    nominal: 20,
    borrowing: 100,
    classes: [
      { count: 350, everyMs: 100, runtimeMs: 200, priority: 50, cpu: 1 },
      { count: 100, everyMs: 500, runtimeMs: 500, priority: 100, cpu: 5 },
      { count: 50, everyMs: 1200, runtimeMs: 1000, priority: 200, cpu: 20 },
    ],
  },
  'large-scale': {
    cohorts: 10,
    queues: 100,
    nominal: 20,
    borrowing: 100,
    classes: [
      { count: 35, everyMs: 60, runtimeMs: 150, priority: 50, cpu: 1 },
      { count: 11, everyMs: 300, runtimeMs: 350, priority: 100, cpu: 5 },
      { count: 4, everyMs: 700, runtimeMs: 700, priority: 200, cpu: 20 },
    ],
  },
};

export type ShapeResult = {
  readonly jobs: number;
  readonly seconds: number;
  /** No order could be faster: all quota in use from the beginning on, or the last one in time. */
  readonly floorSeconds: number;
  /**
   * How many had to give their place up, and how long all quota together would take for what they had done until then: they do it once
   * more.
   */
  readonly preemptions: number;
  readonly lostSeconds: number;
  readonly cpuSeconds: number;
  readonly cycles: number;
};

type Event = { readonly id: string; readonly atMs: number; readonly happen: () => void };

/** The policies of all its queues. */
const PREEMPTION = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;

/** Plays a shape in virtual time, in which neither deciding nor stopping takes any. */
export function playShape({ cohorts, queues, nominal, borrowing, classes }: Shape, preempts: boolean): ShapeResult {
  const clusterQueues = Array.from({ length: cohorts * queues }, (_, index) =>
    cpuQueue(`queue-${index}`, nominal, borrowing, {
      cohortName: `cohort-${index % cohorts}`,
      ...(preempts ? { preemption: PREEMPTION } : {}),
    }),
  );
  const started = new Map<string, number>();
  let preemptions = 0;
  let lostMs = 0;
  const preempted = (key: string): void => {
    preemptions++;
    lostMs += (nowMs - (started.get(key) ?? nowMs)) * (cpus.get(key) ?? 0);
    events.delete(`end of ${key}`);
  };
  const core = createAdmissionCore(clusterQueues, [cpuCluster('cluster', 1_000_000)], { preempted });
  const events = new IndexedHeap<Event>(
    ({ id }) => id,
    (a, b) => a.atMs - b.atMs,
  );
  const runtimes = new Map<string, number>();
  const cpus = new Map<string, number>();
  for (const queue of clusterQueues) {
    for (const [kind, { count, everyMs, runtimeMs, priority, cpu }] of classes.entries()) {
      for (let index = 0; index < count; index++) {
        const job = `${queue.metadata.name}-${kind}-${index}`;
        const atMs = index * everyMs;
        runtimes.set(`team/${job}`, runtimeMs);
        cpus.set(`team/${job}`, cpu);
        events.set({ id: job, atMs, happen: () => core.arrive(queue.metadata.name, job, `${cpu}`, priority, atMs) });
      }
    }
  }
  const jobs = runtimes.size;
  const startedAt = cpuUsage();
  let nowMs = 0;
  let cycles = 0;
  for (let event = events.peek(); event !== undefined; event = events.peek()) {
    nowMs = event.atMs;
    // All that happens at one time is decided on together.
    for (let next = events.peek(); next !== undefined && next.atMs === nowMs; next = events.peek()) {
      events.delete(next.id);
      next.happen();
    }
    const admitted = (key: string): void => {
      started.set(key, nowMs);
      events.set({ id: `end of ${key}`, atMs: nowMs + (runtimes.get(key) ?? 0), happen: () => core.release(key) });
    };
    do cycles++;
    while (core.cycle(nowMs, admitted) !== undefined);
  }
  const { user, system } = cpuUsage(startedAt);
  const workMs = classes.reduce((sum, { count, cpu, runtimeMs }) => sum + count * cpu * runtimeMs, 0);
  const lastMs = Math.max(...classes.map(({ count, everyMs, runtimeMs }) => (count - 1) * everyMs + runtimeMs));
  return {
    jobs,
    seconds: nowMs / 1000,
    floorSeconds: Math.max(workMs / nominal, lastMs) / 1000,
    preemptions,
    lostSeconds: lostMs / (nominal * clusterQueues.length) / 1000,
    cpuSeconds: (user + system) / 1e6,
    cycles,
  };
}
