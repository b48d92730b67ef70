import type { DeepReadonly, Job, KubeObject, Namespace } from '../../shared/api/kubernetes.ts';
import type { StatusClient, WriteClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import type { Cohort } from '../api/cohort.ts';
import type { LimitRange } from '../api/limit-range.ts';
import type { LocalQueue } from '../api/local-queue.ts';
import type { RuntimeClass } from '../api/runtime-class.ts';
import type { ResourceFlavor } from '../api/resource-flavor.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import type { PriorityClass } from '../api/priority-class.ts';
import type { WorkloadPriorityClass } from '../api/workload-priority-class.ts';
import type { RecordKeeper } from '../api/record-keeper.ts';
import type { LostClusters } from '../api/lost-clusters.ts';
import { recordWorld, unresolved } from '../api/record-resolution.ts';
import type { AdmissionMetrics } from './controllers/admission-metrics.ts';
import { createAdmissionCache, type AdmissionCache } from './cache/admission-cache.ts';
import { createAdmissionFairSharing } from './controllers/admission-fair-sharing.ts';
import type { Reservation } from './workload/reservation.ts';
import { createAdmissionRetries } from './snapshot/admission-retries.ts';
import { observeAdmission, type AdmissionState } from './controllers/admission-state.ts';
import { createAdmissionWriter } from './controllers/admission-writer.ts';
import { clusterStateOf, type ClusterState } from './quota/cluster-state.ts';
import { createEvictionController } from './controllers/eviction-controller.ts';
import { createDecisionRecorder, type LineSink } from './decision-log/decision-recorder.ts';
import type { FairSharingConfig } from './fair-sharing/fair-strategy.ts';
import { createJobWatcher } from './controllers/job-watcher.ts';
import { createReasonCounts } from './controllers/reason-counts.ts';
import { NO_PRIORITY_CLASSES, priorityClassesOf, resolvePriority, type PriorityClasses, type PriorityWish } from './workload/priority.ts';
import type { UsagePolicy } from './fair-sharing/local-queue-usage.ts';
import type { SetupObjects } from './decision-log/logged-object.ts';
import { settingsOf } from './decision-log/logged-settings.ts';
import { createLossWatch } from './eviction/loss-watch.ts';
import { createPendingQueues, type PendingQueues } from './queues/pending-queues.ts';
import { createQueueStatus } from './controllers/queue-status.ts';
import { DEFAULT_REQUEUING_TIMESTAMP, type RequeuingTimestamp } from './eviction/requeuing.ts';
import { changeOf, noChangedObjects, type ChangedObjects } from './snapshot/setup-changes.ts';
import { createScheduler, type Scheduler } from './controllers/scheduler.ts';
import { buildQueueingSetup, type InadmissibleReason, type QueueingObjects } from './snapshot/snapshot.ts';
import { createWaitingReporter } from './controllers/waiting-reporter.ts';
import type { Workload } from './workload/workload.ts';

export type AdmissionInformers = {
  readonly jobs: Informer<Job>;
  readonly namespaces: Informer<Namespace>;
  readonly workerClusters: Informer<WorkerCluster>;
  readonly resourceFlavors: Informer<ResourceFlavor>;
  readonly workloadPriorityClasses: Informer<WorkloadPriorityClass>;
  readonly priorityClasses: Informer<PriorityClass>;
  /** Absent, with the next: pods count as written. */
  readonly limitRanges?: Informer<LimitRange>;
  readonly runtimeClasses?: Informer<RuntimeClass>;
  readonly clusterQueues: Informer<ClusterQueue>;
  readonly localQueues: Informer<LocalQueue>;
  readonly cohorts: Informer<Cohort>;
};

export type AdmissionDeps = {
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
  /** How usage orders the LocalQueues of ClusterQueues that ask for it; absent: it does not. */
  readonly admissionFairSharing?: UsagePolicy | undefined;
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
export function createAdmission({
  client,
  events,
  storyEvents,
  informers,
  records,
  clock,
  log,
  metrics,
  ...deps
}: AdmissionDeps): Admission {
  let priorityClasses = NO_PRIORITY_CLASSES;
  const localQueueUsage =
    deps.admissionFairSharing &&
    createAdmissionFairSharing({
      policy: deps.admissionFairSharing,
      client,
      cache: () => cache,
      localQueues: informers.localQueues,
      changed: (clusterQueue, localQueue) => queues.usageChanged(clusterQueue, localQueue),
      metrics,
      clock,
      log,
    });
  const cache: AdmissionCache = createAdmissionCache(
    buildQueueingSetup({ clusterQueues: [], localQueues: [], resourceFlavors: [], cohorts: [], namespaces: [] }),
    () => priorityClasses,
    localQueueUsage?.holdings,
    localQueueUsage?.usageOf,
  );
  const queues = createPendingQueues((localQueue) => localQueueUsage?.usageOf(localQueue));
  const retries = createAdmissionRetries();
  const wake = (): void => scheduler.wake();
  const recorder =
    deps.decisionLog &&
    createDecisionRecorder({
      sink: deps.decisionLog,
      settings: settingsOf(deps),
      objects: () => setupObjects(informers),
      workloads: function* () {
        for (const { workload, record, assumed } of cache.reservations())
          yield { workload: assumed ? { ...workload, record, phase: 'Admitted' } : workload, arrival: watcher.arrivalOf(workload.key) };
        for (const workload of watcher.pending()) yield { workload, arrival: watcher.arrivalOf(workload.key) };
      },
      now: () => clock.now(),
      soon: (callback) => void clock.schedule(callback, 10),
    });
  const watcher = createJobWatcher({
    cache,
    queues,
    recorder,
    retries,
    readRecord: records.read,
    priorityClasses: () => priorityClasses,
    adjustments: {
      limitRanges: (namespace) => informers.limitRanges?.list(namespace) ?? [],
      overhead: (name) => informers.runtimeClasses?.get({ namespace: '', name })?.overhead?.podFixed,
    },
    metrics,
    now: () => clock.now(),
    wakeScheduler: () => changed(),
  });
  const status = createQueueStatus({
    client,
    cache,
    queues,
    watcher,
    informers,
    fairSharing: deps.fairSharing !== undefined,
    metrics,
    clock,
    log,
  });
  const { waiting, inadmissibleReasonOf, reasonOf, preemptedOf } = watcher;
  const reporter = createWaitingReporter({
    client,
    events,
    jobs: informers.jobs,
    waiting,
    inadmissibleReasonOf,
    reasonOf,
    preemptedOf,
    clock,
    log,
    metrics,
  });
  let changedObjects = noChangedObjects();
  /** The queues have never been set up, or some changes are not known. */
  let allChanged = true;
  let clusterIdentities = '';
  /** This leader has not observed earlier progress of Jobs, so start timeouts count from here. */
  let ledSinceMs = 0;
  const stale = { queueing: true, clusters: true, priorities: true, namespaces: new Set<string>(), runtimeClasses: new Set<string>() };

  const changed = (): void => {
    wake();
    status.changed();
    reporter.changed();
  };

  /** Examines pending Jobs in namespaces with changed LimitRanges, or with changed RuntimeClasses. */
  const reexamineAdjusted = (): void => {
    const { namespaces, runtimeClasses } = stale;
    if (namespaces.size + runtimeClasses.size === 0) return;
    const [concernedNamespaces, concernedClasses] = [new Set(namespaces), new Set(runtimeClasses)];
    watcher.adjust((key) => {
      const job = informers.jobs.get(parseKey(key));
      const isConcerned =
        job && (concernedNamespaces.has(job.metadata.namespace) || concernedClasses.has(job.spec.template.spec?.runtimeClassName ?? ''));
      return isConcerned === true ? job : undefined;
    });
    namespaces.clear();
    runtimeClasses.clear();
    changed();
  };

  const refresh = (): void => {
    reexamineAdjusted();
    if (stale.priorities || stale.queueing || stale.clusters) recorder?.setup();
    if (stale.priorities) {
      stale.priorities = false;
      const before = priorityClasses;
      const next = priorityClassesOf(informers.workloadPriorityClasses.list(), informers.priorityClasses.list());
      priorityClasses = next;
      const concerned = ({ priorityWish }: Workload): boolean => classValue(priorityWish, before) !== classValue(priorityWish, next);
      watcher.requeue(concerned);
      cache.reprioritize(concerned);
    }
    if (stale.queueing) {
      stale.queueing = false;
      const before = cache.queueing();
      const next = queueingSetup(informers, deps.fairSharing);
      const { tried, requeued: rerouted } = changeOf(changedObjects, before, next);
      cache.setQueueing(next);
      queues.usageChanged();
      evictionController.recheckAdmissions(allChanged ? undefined : affectedBy(changedObjects));
      if (allChanged) {
        queues.wakeAll();
        watcher.requeue();
      } else {
        queues.wakeAll(tried);
        if (rerouted !== undefined) watcher.requeue(rerouted);
      }
      allChanged = false;
      changedObjects = noChangedObjects();
      evictionController.lookForLosses();
      changed();
    }
    if (stale.clusters) {
      stale.clusters = false;
      evictionController.lookForLosses();
      const identities = identitiesOf(informers.workerClusters.list());
      if (identities !== clusterIdentities) evictionController.recheckAdmissions();
      clusterIdentities = identities;
      const next = clusterStates(informers.workerClusters.list(), ledSinceMs, log);
      const previous = cache.clusters();
      if (fingerprint(next) === fingerprint(previous)) return;
      cache.setClusters(next);
      if (restrictions(next) !== restrictions(previous)) watcher.requeue();
      queues.wakeAfterClusterChange();
      changed();
    }
  };

  const evictionController = createEvictionController({
    client,
    events,
    storyEvents,
    cache,
    watcher,
    records,
    losses: createLossWatch({ cache, lostClusters: deps.lostClusters, timeoutMs: deps.workerLostTimeoutMs, wake, clock }),
    requeuingTimestamp: deps.requeuingTimestamp ?? DEFAULT_REQUEUING_TIMESTAMP,
    unresolved: unresolvedIn(informers),
    wake,
    clock,
    log,
    metrics,
  });
  const writer = createAdmissionWriter({
    client,
    events,
    jobs: informers.jobs,
    cache,
    retries,
    watcher,
    records,
    ...omitUndefined({ traceRatio: deps.traceRatio }),
    wake,
    clock,
    log,
    metrics,
  });
  const continueVisits = (hasEnded: () => boolean): boolean => cache.continueVisits(hasEnded) || watcher.continueVisits(hasEnded);
  const scheduler: Scheduler = createScheduler({
    cache,
    queues,
    writer,
    evictionController,
    refresh,
    continueVisits,
    recorder,
    clock,
    metrics,
  });

  informers.jobs.addHandler(watcher);
  const reasons = createReasonCounts();
  informers.jobs.addHandler(reasons.handler);
  informers.jobs.addHandler({ deleted: ({ metadata }) => records.forget(metadata.uid) });
  const queueingChanged =
    (kind: keyof ChangedObjects) =>
    ({ metadata }: DeepReadonly<KubeObject>): void => {
      stale.queueing = true;
      changedObjects[kind].add(kind === 'localQueues' ? `${metadata.namespace}/${metadata.name}` : metadata.name);
      wake();
    };
  onChange(informers.clusterQueues, ({ spec }) => spec, queueingChanged('clusterQueues'));
  onChange(informers.localQueues, ({ spec }) => spec, queueingChanged('localQueues'));
  if (localQueueUsage !== undefined) informers.localQueues.addHandler({ deleted: (queue) => localQueueUsage.forget(keyOfObject(queue)) });
  onChange(informers.resourceFlavors, ({ spec }) => spec, queueingChanged('resourceFlavors'));
  onChange(informers.cohorts, ({ spec }) => spec, queueingChanged('cohorts'));
  onChange(informers.namespaces, ({ metadata }) => metadata.labels, queueingChanged('namespaces'));
  const prioritiesChanged = (): void => {
    stale.priorities = true;
    wake();
  };
  onChange(informers.workloadPriorityClasses, ({ value }) => value, prioritiesChanged);
  onChange(informers.priorityClasses, ({ value, globalDefault }) => [value, globalDefault], prioritiesChanged);
  if (informers.limitRanges !== undefined)
    onChange(
      informers.limitRanges,
      ({ spec }) => spec,
      ({ metadata }) => {
        stale.namespaces.add(metadata.namespace);
        wake();
      },
    );
  if (informers.runtimeClasses !== undefined)
    onChange(
      informers.runtimeClasses,
      ({ overhead }) => overhead,
      ({ metadata }) => {
        stale.runtimeClasses.add(metadata.name);
        wake();
      },
    );
  const clustersChanged = (): void => {
    stale.clusters = true;
    wake();
  };
  onChange(
    informers.workerClusters,
    ({ metadata, spec, status: observed }) => [metadata.labels, metadata.deletionTimestamp, spec, observed],
    clustersChanged,
  );

  return {
    run: async (signal) => {
      await Promise.all(Object.values(informers).map((informer) => informer.waitForSync(signal)));
      await deps.clustersSettled?.(signal);
      // While another manager led, changes were not applied.
      stale.queueing = true;
      stale.clusters = true;
      allChanged = true;
      ledSinceMs = clock.now();
      refresh();
      recorder?.start();
      try {
        await Promise.all([scheduler.run(signal), reporter.run(signal), status.run(signal), localQueueUsage?.run(signal)]);
      } finally {
        recorder?.stop();
      }
    },
    admitting: (cluster) => [...cache.assumed()].flatMap(({ workload, record }) => (record.cluster === cluster ? [workload.key] : [])),
    observed: () => observeAdmission({ cache, watcher, queues, reasons }),
    view: {
      cache,
      queues,
      priorityClasses: () => priorityClasses,
      usageOf: localQueueUsage && ((localQueue) => localQueueUsage.usageOf(localQueue)),
    },
    accountOf: (key) => {
      const reservation = cache.get(key);
      if (reservation !== undefined) return { kind: 'Charges', held: reservation.held };
      return { kind: watcher.isPending(key) || watcher.reasonOf(key) !== undefined ? 'Waits' : 'Unknown' };
    },
    explain: (key) => {
      const inadmissibleReason = inadmissibleReasonOf(key);
      const position = queues.position(key);
      return inadmissibleReason === undefined && position === undefined ? undefined : { inadmissibleReason, position };
    },
  };
}

/** Why an admission is no longer valid, according to these caches. */
function unresolvedIn({ clusterQueues, resourceFlavors, workerClusters, namespaces }: AdmissionInformers) {
  const world = recordWorld({ clusterQueues, flavors: resourceFlavors, clusters: workerClusters, namespaces });
  return ({ workload, record }: Reservation): string | undefined => unresolved(record, workload.namespace, world);
}

/** Calls back when an object is added, deleted, or changed in what `relevant` selects; own status writes are ignored. */
function onChange<T extends KubeObject>(
  informer: Informer<T>,
  relevant: (object: DeepReadonly<T>) => unknown,
  callback: (object: DeepReadonly<T>) => void,
): void {
  informer.addHandler({
    added: callback,
    updated: (next, previous) => {
      if (JSON.stringify(relevant(next)) !== JSON.stringify(relevant(previous))) callback(next);
    },
    deleted: callback,
  });
}

const queueingSetup = (informers: AdmissionInformers, fairSharing: FairSharingConfig | undefined) =>
  buildQueueingSetup(queueingObjects(informers), fairSharing);

const queueingObjects = (informers: AdmissionInformers): QueueingObjects => ({
  clusterQueues: informers.clusterQueues.list(),
  localQueues: informers.localQueues.list(),
  resourceFlavors: informers.resourceFlavors.list(),
  cohorts: informers.cohorts.list(),
  namespaces: informers.namespaces.list(),
});

const setupObjects = (informers: AdmissionInformers): SetupObjects => ({
  ...queueingObjects(informers),
  workerClusters: informers.workerClusters.list(),
  workloadPriorityClasses: informers.workloadPriorityClasses.list(),
  priorityClasses: informers.priorityClasses.list(),
});

/** The value of a wish by classes alone, without the bounds of the queue. */
function classValue(wish: PriorityWish, classes: PriorityClasses): number | undefined {
  const resolved = resolvePriority(wish, classes, undefined);
  return resolved.kind === 'Priority' ? resolved.value : undefined;
}

/** A cluster whose capacity cannot be read accepts no Jobs; the other clusters are unaffected. */
function clusterStates(clusters: readonly DeepReadonly<WorkerCluster>[], ledSinceMs: number, log: Logger): ClusterState[] {
  return clusters.flatMap((cluster) => {
    try {
      const state = clusterStateOf(cluster);
      return [{ ...state, reachableSinceMs: Math.max(state.reachableSinceMs, ledSinceMs) }];
    } catch (error) {
      log.error('a worker cluster cannot be read', { cluster: cluster.metadata.name, error });
      return [];
    }
  });
}

/** Selects reservations whose admission may have become invalid or valid. */
const affectedBy =
  ({ clusterQueues, resourceFlavors, namespaces }: ChangedObjects) =>
  ({ workload, record }: Reservation): boolean =>
    clusterQueues.has(record.clusterQueue) ||
    namespaces.has(workload.namespace) ||
    Object.values(record.flavors).some((flavor) => resourceFlavors.has(flavor));

/** The identities behind the cluster names. */
const identitiesOf = (clusters: readonly DeepReadonly<WorkerCluster>[]): string =>
  JSON.stringify(clusters.map(({ metadata, status }) => [metadata.name, status?.clusterUID]));

/** The clusters that serve only some namespaces. */
const restrictions = (clusters: readonly ClusterState[]): string =>
  JSON.stringify(clusters.flatMap(({ name, servedNamespaces }) => (servedNamespaces === undefined ? [] : [[name, servedNamespaces]])));

const fingerprint = (clusters: readonly ClusterState[]): string =>
  JSON.stringify(
    clusters.map((cluster) => ({ ...cluster, capacity: [...cluster.capacity], otherCapacity: String(cluster.otherCapacity) })),
  );
