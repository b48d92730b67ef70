import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { WorkqueueMetrics } from './workqueue.ts';

/** client-go's buckets of both durations: 10 ns to 1000 s, in seconds. */
const DURATION_BUCKETS = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`)).filter((seconds) => seconds <= 1000);

/**
 * client-go's metrics of work queues, labelled by queue name: `workqueue_depth`, `workqueue_adds_total`,
 * `workqueue_queue_duration_seconds`, `workqueue_work_duration_seconds`, `workqueue_retries_total`,
 * `workqueue_unfinished_work_seconds`, `workqueue_longest_running_processor_seconds`.
 * Build once per registry, then ask for each queue's view.
 */
export function createWorkqueueMetrics(registry: Registry, clock: Clock): (queueName: string) => WorkqueueMetrics {
  const common = { labelNames: ['name'] as const, registers: [registry] };
  const running = new Map<string, Processing>();
  const depth = new Gauge({ name: 'workqueue_depth', help: 'Current depth of workqueue', ...common });
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Total number of adds handled by workqueue', ...common });
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
  const retries = new Counter({ name: 'workqueue_retries_total', help: 'Total number of retries handled by workqueue', ...common });
  gaugeAtScrape(registry, running, {
    name: 'workqueue_unfinished_work_seconds',
    help: "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads.",
    value: (processing) => processing.totalMs(clock.now()) / 1000,
  });
  gaugeAtScrape(registry, running, {
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How many seconds has the longest running processor for workqueue been running.',
    value: (processing) => processing.longestMs(clock.now()) / 1000,
  });

  return (name) => {
    const processing = new Processing();
    running.set(name, processing);
    depth.set({ name }, 0);
    return {
      added(newDepth) {
        adds.inc({ name });
        depth.set({ name }, newDepth);
      },
      got(newDepth, queuedMs, startedAtMs) {
        depth.set({ name }, newDepth);
        queueDuration.observe({ name }, queuedMs / 1000);
        processing.start(startedAtMs);
      },
      done(workMs, startedAtMs) {
        workDuration.observe({ name }, workMs / 1000);
        processing.end(startedAtMs);
      },
      retried: () => retries.inc({ name }),
    };
  };
}

function gaugeAtScrape(
  registry: Registry,
  running: ReadonlyMap<string, Processing>,
  { name, help, value }: { name: string; help: string; value(processing: Processing): number },
): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: ['name'] as const,
    registers: [registry],
    collect: () => {
      for (const [queue, processing] of running) gauge.set({ name: queue }, value(processing));
    },
  });
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
