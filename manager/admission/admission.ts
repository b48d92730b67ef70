import type { PlacementPolicy } from '../api/cluster-queue.ts';
import type { StatusClient, WriteClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { LostClusters } from '../api/lost-clusters.ts';
import type { RecordKeeper } from '../api/record-keeper.ts';
import { recordWorld, unresolved } from '../api/record-resolution.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { type AdmissionCache, createAdmissionCache } from './cache/admission-cache.ts';
import { createAdmissionFairSharing, type AdmissionFairSharing } from './controllers/admission-fair-sharing.ts';
import type { AdmissionMetrics } from './controllers/admission-metrics.ts';
import { type AdmissionState, observeAdmission } from './controllers/admission-state.ts';
import { createAdmissionWriter } from './controllers/admission-writer.ts';
import { createEvictionController } from './controllers/eviction-controller.ts';
import { createJobWatcher, type JobWatcher } from './controllers/job-watcher.ts';
import { createQueueStatus, type QueueStatus } from './controllers/queue-status.ts';
import { createReasonCounts, type ReasonCounts } from './controllers/reason-counts.ts';
import { createScheduler, type Scheduler } from './controllers/scheduler.ts';
import { type AdmissionInformers, createSetupWatcher, setupObjects, type SetupWatcher } from './controllers/setup-watcher.ts';
import { createWaitingReporter, type WaitingReporter } from './controllers/waiting-reporter.ts';
import { createDecisionRecorder, type DecisionRecorder, type LineSink } from './decision-log/decision-recorder.ts';
import { settingsOf } from './decision-log/logged-settings.ts';
import { createLossWatch } from './eviction/loss-watch.ts';
import { DEFAULT_REQUEUING_TIMESTAMP, type RequeuingTimestamp } from './eviction/requeuing.ts';
import type { FairSharingConfig } from './fair-sharing/fair-strategy.ts';
import type { ClusterObjects } from './queues/cluster-objects.ts';
import type { CarriedObjects } from './queues/carried-objects.ts';
import type { UsagePolicy } from './fair-sharing/local-queue-usage.ts';
import { createPendingQueues, type PendingQueues } from './queues/pending-queues.ts';
import { createAdmissionRetries, type AdmissionRetries } from './snapshot/admission-retries.ts';
import { buildQueueingSetup, type InadmissibleReason } from './snapshot/snapshot.ts';
import type { PriorityClasses } from './workload/priority.ts';
import type { Reservation } from './workload/reservation.ts';
import type { Workload } from './workload/workload.ts';

export type AdmissionDeps = {
  /** The kind of work that is admitted. */
  readonly kind: WorkKind;
  readonly client: WriteClient & StatusClient;
  readonly events: EventRecorder;
  /** A recorder that drops Events beyond its rate: for facts that conditions state too. */
  readonly storyEvents: EventRecorder;
  readonly informers: AdmissionInformers;
  readonly records: RecordKeeper;
  readonly lostClusters: LostClusters;
  /** Resolves once the status of WorkerClusters is this leader's own observation; absent: it is already. */
  readonly clustersSettled?: (signal: AbortSignal) => Promise<void>;
  /** After this time Jobs leave a lost cluster; 0: never. */
  readonly workerLostTimeoutMs: number;
  /** How ClusterQueues share what their Cohorts lend; absent: by priority and age. */
  readonly fairSharing?: FairSharingConfig | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it; absent: LeastRoom. */
  readonly defaultPlacement?: PlacementPolicy | undefined;
  /** How usage orders the LocalQueues of ClusterQueues that ask for it; absent: it does not. */
  readonly admissionFairSharing?: UsagePolicy | undefined;
  /** The objects that may travel with Jobs; absent: all count as present. */
  readonly carriedObjects?: CarriedObjects | undefined;
  /** Objects that Jobs need and worker clusters have; absent: every cluster has all of them. */
  readonly clusterObjects?: ClusterObjects | undefined;
  /** How long Jobs are expected to run; absent: nothing is known. */
  readonly expectedRunTimes?: RunTimeEstimates | undefined;
  /** Absent: the default of the flag. */
  readonly requeuingTimestamp?: RequeuingTimestamp;
  /** The sink of the decision log; absent: none is written. */
  readonly decisionLog?: LineSink | undefined;
  /** The fraction of Jobs that are traced; absent: none. */
  readonly traceRatio?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AdmissionMetrics;
};

/** Run times, as far as they are known. */
export type RunTimeEstimates = {
  /** How long a Workload is expected to hold its quota in this ClusterQueue, in milliseconds; undefined: not known. */
  of(workload: Workload, clusterQueue: string): number | undefined;
  /** A Workload went in front of one with a reservation, and still runs when it was expected to have ended. */
  outlived(key: string): void;
};

export type JobAccount =
  | { readonly kind: 'Unknown' }
  | { readonly kind: 'Waits' }
  | { readonly kind: 'Charges'; readonly held: Reservation['held'] };

/** The state of admission for readers. Job handlers added after its creation find it up to date. */
export type AdmissionView = {
  readonly cache: AdmissionCache;
  readonly queues: PendingQueues;
  readonly priorityClasses: () => PriorityClasses;
  /** The usage of a LocalQueue over time; undefined: usage orders nothing. */
  readonly usageOf: ((localQueue: string) => number | undefined) | undefined;
};

export interface Admission {
  /**
   * Waits until the informers are synced, then admits until `signal` aborts. Call it on the leader only. The caller runs the informers on
   * every replica, so that a new leader starts with full queues.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Keys of Jobs that are being admitted to this cluster, whose records no cache may have yet. */
  admitting(cluster: string): readonly string[];
  /** How admission accounts for a Job: it waits, its quota is charged, or it is unknown. */
  accountOf(key: string): JobAccount;
  /** The state of queues and clusters. The cost depends on their number. */
  observed(): AdmissionState;
  /** The state from which simulations start. */
  readonly view: AdmissionView;
  /** Why a pending Job waits, as of its last nomination. `position`: the number of Jobs of its ClusterQueue that go before it. */
  explain(key: string): { readonly inadmissibleReason: InadmissibleReason | undefined; readonly position: number | undefined } | undefined;
}

/** Assembles admission. It adds handlers to the informers, so call it before they run. */
export function createAdmission(deps: AdmissionDeps): Admission {
  return new AssembledAdmission(deps);
}

class AssembledAdmission implements Admission {
  readonly #deps: AdmissionDeps;
  readonly #localQueueUsage: AdmissionFairSharing | undefined;
  readonly #cache: AdmissionCache;
  readonly #queues: PendingQueues;
  readonly #recorder: DecisionRecorder | undefined;
  readonly #watcher: JobWatcher;
  readonly #status: QueueStatus;
  readonly #reporter: WaitingReporter;
  readonly #setup: SetupWatcher;
  readonly #scheduler: Scheduler;
  readonly #reasons: ReasonCounts;
  readonly view: AdmissionView;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    const { kind, client, events, informers, records, clock, log, metrics } = deps;
    const localQueueUsage = deps.admissionFairSharing && this.#createLocalQueueUsage(deps.admissionFairSharing);
    const usageOf = localQueueUsage && ((localQueue: string) => localQueueUsage.usageOf(localQueue));
    this.#localQueueUsage = localQueueUsage;
    const cache = createAdmissionCache(
      buildQueueingSetup({ clusterQueues: [], localQueues: [], resourceFlavors: [], cohorts: [], namespaces: [] }),
      () => this.#setup.priorityClasses(),
      localQueueUsage?.holdings,
      usageOf,
    );
    this.#cache = cache;
    const queues = createPendingQueues(usageOf);
    this.#queues = queues;
    const retries = createAdmissionRetries();
    const recorder = deps.decisionLog && this.#createRecorder(deps.decisionLog);
    this.#recorder = recorder;
    const watcher = this.#createWatcher(retries);
    this.#watcher = watcher;
    const parts = { cache, queues, watcher, wake: (): void => this.#scheduler.wake() };
    const shared = { ...parts, kind, client, events, informers, jobs: informers.jobs, records, clock, log, metrics };
    this.#status = createQueueStatus({ ...shared, fairSharing: deps.fairSharing !== undefined });
    this.#reporter = createWaitingReporter({
      ...shared,
      waiting: () => watcher.waiting(),
      inadmissibleReasonOf: (key) => watcher.inadmissibleReasonOf(key),
      reasonOf: (key) => watcher.reasonOf(key),
      preemptedOf: (key) => watcher.preemptedOf(key),
    });
    const evictionController = createEvictionController({
      ...shared,
      storyEvents: deps.storyEvents,
      losses: createLossWatch({ ...shared, lostClusters: deps.lostClusters, timeoutMs: deps.workerLostTimeoutMs }),
      requeuingTimestamp: deps.requeuingTimestamp ?? DEFAULT_REQUEUING_TIMESTAMP,
      unresolved: unresolvedIn(informers),
    });
    const setup = createSetupWatcher({
      ...shared,
      evictionController,
      recorder,
      fairSharing: deps.fairSharing,
      defaultPlacement: deps.defaultPlacement,
      onApplied: () => this.#changed(),
    });
    this.#setup = setup;
    this.#scheduler = createScheduler({
      ...shared,
      writer: createAdmissionWriter({ ...shared, retries, ...omitUndefined({ traceRatio: deps.traceRatio }) }),
      evictionController,
      refresh: setup.apply,
      continueVisits: (hasEnded) => cache.continueVisits(hasEnded) || watcher.continueVisits(hasEnded),
      outlived: deps.expectedRunTimes?.outlived,
      recorder,
    });
    this.#reasons = createReasonCounts(kind);
    this.view = { cache, queues, priorityClasses: setup.priorityClasses, usageOf };
    this.#addHandlers();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, clustersSettled } = this.#deps;
    await Promise.all(Object.values(informers).map((informer) => informer.waitForSync(signal)));
    await clustersSettled?.(signal);
    this.#setup.lead();
    this.#recorder?.start();
    try {
      await Promise.all([
        this.#scheduler.run(signal),
        this.#reporter.run(signal),
        this.#status.run(signal),
        this.#localQueueUsage?.run(signal),
      ]);
    } finally {
      this.#recorder?.stop();
    }
  }

  admitting(cluster: string): readonly string[] {
    return [...this.#cache.assumed()].flatMap(({ workload, record }) => (record.cluster === cluster ? [workload.key] : []));
  }

  observed(): AdmissionState {
    return observeAdmission({ cache: this.#cache, watcher: this.#watcher, queues: this.#queues, reasons: this.#reasons });
  }

  accountOf(key: string): JobAccount {
    const reservation = this.#cache.get(key);
    if (reservation !== undefined) return { kind: 'Charges', held: reservation.held };
    return { kind: this.#watcher.isPending(key) || this.#watcher.reasonOf(key) !== undefined ? 'Waits' : 'Unknown' };
  }

  explain(key: string): { readonly inadmissibleReason: InadmissibleReason | undefined; readonly position: number | undefined } | undefined {
    const inadmissibleReason = this.#watcher.inadmissibleReasonOf(key);
    const position = this.#queues.position(key);
    return inadmissibleReason === undefined && position === undefined ? undefined : { inadmissibleReason, position };
  }

  #changed(): void {
    this.#scheduler.wake();
    this.#status.changed();
    this.#reporter.changed();
  }

  #createLocalQueueUsage(policy: UsagePolicy): AdmissionFairSharing {
    const { client, informers, clock, log, metrics } = this.#deps;
    return createAdmissionFairSharing({
      policy,
      client,
      cache: () => this.#cache,
      localQueues: informers.localQueues,
      changed: (clusterQueue, localQueue) => this.#queues.usageChanged(clusterQueue, localQueue),
      metrics,
      clock,
      log,
    });
  }

  #createRecorder(sink: LineSink): DecisionRecorder {
    const { informers, clock } = this.#deps;
    return createDecisionRecorder({
      sink,
      settings: settingsOf(this.#deps),
      objects: () => setupObjects(informers),
      workloads: () => this.#workloads(),
      now: () => clock.now(),
      soon: (callback) => void clock.schedule(callback, 10),
    });
  }

  *#workloads(): Iterable<{ readonly workload: Workload; readonly arrival: number }> {
    const watcher = this.#watcher;
    for (const { workload, record, assumed } of this.#cache.reservations())
      yield { workload: assumed ? { ...workload, record, phase: 'Admitted' } : workload, arrival: watcher.arrivalOf(workload.key) };
    for (const workload of watcher.pending()) yield { workload, arrival: watcher.arrivalOf(workload.key) };
  }

  #createWatcher(retries: AdmissionRetries): JobWatcher {
    const { kind, informers, records, carriedObjects, clusterObjects, expectedRunTimes, clock, metrics } = this.#deps;
    const cache = this.#cache;
    return createJobWatcher({
      kind,
      cache,
      queues: this.#queues,
      recorder: this.#recorder,
      retries,
      carriedObjects,
      clusterObjects,
      readRecord: records.read,
      priorityClasses: () => this.#setup.priorityClasses(),
      adjustments: {
        limitRanges: (namespace) => informers.limitRanges?.list(namespace) ?? [],
        overhead: (name) => informers.runtimeClasses?.get({ namespace: '', name })?.overhead?.podFixed,
      },
      expectedMs:
        expectedRunTimes &&
        ((workload) => {
          const { namespace, queue, record } = workload;
          const clusterQueue = cache.queueing().localQueues.get(`${namespace}/${queue ?? ''}`)?.clusterQueue ?? record?.clusterQueue;
          return clusterQueue === undefined ? undefined : expectedRunTimes.of(workload, clusterQueue);
        }),
      metrics,
      now: () => clock.now(),
      wakeScheduler: () => this.#changed(),
    });
  }

  #addHandlers(): void {
    const { informers, records } = this.#deps;
    const localQueueUsage = this.#localQueueUsage;
    informers.jobs.addHandler(this.#watcher);
    this.#setup.addHandlers();
    if (localQueueUsage !== undefined) informers.localQueues.addHandler({ deleted: (queue) => localQueueUsage.forget(keyOfObject(queue)) });
    informers.jobs.addHandler(this.#reasons.handler);
    informers.jobs.addHandler({ deleted: ({ metadata }) => records.forget(metadata.uid) });
  }
}

/** Why an admission is no longer valid, according to these caches. */
function unresolvedIn({ clusterQueues, resourceFlavors, workerClusters, namespaces }: AdmissionInformers) {
  const world = recordWorld({ clusterQueues, flavors: resourceFlavors, clusters: workerClusters, namespaces });
  return ({ workload, record }: Reservation): string | undefined => unresolved(record, workload.namespace, world);
}
