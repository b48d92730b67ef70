import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import type { EventHandler } from '../../../shared/kube/informer.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock, type Timer } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { createWakeUp } from '../../../shared/runtime/wake-up.ts';
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
  const { kind, jobs, readRecord, clock, log, metrics } = deps;
  const { cache, queues, priorityClasses, usageOf } = deps.admission;
  const runTimes = deps.runTimes ?? createRunTimes();
  const open = new Map<string, Open>();
  /** UIDs of pending Jobs that were estimated already. */
  const asked = new Set<string>();
  const candidates = createWakeUp(clock);
  let candidate: { readonly key: string; readonly uid: string; readonly rank: number } | undefined;
  let isRunning = false;
  let timer: Timer | undefined;

  const count = (key: string, outcome: EstimateOutcome): void => {
    open.delete(key);
    metrics.startEstimates.inc({ outcome });
  };
  /** Counts an estimate once its outcome is known. */
  const judge = (key: string): void => {
    const entry = open.get(key);
    if (entry?.interval === undefined) return;
    const outcome = entry.gone === true ? EstimateOutcome.Withdrawn : outcomeOf(entry.interval, entry.admittedMs, clock.now());
    if (outcome !== undefined) count(key, outcome);
  };
  const judgeLate = (): void => {
    for (const key of open.keys()) judge(key);
    plan();
  };
  const plan = (): void => {
    timer?.cancel();
    const nextMs = Math.min(...[...open.values()].map(({ interval }) => interval?.latestMs ?? Number.POSITIVE_INFINITY));
    timer = isRunning && Number.isFinite(nextMs) ? clock.schedule(judgeLate, Math.max(1_000, nextMs + 1_000 - clock.now())) : undefined;
  };

  const observe = (metadata: DeepReadonly<WorkObject>['metadata']): void => {
    const { uid, namespace, name } = metadata;
    const key = `${namespace}/${name}`;
    const entry = open.get(key);
    if (entry !== undefined && entry.uid === uid) return follow(key, entry);
    if (!queues.has(key)) return void asked.delete(uid);
    if (!isRunning || asked.has(uid)) return;
    // A hash of the UID: stable for a Job, and not for users to choose.
    const rank = textHash(uid);
    if (candidate !== undefined && candidate.rank <= rank) return;
    candidate = { key, uid, rank };
    candidates.wake();
  };
  const follow = (key: string, entry: Open): void => {
    const reservation = cache.get(key);
    if (reservation !== undefined && !reservation.assumed) entry.admittedMs ??= Date.parse(reservation.record.since);
    else if (reservation === undefined && !queues.has(key)) entry.gone = true;
    judge(key);
  };
  const learn = (job: DeepReadonly<WorkObject>): void => {
    const parsed = readRecord(job);
    const run = runOf(kind, job, parsed.kind === 'Record' ? parsed.record : undefined);
    if (run !== undefined) runTimes.observe(run);
  };

  const questionOf = (key: string): StartQuestion | undefined => {
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
      nowMs: clock.now(),
    };
  };

  /** Runs an estimate in slices with long pauses; undefined if it is stopped. */
  const estimated = async (question: StartQuestion, signal: AbortSignal): Promise<StartEstimate | undefined> => {
    const factsOf = (key: string) => {
      const job = jobs.get(parseKey(key));
      return job && runFactsOf(kind, job);
    };
    const work = estimating(question, { runTimes, factsOf });
    while (!signal.aborted) {
      const startedMs = clock.monotonic();
      const step = work.next();
      if (step.done === true) return step.value;
      await sleep(clock, (clock.monotonic() - startedMs) * IDLE_SHARE, signal);
    }
    return undefined;
  };

  const estimate = async (key: string, uid: string, signal: AbortSignal): Promise<void> => {
    const question = questionOf(key);
    if (question === undefined || open.size >= OPEN_MAX) return;
    const entry: Open = { uid };
    open.set(key, entry);
    asked.add(uid);
    const answer = await estimated(question, signal).catch((error: unknown) => {
      // A failed estimate must not affect admission.
      log.error('an estimate of a start broke', { job: key, error });
      open.delete(key);
    });
    if (answer === undefined || open.get(key) !== entry) return;
    if (answer.kind === 'Unknown') return count(key, EstimateOutcome.Unknown);
    const { earliest, latest } = answer;
    entry.interval = { earliestMs: Date.parse(earliest), latestMs: latest === undefined ? Number.POSITIVE_INFINITY : Date.parse(latest) };
    log.debug('a start was estimated', { job: key, ...answer });
    judge(key);
    plan();
  };

  return {
    added: (job) => {
      if (isFinished(job.status)) learn(job);
      observe(job.metadata);
    },
    updated: (next, previous) => {
      if (isFinished(next.status) && !isFinished(previous.status)) learn(next);
      observe(next.metadata);
    },
    deleted: (job) => {
      const key = keyOfObject(job);
      asked.delete(job.metadata.uid);
      const entry = open.get(key);
      if (entry === undefined || entry.uid !== job.metadata.uid) return;
      entry.gone = true;
      judge(key);
    },
    run: async (signal) => {
      isRunning = true;
      await candidates.run(async () => {
        if (candidate === undefined) return;
        await sleep(clock, WAITS_FOR_MS, signal);
        const { key, uid } = candidate;
        candidate = undefined;
        if (!signal.aborted && queues.has(key)) await estimate(key, uid, signal);
      }, signal);
      isRunning = false;
      open.clear();
      asked.clear();
      timer?.cancel();
    },
  };
}
