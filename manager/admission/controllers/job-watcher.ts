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
import { createReferenceIndex } from '../queues/reference-index.ts';
import type { PodAdjustments } from '../../api/adjusted-pod.ts';
import { ZERO } from '../../api/amount.ts';
import { isSameAdmission, type AdmissionCache } from '../cache/admission-cache.ts';
import { awaitsPods, type Reservation } from '../workload/reservation.ts';
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
import { createUntrustedCount } from './untrusted-count.ts';
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

export function createJobWatcher(deps: {
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
}): JobWatcher {
  const { cache, queues, retries, readRecord, recorder, metrics, wakeScheduler } = deps;
  const pending = new Map<string, Workload>();
  const pendingOf = createQueueCounts();
  const referring = createReferenceIndex();
  const visits = createSlicedPass(() => pending.values());
  /** Reasons that keep Jobs out of the queues. The queues know the reasons of queued Workloads. */
  const inadmissibleReasons = new Map<string, InadmissibleReason>();
  const toCorrect = new Map<string, Workload>();
  const toReport = new Map<string, CannotStart>();
  const untrusted = createUntrustedCount(metrics);
  const unaccounted = createUnaccountedJobs();
  /** The order in which unfinished Jobs were first observed: it survives admission, so that an evicted Job keeps its place. */
  const arrivals = new Map<string, number>();
  let arrivalsSeen = 0;
  const arrivalOf = (key: string): number => arrivals.get(key) ?? arrivalsSeen;

  /** A Workload keeps what was expected of it when it was admitted. */
  const expect = (workload: Workload): Workload => {
    if (deps.expectedMs === undefined || !cache.queueing().backfills) return workload;
    const { key, record } = workload;
    const before = cache.get(key);
    const expectedMs =
      (before !== undefined && before.record.since === record?.since ? before.workload.expectedMs : undefined) ?? deps.expectedMs(workload);
    return expectedMs === undefined ? workload : { ...workload, expectedMs };
  };

  const observe = (job: DeepReadonly<WorkObject>): void => {
    const observed = workloadOf(deps.kind, job, readRecord(job), deps.adjustments);
    if (observed === undefined) return;
    const workload = observed.phase === 'Pending' ? withLacks(expect(observed), deps.clusterObjects?.find) : expect(observed);
    take(workload, job);
    if (unaccounted.observe(workload)) requeueAlike('namespaces', workload.namespace);
    // While an admission is being written, the decided record counts, not the one on the Job.
    if (cache.get(workload.key)?.assumed !== true && cache.shapes.observe(workload, deps.now())) shapeChanged(workload.shape);
  };

  /** Changes since the last visit for them began. */
  let changes: { readonly shapes: Set<string>; readonly namespaces: Set<string>; isOfAll: boolean } | undefined;
  /** Queues the Workloads of this shape or namespace again. However many changes arrive, one visit serves all. */
  const requeueAlike = (what: 'shapes' | 'namespaces', name: string): void => {
    if (changes === undefined) {
      const gathered = { shapes: new Set<string>(), namespaces: new Set<string>(), isOfAll: false };
      changes = gathered;
      const requeue = (workload: Workload): void => {
        const { shapes, namespaces, isOfAll } = gathered;
        const isAlike = isOfAll || shapes.has(workload.shape) || namespaces.has(workload.namespace);
        if (isAlike && waits(workload.key)) enqueue(workload);
      };
      visits.enqueue(requeue, () => (changes = undefined));
    }
    changes[what].add(name);
    // While another manager leads, no visits are made, so the sets are bounded.
    if (changes[what].size < ALIKE_MAX) return;
    changes.isOfAll = true;
    changes[what].clear();
  };

  const shapeChanged = (shape: string): void => {
    cache.reviewShape(shape);
    requeueAlike('shapes', shape);
    queues.wakeWaitingForCluster();
    wakeScheduler();
  };

  const take = (workload: Workload, job: DeepReadonly<WorkObject>): void => {
    const { key, record } = workload;
    if (!arrivals.has(key)) arrivals.set(key, arrivalsSeen++);
    untrusted.observe(workload, job.metadata.annotations?.[ADMISSION_ANNOTATION]);
    switch (workload.phase) {
      case 'Finished':
        dequeue(key);
        arrivals.delete(key);
        recorder?.ended(key, 'Finished');
        if (cache.get(key) !== undefined) {
          const ran = runSeconds(deps.kind.progress(job), job.status);
          if (ran !== undefined)
            metrics.runTime.observe(
              { cluster_queue: record?.clusterQueue ?? '', outcome: finishedCondition(job.status)?.type ?? 'Deleted' },
              ran,
            );
          metrics.finished.inc({
            cluster_queue: record?.clusterQueue ?? '',
            result: finishedCondition(job.status)?.type ?? 'Deleted',
            kind: wordOfName(deps.kind, job.metadata.name),
          });
        }
        return release(key);
      case 'Unrecorded':
      case 'Reserved':
      case 'Admitted':
      case 'Evicting': {
        dequeue(key);
        reviewCannotStart(workload);
        if (workload.phase === 'Unrecorded' || workload.unmarked) toCorrect.set(key, workload);
        if (workload.phase !== 'Admitted') inadmissibleReasons.set(key, whyHeldBack(workload));
        wakeScheduler();
        if (record === undefined) return release(key);
        const before = cache.get(key);
        cache.admit(workload, record);
        const isLess = before !== undefined && holdsLess(cache.get(key), before);
        recorder?.seen(workload, arrivalOf(key), isLess || isOtherwiseBlocking(workload, before));
        // The Workload has another place or holds less: what it held before is free.
        if (before !== undefined && (isLess || !isSameAdmission(before.record, record))) wakeSharers(before);
        return;
      }
      case 'Pending':
        toCorrect.delete(key);
        reviewCannotStart(workload);
        if (isBeingWritten(workload)) return;
        recorder?.seen(workload, arrivalOf(key), cache.get(key) !== undefined);
        release(key);
        return enqueue(workload);
    }
  };

  /** A replay has to know when a Workload blocks its ClusterQueue, and when it no longer does. */
  const isOtherwiseBlocking = (workload: Workload, before: Reservation | undefined): boolean =>
    cache.queueing().queues.get(workload.record?.clusterQueue ?? '')?.blocksAdmission === true &&
    (before === undefined || before.assumed || awaitsPods(before.workload) !== awaitsPods(workload));

  /**
   * A write of an admission is conditional on the version on which it was decided. While the Job is at that version the write may succeed;
   * once it has moved on without the record, the write is certain to be refused.
   */
  const isBeingWritten = ({ key, resourceVersion }: Workload): boolean => cache.get(key)?.workload.resourceVersion === resourceVersion;

  /** A Job that starts on no cluster says so, and why. */
  const reviewCannotStart = (workload: Workload): void => {
    const { key, record } = workload;
    const maxMoves = cache.queueing().queues.get(record?.clusterQueue ?? '')?.maxMoves;
    const message = record === undefined || maxMoves === undefined ? undefined : cannotStartMessage(record, maxMoves);
    if (message === undefined || workload.started || workload.cannotStart === message || record?.fail !== undefined) toReport.delete(key);
    else toReport.set(key, { workload, message });
  };

  const wait = (workload: Workload): void => {
    const { key } = workload;
    pendingOf.replace(namedQueueOf(pending.get(key)), namedQueueOf(workload));
    pending.set(key, workload);
    referring.set(key, workload);
  };

  const enqueue = (observed: Workload): void => {
    const { key } = observed;
    const workload = withLacks(observed, deps.clusterObjects?.find);
    if (JSON.stringify(workload.lacks) !== JSON.stringify(observed.lacks)) recorder?.seen(workload, arrivalOf(key));
    wait(workload);
    const entry = queueEntry(workload, arrivalOf(key), {
      queueing: cache.queueing(),
      priorityClasses: deps.priorityClasses(),
      keptOut: () => retries.reasonToWait(key) ?? unaccounted.reasonIn(workload.namespace),
      carriedObjects: deps.carriedObjects,
    });
    if ('reason' in entry) {
      queues.delete(key);
      inadmissibleReasons.set(key, entry);
    } else {
      inadmissibleReasons.delete(key);
      putInQueue(queues, cache, entry);
    }
    wakeScheduler();
  };

  /** Whether the Workload is pending and not assumed. */
  const waits = (key: string): boolean => cache.get(key) === undefined;

  /** Queues a Workload again if clusters lack other objects than before. */
  const lookAgain = (key: string): void => {
    const before = pending.get(key);
    if (before === undefined || !waits(key)) return;
    const { lacks } = withLacks(before, deps.clusterObjects?.find);
    if (JSON.stringify(lacks) !== JSON.stringify(before.lacks)) enqueue(before);
  };

  const dequeue = (key: string): void => {
    pendingOf.replace(namedQueueOf(pending.get(key)), undefined);
    pending.delete(key);
    referring.set(key, undefined);
    toCorrect.delete(key);
    toReport.delete(key);
    queues.delete(key);
    inadmissibleReasons.delete(key);
    retries.forget(key);
  };

  const release = (key: string): void => {
    const reservation = cache.forget(key);
    if (reservation !== undefined) wakeSharers(reservation);
  };

  const wakeSharers = ({ record }: Reservation): void => {
    queues.wake(cache.rootOf(record.clusterQueue));
    queues.wakeWaitingForCluster();
    wakeScheduler();
  };

  deps.carriedObjects?.onChange((namespace, object) => {
    for (const key of referring.of(namespace, object)) {
      const workload = pending.get(key);
      if (workload !== undefined && waits(key)) enqueue(workload);
    }
  });

  deps.clusterObjects?.serve({
    isNeeded: referring.has,
    changed: (namespace, object) => {
      for (const key of referring.of(namespace, object)) lookAgain(key);
    },
  });

  return {
    added: observe,
    updated: observe,
    deleted: (job) => {
      const key = keyOfObject(job);
      dequeue(key);
      arrivals.delete(key);
      recorder?.ended(key, 'Deleted');
      untrusted.forget(key);
      if (unaccounted.forget(key, job.metadata.namespace)) requeueAlike('namespaces', job.metadata.namespace);
      release(key);
      const workload = workloadOf(deps.kind, job, readRecord(job));
      if (workload !== undefined && cache.shapes.released(workload)) shapeChanged(workload.shape);
    },
    requeue: (concerned = () => true) =>
      visits.enqueue((workload) => {
        if (waits(workload.key) && concerned(workload)) enqueue(workload);
      }),
    adjust: (concerned) =>
      visits.enqueue(({ key }) => {
        const job = concerned(key);
        if (job !== undefined) observe(job);
      }),
    expectAnew: () => {
      visits.enqueue((workload) => {
        if (waits(workload.key)) enqueue(expect(workload));
      });
      cache.visit(({ workload, record, assumed }) => {
        if (!assumed) cache.admit(expect(workload), record);
      });
    },
    continueVisits: visits.runUntil,
    giveUp: (reservation, inadmissibleReason) => {
      const { key } = reservation.workload;
      if (cache.get(key) !== reservation) return;
      recorder?.ended(key, 'Undone');
      release(key);
      wait(reservation.workload.whole ?? reservation.workload);
      if (cache.shapes.released(reservation.workload)) shapeChanged(reservation.workload.shape);
      inadmissibleReasons.set(key, inadmissibleReason);
    },
    doubt: (reservation, inadmissibleReason) => {
      const { key } = reservation.workload;
      if (cache.get(key) === reservation) inadmissibleReasons.set(key, inadmissibleReason);
    },
    retry: (key) => {
      const workload = pending.get(key);
      if (workload === undefined || !waits(key) || queues.has(key)) return;
      recorder?.seen(workload, arrivalOf(key));
      enqueue(workload);
    },
    toCorrect: () => toCorrect.values(),
    toReport: () => toReport.values(),
    pending: () => pending.values(),
    isPending: (key) => pending.has(key),
    pendingOf: pendingOf.all,
    arrivalOf,
    waiting: function* () {
      yield* pending.keys();
      for (const key of inadmissibleReasons.keys()) if (!pending.has(key)) yield key;
    },
    preemptedOf: (key) => (cache.get(key)?.record ?? pending.get(key)?.record)?.preempted,
    reasonOf: (key) => {
      const reason = inadmissibleReasons.get(key)?.reason;
      if (reason !== undefined) return reason;
      const known = queues.inadmissibilityOf(key);
      return (known?.waitsFor === 'setup' ? undefined : blockedReason(cache, queues.get(key)?.clusterQueue)?.reason) ?? known?.reason;
    },
    inadmissibleReasonOf: (key) => inadmissibleReasons.get(key) ?? waitingReason({ cache, queues }, key, deps.now()),
  };
}

/** Shapes or namespaces that are distinguished at most. */
const ALIKE_MAX = 1_000;

const holdsLess = (now: Reservation | undefined, before: Reservation): boolean =>
  [...before.held].some(([resource, amount]) => amount > (now?.held.get(resource) ?? ZERO));
