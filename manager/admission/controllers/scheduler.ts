import { sleep, type Clock, type Timer } from '../../../shared/runtime/clock.ts';
import { createTimeSlices } from '../../../shared/runtime/time-slices.ts';
import { createWakeUp, type WakeUp } from '../../../shared/runtime/wake-up.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import type { AdmissionWriter } from './admission-writer.ts';
import type { EvictionController } from './eviction-controller.ts';
import type { DecisionRecorder } from '../decision-log/decision-recorder.ts';
import type { PendingQueues } from '../queues/pending-queues.ts';
import type { Admit, Head } from '../scheduling/decision.ts';
import { nextMost, runCycle, type CycleResult } from '../queues/scheduling-cycle.ts';

export type SchedulerDeps = {
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly writer: AdmissionWriter;
  readonly evictionController: EvictionController;
  /** Brings cache and queues up to date with changed queues and clusters. */
  readonly refresh: () => void;
  /** Continues sliced passes of cache and watcher until `hasEnded`; true while work remains. */
  readonly continueVisits: (hasEnded: () => boolean) => boolean;
  /** A Workload that went in front of a reservation still runs when it was expected to have ended. */
  readonly outlived?: ((key: string) => void) | undefined;
  /** Absent: no decision log is written. */
  readonly recorder?: Pick<DecisionRecorder, 'pass' | 'cycle' | 'looked'> | undefined;
  readonly clock: Clock;
  readonly metrics: AdmissionMetrics;
};

/** Runs scheduling cycles when something has changed, and writes their decisions. */
export interface Scheduler {
  /** Requests a pass. Many calls lead to one pass. */
  wake(): void;
  /** Admits until `signal` aborts, then resolves when no write is in flight. */
  run(signal: AbortSignal): Promise<void>;
}

/** Heads nominated without a pause, after which informers and answers are processed. */
const HEADS_MAX = 2_000;
/** Workloads that went in front and are remembered before those that have ended are forgotten. */
const IN_FRONT_MAX = 1_024;
/** Milliseconds without a pause. */
const SLICE_MS = 10;

export function createScheduler(deps: SchedulerDeps): Scheduler {
  return new AdmissionScheduler(deps);
}

class AdmissionScheduler implements Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #timers = new Set<Timer>();
  readonly #changes: WakeUp;
  /** Workloads that went in front of a reservation, until they have outlived what was expected of them. */
  readonly #wentInFront = new Set<string>();

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#changes = createWakeUp(deps.clock);
  }

  wake(): void {
    this.#changes.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { writer, evictionController, clock } = this.#deps;
    await this.#changes.run(async () => {
      const startedMs = clock.now();
      await this.#pass(signal);
      // A longer pass lets more changes accumulate for the next one: under load half of the time stays for other work.
      await sleep(clock, clock.now() - startedMs, signal);
    }, signal);
    for (const timer of this.#timers) timer.cancel();
    await Promise.all([writer.idle(), evictionController.idle()]);
  }

  /** Runs scheduling cycles until no head is left to nominate. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { writer, evictionController, recorder, clock } = this.#deps;
    const slices = createTimeSlices(clock, SLICE_MS);
    recorder?.pass();
    this.#deps.refresh();
    // The scheduler decides only once all Workloads are in their queues.
    while (!signal.aborted && this.#deps.continueVisits(slices.hasEnded)) {
      await slices.next(signal);
      if (!signal.aborted) this.#deps.refresh();
    }
    if (signal.aborted) return;
    this.#withdraw();
    evictionController.correct(signal);
    writer.retryDue(signal);
    let tried = 0;
    let most = 1;
    while (!signal.aborted && writer.hasRoom()) {
      const startedMs = clock.now();
      const result = this.#cycle(startedMs, most, signal);
      if (result.tried === 0) return recorder?.looked('idle');
      // The next pass suspends the victims.
      if (result.displaces) this.#changes.wake();
      this.#observe(result, startedMs);
      if (!result.progressed) return recorder?.looked('idle');
      most = nextMost(most, result);
      tried += result.tried;
      if (tried < HEADS_MAX && !slices.hasEnded()) continue;
      tried = 0;
      await slices.next(signal);
      // Changes that arrived during the pause may forbid the next decision.
      while (!signal.aborted && this.#deps.continueVisits(slices.hasEnded)) await slices.next(signal);
    }
    recorder?.looked('busy');
  }

  #cycle(nowMs: number, most: number, signal: AbortSignal): CycleResult {
    const { cache, queues, recorder } = this.#deps;
    return runCycle(
      {
        cache,
        queues,
        admit: (decision) => this.#startAdmission(decision, nowMs, signal),
        at: (timeMs, retry) => this.#retryAt(timeMs, retry),
        decided: recorder && ((decisions) => recorder.cycle(nowMs, most, decisions)),
        outlived: (key) => this.#outlived(key),
      },
      nowMs,
      most,
    );
  }

  /** Withdraws planned evictions whose preemptor no longer waits. Other Workloads may have waited for the capacity. */
  #withdraw(): void {
    const { cache, queues } = this.#deps;
    const withdrawn = cache.withdraw(({ key }) => queues.has(key));
    for (const { record } of withdrawn) queues.wake(cache.rootOf(record.clusterQueue));
    if (withdrawn.length > 0) queues.wakeWaitingForCluster();
  }

  #observe({ admitted }: CycleResult, startedMs: number): void {
    const { metrics, clock } = this.#deps;
    const result = admitted > 0 ? 'success' : 'inadmissible';
    metrics.attempts.inc({ result });
    metrics.attemptDuration.observe({ result }, (clock.now() - startedMs) / 1000);
  }

  /** Starts an admission; false if earlier failures postpone it. */
  #startAdmission({ head, record, inFront }: Admit, nowMs: number, signal: AbortSignal): boolean {
    const { cache, queues, writer } = this.#deps;
    const { workload } = head.queued;
    queues.delete(workload.key);
    if (!writer.mayTry(workload.key)) return false;
    this.#observeStart(head, inFront === true, nowMs);
    writer.write(cache.assume(workload, record), signal);
    return true;
  }

  /** Counts Workloads that go in front, and how much later than promised a Workload with a reservation starts. */
  #observeStart({ clusterQueue, queued, claim }: Head, inFront: boolean, nowMs: number): void {
    const { cache, metrics } = this.#deps;
    const wentInFront = this.#wentInFront;
    if (inFront) {
      metrics.backfilled.inc({ cluster_queue: clusterQueue });
      for (const key of wentInFront.size < IN_FRONT_MAX ? [] : wentInFront) if (cache.get(key) === undefined) wentInFront.delete(key);
      wentInFront.add(queued.workload.key);
    }
    const promisedMs = claim?.start?.promisedMs;
    if (promisedMs !== undefined && Number.isFinite(promisedMs))
      metrics.startLateness.observe({ cluster_queue: clusterQueue }, Math.max(0, nowMs - promisedMs) / 1000);
  }

  #outlived(key: string): void {
    if (this.#wentInFront.delete(key)) this.#deps.outlived?.(key);
  }

  /** Retries a class of Workloads at a time in epoch milliseconds. */
  #retryAt(timeMs: number, retry: () => void): void {
    const { clock } = this.#deps;
    const timer = clock.schedule(() => {
      this.#timers.delete(timer);
      retry();
      this.#changes.wake();
    }, timeMs - clock.now());
    this.#timers.add(timer);
  }
}
