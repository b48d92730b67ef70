import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../../shared/api/names.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';
import type { EventHandler } from '../../../shared/kube/informer.ts';
import { keyOfObject } from '../../../shared/kube/keys.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { Preempted } from '../../api/preempted.ts';
import type { RecordReader } from '../../api/records.ts';
import { type ClusterObjects, withLacks } from '../queues/cluster-objects.ts';
import type { CarriedObjects } from '../queues/carried-objects.ts';
import { PendingChanges } from '../queues/pending-changes.ts';
import { createReferenceIndex } from '../queues/reference-index.ts';
import type { PodAdjustments } from '../../api/adjusted-pod.ts';
import { isSameAdmission, type AdmissionCache } from '../cache/admission-cache.ts';
import { awaitsPods, holdsLess, type Reservation } from '../workload/reservation.ts';
import type { AdmissionRetries } from '../snapshot/admission-retries.ts';
import { cannotStartMessage } from '../workload/cannot-start.ts';
import type { DecisionRecorder } from '../decision-log/decision-recorder.ts';
import { createSlicedPass } from '../cache/sliced-pass.ts';
import type { PendingQueues } from '../queues/pending-queues.ts';
import type { PriorityClasses } from '../workload/priority.ts';
import { createQueueCounts, namedQueueOf } from '../cache/queue-counts.ts';
import { putInQueue, queueEntry, whyHeldBack } from '../queues/queue-entry.ts';
import { runSeconds } from '../workload/run-seconds.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import { blockedReason, waitingReason } from '../queues/waiting-reason.ts';
import { createUnaccountedJobs } from '../snapshot/unaccounted-jobs.ts';
import { createUntrustedCount, type UntrustedCount } from './untrusted-count.ts';
import { wordOfName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { workloadOf, type Workload } from '../workload/workload.ts';

/**
 * Brings changes of Jobs into queues and cache. It reads the Job alone, never the event, so that a restart, a relist and a missed event
 * lead to the same state.
 */
export interface JobWatcher extends EventHandler<WorkObject> {
  added(job: DeepReadonly<WorkObject>): void;
  updated(next: DeepReadonly<WorkObject>): void;
  deleted(job: DeepReadonly<WorkObject>): void;
  /**
   * Schedules that the `concerned` pending Workloads are queued again, because queues, the namespaces of clusters, or priorities changed.
   * {@link continueVisits} does it.
   */
  requeue(concerned?: (workload: Workload) => boolean): void;
  /** Schedules, for {@link continueVisits}, another look at the Jobs that `concerned` returns for pending Workloads. */
  adjust(concerned: (key: string) => DeepReadonly<WorkObject> | undefined): void;
  /** Asks anew how long Workloads are expected to run: some queue has come to need it, or none does any more. */
  expectAnew(): void;
  /**
   * Continues the scheduled visits of pending Workloads until `hasEnded`. True while visits remain: the scheduler must not decide until
   * then.
   */
  continueVisits(hasEnded: () => boolean): boolean;
  /**
   * An assumed admission is not written. The Workload waits for this reason until {@link retry}, or until its Job changes while no retry is
   * planned.
   */
  giveUp(reservation: Reservation, inadmissibleReason: InadmissibleReason): void;
  /** An assumed admission may or may not be written: it stays assumed, and waits for this reason. */
  doubt(reservation: Reservation, inadmissibleReason: InadmissibleReason): void;
  retry(key: string): void;
  /** Workloads that must be suspended because they lack a good record, and those whose record must say that they are suspended. */
  toCorrect(): Iterable<Workload>;
  /** Workloads that start on no cluster and do not say so yet. */
  toReport(): Iterable<CannotStart>;
  /** All pending Workloads. */
  pending(): IterableIterator<Workload>;
  isPending(key: string): boolean;
  /** The number of pending Workloads, by LocalQueue as `namespace/name`. */
  pendingOf(): ReadonlyMap<string, number>;
  /** The Workload's place in the order in which unfinished Jobs were first observed. */
  arrivalOf(key: string): number;
  /** Keys of all waiting Jobs, evicted ones that still stop included. Jobs that come or go during iteration may be missing or included. */
  waiting(): Iterable<string>;
  /** The preemption by which a waiting Job was suspended; undefined if there was none. */
  preemptedOf(key: string): Preempted | undefined;
  /** Why a Job waits; undefined if it has not been nominated or does not wait. */
  inadmissibleReasonOf(key: string): InadmissibleReason | undefined;
  /** The reason only, if it is known without a nomination. */
  reasonOf(key: string): string | undefined;
}

export type CannotStart = { readonly workload: Workload; readonly message: string };

type JobWatcherDeps = {
  readonly kind: WorkKind;
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly retries: AdmissionRetries;
  readonly readRecord: RecordReader;
  readonly priorityClasses: () => PriorityClasses;
  /** Absent: pods count as written. */
  readonly adjustments?: PodAdjustments;
  /** The objects that may travel with Jobs; absent: all count as present. */
  readonly carriedObjects?: CarriedObjects | undefined;
  /** Objects that Jobs need and worker clusters have; absent: every cluster has all of them. */
  readonly clusterObjects?: ClusterObjects | undefined;
  /** How long a Workload is expected to hold its quota, in milliseconds; undefined: not known. Absent: nothing is known. */
  readonly expectedMs?: ((workload: Workload) => number | undefined) | undefined;
  /** Absent: no decision log is written. */
  readonly recorder?: Pick<DecisionRecorder, 'seen' | 'ended'> | undefined;
  readonly metrics: AdmissionMetrics;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called when a Workload may be admissible. */
  readonly wakeScheduler: () => void;
};

export function createJobWatcher(deps: JobWatcherDeps): JobWatcher {
  return new Watcher(deps);
}

class Watcher implements JobWatcher {
  readonly #deps: JobWatcherDeps;
  readonly #pending = new Map<string, Workload>();
  readonly #pendingOf = createQueueCounts();
  readonly #referring = createReferenceIndex();
  readonly #visits = createSlicedPass(() => this.#pending.values());
  readonly #changes = new PendingChanges(this.#visits, (workload) => {
    if (this.#waits(workload.key)) this.#enqueue(workload);
  });
  /** Reasons that keep Jobs out of the queues. The queues know the reasons of queued Workloads. */
  readonly #inadmissibleReasons = new Map<string, InadmissibleReason>();
  readonly #toCorrect = new Map<string, Workload>();
  readonly #toReport = new Map<string, CannotStart>();
  readonly #untrusted: UntrustedCount;
  readonly #unaccounted = createUnaccountedJobs();
  /** The order in which unfinished Jobs were first observed: it survives admission, so that an evicted Job keeps its place. */
  readonly #arrivals = new Map<string, number>();
  #arrivalsSeen = 0;
  /** Whether a Workload is pending and not assumed. */
  readonly #waits = (key: string): boolean => this.#deps.cache.get(key) === undefined;

  readonly continueVisits = this.#visits.runUntil;
  readonly pendingOf = this.#pendingOf.all;
  readonly toCorrect = (): Iterable<Workload> => this.#toCorrect.values();
  readonly toReport = (): Iterable<CannotStart> => this.#toReport.values();
  readonly pending = (): IterableIterator<Workload> => this.#pending.values();
  readonly isPending = (key: string): boolean => this.#pending.has(key);
  readonly arrivalOf = (key: string): number => this.#arrivals.get(key) ?? this.#arrivalsSeen;
  readonly preemptedOf = (key: string): Preempted | undefined =>
    (this.#deps.cache.get(key)?.record ?? this.#pending.get(key)?.record)?.preempted;
  readonly inadmissibleReasonOf = (key: string): InadmissibleReason | undefined =>
    this.#inadmissibleReasons.get(key) ?? waitingReason(this.#deps, key, this.#deps.now());
  readonly added = (job: DeepReadonly<WorkObject>): void => this.#observe(job);
  readonly updated = (job: DeepReadonly<WorkObject>): void => this.#observe(job);

  constructor(deps: JobWatcherDeps) {
    this.#deps = deps;
    this.#untrusted = createUntrustedCount(deps.metrics);
    deps.carriedObjects?.onChange((namespace, object) => {
      for (const key of this.#referring.of(namespace, object)) {
        const workload = this.#pending.get(key);
        if (workload !== undefined && this.#waits(key)) this.#enqueue(workload);
      }
    });
    deps.clusterObjects?.serve({
      isNeeded: this.#referring.has,
      changed: (namespace, object) => {
        for (const key of this.#referring.of(namespace, object)) this.#lookAgain(key);
      },
    });
  }

  deleted(job: DeepReadonly<WorkObject>): void {
    const { kind, cache, readRecord, recorder } = this.#deps;
    const key = keyOfObject(job);
    this.#dequeue(key);
    this.#arrivals.delete(key);
    recorder?.ended(key, 'Deleted');
    this.#untrusted.forget(key);
    if (this.#unaccounted.forget(key, job.metadata.namespace)) this.#changes.add('namespaces', job.metadata.namespace);
    this.#release(key);
    const workload = workloadOf(kind, job, readRecord(job));
    if (workload !== undefined && cache.shapes.released(workload)) this.#shapeChanged(workload.shape);
  }

  requeue(concerned: (workload: Workload) => boolean = () => true): void {
    this.#visits.enqueue((workload) => {
      if (this.#waits(workload.key) && concerned(workload)) this.#enqueue(workload);
    });
  }

  adjust(concerned: (key: string) => DeepReadonly<WorkObject> | undefined): void {
    this.#visits.enqueue(({ key }) => {
      const job = concerned(key);
      if (job !== undefined) this.#observe(job);
    });
  }

  expectAnew(): void {
    const { cache } = this.#deps;
    this.#visits.enqueue((workload) => {
      if (this.#waits(workload.key)) this.#enqueue(this.#expect(workload));
    });
    cache.visit(({ workload, record, assumed }) => {
      if (!assumed) cache.admit(this.#expect(workload), record);
    });
  }

  giveUp(reservation: Reservation, inadmissibleReason: InadmissibleReason): void {
    const { cache, recorder } = this.#deps;
    const { key, shape, whole } = reservation.workload;
    if (cache.get(key) !== reservation) return;
    recorder?.ended(key, 'Undone');
    this.#release(key);
    this.#wait(whole ?? reservation.workload);
    if (cache.shapes.released(reservation.workload)) this.#shapeChanged(shape);
    this.#inadmissibleReasons.set(key, inadmissibleReason);
  }

  doubt(reservation: Reservation, inadmissibleReason: InadmissibleReason): void {
    const { key } = reservation.workload;
    if (this.#deps.cache.get(key) === reservation) this.#inadmissibleReasons.set(key, inadmissibleReason);
  }

  retry(key: string): void {
    const workload = this.#pending.get(key);
    if (workload === undefined || !this.#waits(key) || this.#deps.queues.has(key)) return;
    this.#deps.recorder?.seen(workload, this.arrivalOf(key));
    this.#enqueue(workload);
  }

  *waiting(): Iterable<string> {
    yield* this.#pending.keys();
    for (const key of this.#inadmissibleReasons.keys()) if (!this.#pending.has(key)) yield key;
  }

  reasonOf(key: string): string | undefined {
    const { cache, queues } = this.#deps;
    const reason = this.#inadmissibleReasons.get(key)?.reason;
    if (reason !== undefined) return reason;
    const known = queues.inadmissibilityOf(key);
    return (known?.waitsFor === 'setup' ? undefined : blockedReason(cache, queues.get(key)?.clusterQueue)?.reason) ?? known?.reason;
  }

  #observe(job: DeepReadonly<WorkObject>): void {
    const { kind, cache, readRecord, adjustments, clusterObjects, now } = this.#deps;
    const observed = workloadOf(kind, job, readRecord(job), adjustments);
    if (observed === undefined) return;
    const expected = this.#expect(observed);
    const workload = observed.phase === 'Pending' ? withLacks(expected, clusterObjects?.find) : expected;
    this.#take(workload, job);
    if (this.#unaccounted.observe(workload)) this.#changes.add('namespaces', workload.namespace);
    // While an admission is being written, the decided record counts, not the one on the Job.
    if (cache.get(workload.key)?.assumed !== true && cache.shapes.observe(workload, now())) this.#shapeChanged(workload.shape);
  }

  /** A Workload keeps what was expected of it when it was admitted. */
  #expect(workload: Workload): Workload {
    const { cache, expectedMs: ask } = this.#deps;
    if (ask === undefined || !cache.queueing().backfills) return workload;
    const before = cache.get(workload.key);
    const isSame = before !== undefined && before.record.since === workload.record?.since;
    const expectedMs = (isSame ? before.workload.expectedMs : undefined) ?? ask(workload);
    return expectedMs === undefined ? workload : { ...workload, expectedMs };
  }

  #shapeChanged(shape: string): void {
    const { cache, queues, wakeScheduler } = this.#deps;
    cache.reviewShape(shape);
    this.#changes.add('shapes', shape);
    queues.wakeWaitingForCluster();
    wakeScheduler();
  }

  #take(workload: Workload, job: DeepReadonly<WorkObject>): void {
    const { cache, recorder } = this.#deps;
    const { key } = workload;
    if (!this.#arrivals.has(key)) this.#arrivals.set(key, this.#arrivalsSeen++);
    this.#untrusted.observe(workload, job.metadata.annotations?.[ADMISSION_ANNOTATION]);
    switch (workload.phase) {
      case 'Finished':
        this.#dequeue(key);
        this.#arrivals.delete(key);
        recorder?.ended(key, 'Finished');
        if (cache.get(key) !== undefined) this.#countFinished(workload, job);
        return this.#release(key);
      case 'Unrecorded':
      case 'Reserved':
      case 'Admitted':
      case 'Evicting':
        return this.#takeAdmitted(workload);
      case 'Pending':
        this.#toCorrect.delete(key);
        this.#reviewCannotStart(workload);
        // A write of an admission is conditional on the version on which it was decided. While the Job is at that version the write may
        // succeed; once it has moved on without the record, the write is certain to be refused.
        if (cache.get(key)?.workload.resourceVersion === workload.resourceVersion) return;
        recorder?.seen(workload, this.arrivalOf(key), cache.get(key) !== undefined);
        this.#release(key);
        return this.#enqueue(workload);
    }
  }

  #countFinished({ record }: Workload, job: DeepReadonly<WorkObject>): void {
    const { kind, metrics } = this.#deps;
    const clusterQueue = record?.clusterQueue ?? '';
    const result = finishedCondition(job.status)?.type ?? 'Deleted';
    const ran = runSeconds(kind.progress(job), job.status);
    if (ran !== undefined) metrics.runTime.observe({ cluster_queue: clusterQueue, outcome: result }, ran);
    metrics.finished.inc({ cluster_queue: clusterQueue, result, kind: wordOfName(kind, job.metadata.name) });
  }

  #takeAdmitted(workload: Workload): void {
    const { cache, recorder, wakeScheduler } = this.#deps;
    const { key, record } = workload;
    this.#dequeue(key);
    this.#reviewCannotStart(workload);
    if (workload.phase === 'Unrecorded' || workload.unmarked) this.#toCorrect.set(key, workload);
    if (workload.phase !== 'Admitted') this.#inadmissibleReasons.set(key, whyHeldBack(workload));
    wakeScheduler();
    if (record === undefined) return this.#release(key);
    const before = cache.get(key);
    cache.admit(workload, record);
    const isLess = before !== undefined && holdsLess(cache.get(key), before);
    recorder?.seen(workload, this.arrivalOf(key), isLess || this.#isOtherwiseBlocking(workload, before));
    // The Workload has another place or holds less: what it held before is free.
    if (before !== undefined && (isLess || !isSameAdmission(before.record, record))) this.#wakeSharers(before);
  }

  /** A replay has to know when a Workload blocks its ClusterQueue, and when it no longer does. */
  #isOtherwiseBlocking(workload: Workload, before: Reservation | undefined): boolean {
    const queue = this.#deps.cache.queueing().queues.get(workload.record?.clusterQueue ?? '');
    if (queue?.blocksAdmission !== true) return false;
    return before === undefined || before.assumed || awaitsPods(before.workload) !== awaitsPods(workload);
  }

  /** A Job that starts on no cluster says so, and why. */
  #reviewCannotStart(workload: Workload): void {
    const { key, record } = workload;
    const maxMoves = this.#deps.cache.queueing().queues.get(record?.clusterQueue ?? '')?.maxMoves;
    const message = record === undefined || maxMoves === undefined ? undefined : cannotStartMessage(record, maxMoves);
    if (message === undefined || workload.started || workload.cannotStart === message || record?.fail !== undefined)
      this.#toReport.delete(key);
    else this.#toReport.set(key, { workload, message });
  }

  #wait(workload: Workload): void {
    const { key } = workload;
    this.#pendingOf.replace(namedQueueOf(this.#pending.get(key)), namedQueueOf(workload));
    this.#pending.set(key, workload);
    this.#referring.set(key, workload);
  }

  #enqueue(observed: Workload): void {
    const { cache, queues, recorder, retries, carriedObjects, clusterObjects, priorityClasses, wakeScheduler } = this.#deps;
    const { key } = observed;
    const workload = withLacks(observed, clusterObjects?.find);
    if (JSON.stringify(workload.lacks) !== JSON.stringify(observed.lacks)) recorder?.seen(workload, this.arrivalOf(key));
    this.#wait(workload);
    const entry = queueEntry(workload, this.arrivalOf(key), {
      queueing: cache.queueing(),
      priorityClasses: priorityClasses(),
      keptOut: () => retries.reasonToWait(key) ?? this.#unaccounted.reasonIn(workload.namespace),
      carriedObjects,
    });
    if ('reason' in entry) {
      queues.delete(key);
      this.#inadmissibleReasons.set(key, entry);
    } else {
      this.#inadmissibleReasons.delete(key);
      putInQueue(queues, cache, entry);
    }
    wakeScheduler();
  }

  /** Queues a Workload again if clusters lack other objects than before. */
  #lookAgain(key: string): void {
    const before = this.#pending.get(key);
    if (before === undefined || !this.#waits(key)) return;
    const { lacks } = withLacks(before, this.#deps.clusterObjects?.find);
    if (JSON.stringify(lacks) !== JSON.stringify(before.lacks)) this.#enqueue(before);
  }

  #dequeue(key: string): void {
    this.#pendingOf.replace(namedQueueOf(this.#pending.get(key)), undefined);
    this.#pending.delete(key);
    this.#referring.set(key, undefined);
    this.#toCorrect.delete(key);
    this.#toReport.delete(key);
    this.#deps.queues.delete(key);
    this.#inadmissibleReasons.delete(key);
    this.#deps.retries.forget(key);
  }

  #release(key: string): void {
    const reservation = this.#deps.cache.forget(key);
    if (reservation !== undefined) this.#wakeSharers(reservation);
  }

  #wakeSharers({ record }: Reservation): void {
    const { cache, queues, wakeScheduler } = this.#deps;
    queues.wake(cache.rootOf(record.clusterQueue));
    queues.wakeWaitingForCluster();
    wakeScheduler();
  }
}
