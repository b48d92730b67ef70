import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { WorkqueueMetrics } from './workqueue.ts';

/** client-go's buckets of both durations: 10 ns to 1000 s, in seconds. */
const DURATION_BUCKETS = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`)).filter((seconds) => seconds <= 1000);

/** Makes the view that each queue has of the metrics of work queues. */
export interface WorkqueueMeters {
  /** `cluster`: for which cluster it works, where there are several; absent: for the program's own. */
  of(queueName: string, cluster?: string): WorkqueueMetrics;
  /** The queues of this cluster work no more: their series go. */
  forget(cluster: string): void;
}

/**
 * client-go's metrics of work queues, labelled by queue name: `workqueue_depth`, `workqueue_adds_total`,
 * `workqueue_queue_duration_seconds`, `workqueue_work_duration_seconds`, `workqueue_retries_total`,
 * `workqueue_unfinished_work_seconds`, `workqueue_longest_running_processor_seconds`.
 * With `home`, what the program's own cluster is called, they have a label `cluster`, too. Build once per registry, then ask for each
 * queue's view.
 */
export function createWorkqueueMetrics(registry: Registry, clock: Pick<Clock, 'now'>, home?: string): WorkqueueMeters {
  const labelNames = home === undefined ? ['name'] : ['name', 'cluster'];
  const common = { labelNames, registers: [registry] };
  const running = new Map<string, Queue>();
  // What is counted for each key is kept beside and told at the scrape: queues have many keys.
  const depth = new Gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue',
    ...common,
    collect() {
      for (const { labels, waiting } of running.values()) this.set(labels, waiting);
    },
  });
  const counter = (name: string, help: string, untold: (queue: Queue) => number): Counter =>
    new Counter({
      name,
      help,
      ...common,
      collect() {
        for (const queue of running.values()) this.inc(queue.labels, untold(queue));
      },
    });
  const adds = counter('workqueue_adds_total', 'Total number of adds handled by workqueue', (queue) => take(queue, 'adds'));
  const retries = counter('workqueue_retries_total', 'Total number of retries handled by workqueue', (queue) => take(queue, 'retries'));
  const queueDuration = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested.',
    buckets: DURATION_BUCKETS,
    ...common,
  });
  const workDuration = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    buckets: DURATION_BUCKETS,
    ...common,
  });
  const atScrape = (name: string, help: string, valueMs: (processing: Processing) => number): Gauge =>
    new Gauge({
      name,
      help,
      ...common,
      collect() {
        for (const { labels, processing } of running.values()) this.set(labels, valueMs(processing) / 1000);
      },
    });
  const all = [
    depth,
    adds,
    queueDuration,
    workDuration,
    retries,
    atScrape(
      'workqueue_unfinished_work_seconds',
      "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads.",
      (processing) => processing.totalMs(clock.now()),
    ),
    atScrape(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
      (processing) => processing.longestMs(clock.now()),
    ),
  ];

  return {
    of(name, cluster) {
      const labels = home === undefined ? { name } : { name, cluster: cluster ?? home };
      const key = JSON.stringify([name, cluster]);
      const processing = new Processing();
      // One that works no more, such as that of a connection before, may have something left to tell.
      const { adds: addsBefore = 0, retries: retriesBefore = 0 } = running.get(key) ?? {};
      const queue: Queue = { cluster, labels, processing, waiting: 0, adds: addsBefore, retries: retriesBefore };
      running.set(key, queue);
      return {
        added(newDepth) {
          queue.adds++;
          queue.waiting = newDepth;
        },
        got(newDepth, queuedMs, startedAtMs) {
          queue.waiting = newDepth;
          queueDuration.observe(labels, queuedMs / 1000);
          processing.start(startedAtMs);
        },
        done(workMs, startedAtMs) {
          workDuration.observe(labels, workMs / 1000);
          processing.end(startedAtMs);
        },
        retried: () => void queue.retries++,
      };
    },
    forget(cluster) {
      for (const [key, queue] of running) {
        if (queue.cluster !== cluster) continue;
        running.delete(key);
        for (const metric of all) metric.remove(queue.labels);
      }
    },
  };
}

type Queue = {
  readonly cluster: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly processing: Processing;
  waiting: number;
  /** Since they were told. */
  adds: number;
  retries: number;
};

function take(queue: Queue, what: 'adds' | 'retries'): number {
  const count = queue[what];
  queue[what] = 0;
  return count;
}

/** The instants at which the keys now in hand were taken. */
class Processing {
  readonly #starts = new Map<number, number>();

  start(atMs: number): void {
    this.#starts.set(atMs, (this.#starts.get(atMs) ?? 0) + 1);
  }
  end(atMs: number): void {
    const left = (this.#starts.get(atMs) ?? 1) - 1;
    if (left > 0) this.#starts.set(atMs, left);
    else this.#starts.delete(atMs);
  }
  totalMs(nowMs: number): number {
    let total = 0;
    for (const [atMs, count] of this.#starts) total += (nowMs - atMs) * count;
    return total;
  }
  longestMs(nowMs: number): number {
    let longest = 0;
    for (const atMs of this.#starts.keys()) longest = Math.max(longest, nowMs - atMs);
    return longest;
  }
}
