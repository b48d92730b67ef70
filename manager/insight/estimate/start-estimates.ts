import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import type { EventHandler } from '../../../shared/kube/informer.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock, type Timer } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { createWakeUp, type WakeUp } from '../../../shared/runtime/wake-up.ts';
import type { RecordReader } from '../../api/records.ts';
import type { StartEstimateMetrics } from './start-estimate-metrics.ts';
import type { AdmissionView } from '../../admission/admission.ts';
import { EstimateOutcome, outcomeOf, type Interval } from './estimate-outcome.ts';
import { estimating, type StartEstimate, type StartQuestion } from './estimate-start.ts';
import { createRunTimes, runFactsOf, runOf, type RunTimes } from './run-times.ts';
import { textHash } from './text-hash.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * How often estimated starts hold. A sample of the pending Jobs is estimated, as `explain` does it, and compared with what happens. State
 * is in memory; estimates that a restart cuts off are not counted. Its handler must be added after those of queues and cache.
 */
export interface StartEstimates extends EventHandler<WorkObject> {
  added(job: DeepReadonly<WorkObject>): void;
  updated(next: DeepReadonly<WorkObject>, previous: DeepReadonly<WorkObject>): void;
  deleted(job: DeepReadonly<WorkObject>): void;
  /** Makes estimates until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export type StartEstimatesDeps = {
  readonly kind: WorkKind;
  readonly jobs: Lister<WorkObject>;
  readonly readRecord: RecordReader;
  /** Absent: its own. */
  readonly runTimes?: RunTimes;
  readonly admission: AdmissionView;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: StartEstimateMetrics;
};

/** Jobs that are admitted within this time are not estimated. */
const WAITS_FOR_MS = 1_000;
/** Idle time as a multiple of working time: estimates use less than a hundredth of a core, whatever they cost. */
const IDLE_SHARE = 120;
/** Open estimates at most. */
const OPEN_MAX = 512;

/** An estimate whose outcome is not known yet. */
type Open = { readonly uid: string; interval?: Interval; admittedMs?: number; gone?: true };

export function createStartEstimates(deps: StartEstimatesDeps): StartEstimates {
  return new SampledStartEstimates(deps);
}

class SampledStartEstimates implements StartEstimates {
  readonly #deps: StartEstimatesDeps;
  readonly #runTimes: RunTimes;
  readonly #open = new Map<string, Open>();
  /** UIDs of pending Jobs that were estimated already. */
  readonly #asked = new Set<string>();
  readonly #candidates: WakeUp;
  #candidate: { readonly key: string; readonly uid: string; readonly rank: number } | undefined;
  #isRunning = false;
  #timer: Timer | undefined;

  constructor(deps: StartEstimatesDeps) {
    this.#deps = deps;
    this.#runTimes = deps.runTimes ?? createRunTimes();
    this.#candidates = createWakeUp(deps.clock);
  }

  added(job: DeepReadonly<WorkObject>): void {
    if (isFinished(job.status)) this.#learn(job);
    this.#observe(job.metadata);
  }

  updated(next: DeepReadonly<WorkObject>, previous: DeepReadonly<WorkObject>): void {
    if (isFinished(next.status) && !isFinished(previous.status)) this.#learn(next);
    this.#observe(next.metadata);
  }

  deleted(job: DeepReadonly<WorkObject>): void {
    const key = keyOfObject(job);
    this.#asked.delete(job.metadata.uid);
    const entry = this.#open.get(key);
    if (entry === undefined || entry.uid !== job.metadata.uid) return;
    entry.gone = true;
    this.#judge(key);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, admission } = this.#deps;
    this.#isRunning = true;
    await this.#candidates.run(async () => {
      if (this.#candidate === undefined) return;
      await sleep(clock, WAITS_FOR_MS, signal);
      const { key, uid } = this.#candidate;
      this.#candidate = undefined;
      if (!signal.aborted && admission.queues.has(key)) await this.#estimate(key, uid, signal);
    }, signal);
    this.#isRunning = false;
    this.#open.clear();
    this.#asked.clear();
    this.#timer?.cancel();
  }

  #learn(job: DeepReadonly<WorkObject>): void {
    const parsed = this.#deps.readRecord(job);
    const run = runOf(this.#deps.kind, job, parsed.kind === 'Record' ? parsed.record : undefined);
    if (run !== undefined) this.#runTimes.observe(run);
  }

  #observe({ uid, namespace, name }: DeepReadonly<WorkObject>['metadata']): void {
    const key = `${namespace}/${name}`;
    const entry = this.#open.get(key);
    if (entry !== undefined && entry.uid === uid) return this.#follow(key, entry);
    if (!this.#deps.admission.queues.has(key)) return void this.#asked.delete(uid);
    if (!this.#isRunning || this.#asked.has(uid)) return;
    // A hash of the UID: stable for a Job, and not for users to choose.
    const rank = textHash(uid);
    if (this.#candidate !== undefined && this.#candidate.rank <= rank) return;
    this.#candidate = { key, uid, rank };
    this.#candidates.wake();
  }

  #follow(key: string, entry: Open): void {
    const { cache, queues } = this.#deps.admission;
    const reservation = cache.get(key);
    if (reservation !== undefined && !reservation.assumed) entry.admittedMs ??= Date.parse(reservation.record.since);
    else if (reservation === undefined && !queues.has(key)) entry.gone = true;
    this.#judge(key);
  }

  /** Counts an estimate once its outcome is known. */
  #judge(key: string): void {
    const entry = this.#open.get(key);
    if (entry?.interval === undefined) return;
    const nowMs = this.#deps.clock.now();
    const outcome = entry.gone === true ? EstimateOutcome.Withdrawn : outcomeOf(entry.interval, entry.admittedMs, nowMs);
    if (outcome !== undefined) this.#count(key, outcome);
  }

  #count(key: string, outcome: EstimateOutcome): void {
    this.#open.delete(key);
    this.#deps.metrics.startEstimates.inc({ outcome });
  }

  #judgeLate(): void {
    for (const key of this.#open.keys()) this.#judge(key);
    this.#plan();
  }

  #plan(): void {
    const { clock } = this.#deps;
    this.#timer?.cancel();
    const nextMs = Math.min(...[...this.#open.values()].map(({ interval }) => interval?.latestMs ?? Number.POSITIVE_INFINITY));
    this.#timer =
      this.#isRunning && Number.isFinite(nextMs)
        ? clock.schedule(() => this.#judgeLate(), Math.max(1_000, nextMs + 1_000 - clock.now()))
        : undefined;
  }

  async #estimate(key: string, uid: string, signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    const question = this.#questionOf(key);
    if (question === undefined || this.#open.size >= OPEN_MAX) return;
    const entry: Open = { uid };
    this.#open.set(key, entry);
    this.#asked.add(uid);
    const answer = await this.#estimated(question, signal).catch((error: unknown) => {
      // A failed estimate must not affect admission.
      log.error('an estimate of a start broke', { job: key, error });
      this.#open.delete(key);
    });
    if (answer === undefined || this.#open.get(key) !== entry) return;
    if (answer.kind === 'Unknown') return this.#count(key, EstimateOutcome.Unknown);
    const { earliest, latest } = answer;
    entry.interval = { earliestMs: Date.parse(earliest), latestMs: latest === undefined ? Number.POSITIVE_INFINITY : Date.parse(latest) };
    log.debug('a start was estimated', { job: key, ...answer });
    this.#judge(key);
    this.#plan();
  }

  #questionOf(key: string): StartQuestion | undefined {
    const { cache, queues, priorityClasses, usageOf } = this.#deps.admission;
    const target = queues.get(key);
    const position = queues.position(key);
    if (target === undefined || position === undefined) return undefined;
    const queueing = cache.queueing();
    return {
      queueing,
      clusters: cache.clusters(),
      priorityClasses: priorityClasses(),
      // An assumed admission counts as written.
      reservations: [...cache.reservations()].map(({ workload, record, assumed }) => ({
        workload: assumed ? { ...workload, phase: 'Admitted' as const } : workload,
        record,
      })),
      usageOf,
      target,
      position,
      waiting: queues.waitingIn().map((clusterQueue) => ({
        clusterQueue,
        strict: queueing.queues.get(clusterQueue)?.strict === true,
        first: (most) => queues.firstInOrder(clusterQueue, most),
      })),
      nowMs: this.#deps.clock.now(),
    };
  }

  /** Runs an estimate in slices with long pauses; undefined if it is stopped. */
  async #estimated(question: StartQuestion, signal: AbortSignal): Promise<StartEstimate | undefined> {
    const { kind, jobs, clock } = this.#deps;
    const factsOf = (key: string) => {
      const job = jobs.get(parseKey(key));
      return job && runFactsOf(kind, job);
    };
    const work = estimating(question, { runTimes: this.#runTimes, factsOf });
    while (!signal.aborted) {
      const startedMs = clock.monotonic();
      const step = work.next();
      if (step.done === true) return step.value;
      await sleep(clock, (clock.monotonic() - startedMs) * IDLE_SHARE, signal);
    }
    return undefined;
  }
}
