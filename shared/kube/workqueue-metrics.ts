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
  return new Meters(registry, clock, home);
}

class Meters implements WorkqueueMeters {
  readonly #home: string | undefined;
  readonly #running = new Map<string, Queue>();
  readonly #metrics: Metrics;

  constructor(registry: Registry, clock: Pick<Clock, 'now'>, home: string | undefined) {
    this.#home = home;
    const labelNames = home === undefined ? ['name'] : ['name', 'cluster'];
    this.#metrics = createMetrics({ labelNames, registers: [registry] }, this.#running, clock);
  }

  of(name: string, cluster?: string): WorkqueueMetrics {
    const { queueDuration, workDuration } = this.#metrics;
    const labels = this.#home === undefined ? { name } : { name, cluster: cluster ?? this.#home };
    const key = JSON.stringify([name, cluster]);
    const processing = new Processing();
    // One that works no more, such as that of a connection before, may have something left to tell.
    const { adds: addsBefore = 0, retries: retriesBefore = 0 } = this.#running.get(key) ?? {};
    const queue: Queue = { cluster, labels, processing, waiting: 0, adds: addsBefore, retries: retriesBefore };
    this.#running.set(key, queue);
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
  }

  forget(cluster: string): void {
    for (const [key, queue] of this.#running) {
      if (queue.cluster !== cluster) continue;
      this.#running.delete(key);
      for (const metric of Object.values(this.#metrics)) metric.remove(queue.labels);
    }
  }
}

type Metrics = ReturnType<typeof createMetrics>;

/** What is counted for each key is kept beside and told at the scrape: queues have many keys. */
function createMetrics(
  common: { readonly labelNames: string[]; readonly registers: Registry[] },
  running: ReadonlyMap<string, Queue>,
  clock: Pick<Clock, 'now'>,
) {
  const gauge = (name: string, help: string, value: (queue: Queue) => number): Gauge =>
    new Gauge({
      name,
      help,
      ...common,
      collect() {
        for (const queue of running.values()) this.set(queue.labels, value(queue));
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
  const histogram = (name: string, help: string): Histogram => new Histogram({ name, help, buckets: DURATION_BUCKETS, ...common });
  return {
    depth: gauge('workqueue_depth', 'Current depth of workqueue', ({ waiting }) => waiting),
    adds: counter('workqueue_adds_total', 'Total number of adds handled by workqueue', (queue) => take(queue, 'adds')),
    retries: counter('workqueue_retries_total', 'Total number of retries handled by workqueue', (queue) => take(queue, 'retries')),
    queueDuration: histogram('workqueue_queue_duration_seconds', 'How long in seconds an item stays in workqueue before being requested.'),
    workDuration: histogram('workqueue_work_duration_seconds', 'How long in seconds processing an item from workqueue takes.'),
    unfinished: gauge(
      'workqueue_unfinished_work_seconds',
      "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads.",
      ({ processing }) => processing.totalMs(clock.now()) / 1000,
    ),
    longest: gauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
      ({ processing }) => processing.longestMs(clock.now()) / 1000,
    ),
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
