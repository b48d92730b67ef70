import type { DeepReadonly, KubeObject, Namespace, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { UNLIMITED } from '../../api/amount.ts';
import type { ClusterQueue, PlacementPolicy } from '../../api/cluster-queue.ts';
import type { Cohort } from '../../api/cohort.ts';
import type { LimitRange } from '../../api/limit-range.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { RuntimeClass } from '../../api/runtime-class.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import type { DecisionRecorder } from '../decision-log/decision-recorder.ts';
import type { SetupObjects } from '../decision-log/logged-object.ts';
import type { FairSharingConfig } from '../fair-sharing/fair-strategy.ts';
import type { PendingQueues } from '../queues/pending-queues.ts';
import { type ClusterState, clusterStateOf } from '../quota/cluster-state.ts';
import { type ChangedObjects, changeOf, noChangedObjects } from '../snapshot/setup-changes.ts';
import { buildQueueingSetup, type QueueingObjects } from '../snapshot/snapshot.ts';
import { NO_PRIORITY_CLASSES, type PriorityClasses, priorityClassesOf, type PriorityWish, resolvePriority } from '../workload/priority.ts';
import type { Reservation } from '../workload/reservation.ts';
import type { Workload } from '../workload/workload.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { EvictionController } from './eviction-controller.ts';
import type { JobWatcher } from './job-watcher.ts';

export type SetupWatcherDeps = {
  readonly kind: WorkKind;
  readonly informers: SetupInformers & { readonly jobs: Pick<AdmissionInformers['jobs'], 'get'> };
  readonly cache: Pick<AdmissionCache, 'queueing' | 'setQueueing' | 'clusters' | 'setClusters' | 'reprioritize'>;
  readonly queues: Pick<PendingQueues, 'usageChanged' | 'wakeAll'>;
  readonly watcher: Pick<JobWatcher, 'adjust' | 'expectAnew' | 'requeue'>;
  readonly evictionController: Pick<EvictionController, 'recheckAdmissions' | 'lookForLosses'>;
  readonly recorder: Pick<DecisionRecorder, 'setup'> | undefined;
  /** How ClusterQueues share what their cohorts lend; undefined: by priority and age. */
  readonly fairSharing: FairSharingConfig | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it; undefined: LeastRoom. */
  readonly defaultPlacement?: PlacementPolicy | undefined;
  /** Has the scheduler run a pass, which applies the changes first. */
  readonly wake: () => void;
  /** Called when a change was applied that may alter decisions or what queues report. */
  readonly onApplied: () => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
};

/**
 * Observes the setup of admission: ClusterQueues, LocalQueues, flavors, Cohorts, namespaces, priority classes, LimitRanges, RuntimeClasses
 * and WorkerClusters. Changes are collected, and applied to cache, queues and reservations before the next scheduling cycle.
 */
export interface SetupWatcher {
  /** Adds handlers to the informers; call it before they run, and after the handlers of the watcher of Jobs are added. */
  addHandlers(): void;
  /** Priority classes as they were applied last. */
  priorityClasses(): PriorityClasses;
  /** Applies what has changed since the last call. The cost follows from what has changed. */
  apply(): void;
  /** Applies all of the setup: an earlier leader may have decided on another. Start timeouts count from now. */
  lead(): void;
}

/** The informers on the manager cluster that admission reads. */
export type AdmissionInformers = {
  readonly jobs: Informer<WorkObject>;
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

/** The informers of the setup, without the Jobs, as far as the setup is read. */
export type SetupInformers = {
  readonly [K in keyof Omit<AdmissionInformers, 'jobs'>]: NonNullable<AdmissionInformers[K]> extends Informer<infer T>
    ? Pick<Informer<T>, 'list' | 'addHandler'>
    : never;
};

export const queueingObjects = (informers: SetupInformers): QueueingObjects => ({
  clusterQueues: informers.clusterQueues.list(),
  localQueues: informers.localQueues.list(),
  resourceFlavors: informers.resourceFlavors.list(),
  cohorts: informers.cohorts.list(),
  namespaces: informers.namespaces.list(),
});

export const setupObjects = (informers: SetupInformers): SetupObjects => ({
  ...queueingObjects(informers),
  workerClusters: informers.workerClusters.list(),
  workloadPriorityClasses: informers.workloadPriorityClasses.list(),
  priorityClasses: informers.priorityClasses.list(),
});

export const createSetupWatcher = (deps: SetupWatcherDeps): SetupWatcher => new Watcher(deps);

class Watcher implements SetupWatcher {
  readonly #deps: SetupWatcherDeps;
  readonly #stale = { queueing: true, clusters: true, priorities: true };
  /** Namespaces and RuntimeClasses whose pods have other requests now. */
  readonly #adjusted = { namespaces: new Set<string>(), runtimeClasses: new Set<string>() };
  #changed = noChangedObjects();
  /** The queues have never been set up, or some changes are not known. */
  #allChanged = true;
  #identities = '';
  /** This leader has not observed earlier progress of Jobs, so start timeouts count from here. */
  #ledSinceMs = 0;
  #priorityClasses = NO_PRIORITY_CLASSES;

  readonly priorityClasses = (): PriorityClasses => this.#priorityClasses;

  constructor(deps: SetupWatcherDeps) {
    this.#deps = deps;
  }

  addHandlers(): void {
    const { informers, wake } = this.#deps;
    const stale = (part: 'queueing' | 'clusters' | 'priorities') => (): void => {
      this.#stale[part] = true;
      wake();
    };
    onChange(informers.clusterQueues, ({ spec }) => spec, this.#noting('clusterQueues'));
    onChange(informers.localQueues, ({ spec }) => spec, this.#noting('localQueues'));
    onChange(informers.resourceFlavors, ({ spec }) => spec, this.#noting('resourceFlavors'));
    onChange(informers.cohorts, ({ spec }) => spec, this.#noting('cohorts'));
    onChange(informers.namespaces, ({ metadata }) => metadata.labels, this.#noting('namespaces'));
    onChange(informers.workloadPriorityClasses, ({ value }) => value, stale('priorities'));
    onChange(informers.priorityClasses, ({ value, globalDefault }) => [value, globalDefault], stale('priorities'));
    const clusterParts = ({ metadata, spec, status }: DeepReadonly<WorkerCluster>): unknown => [
      metadata.labels,
      metadata.deletionTimestamp,
      spec,
      status,
    ];
    onChange(informers.workerClusters, clusterParts, stale('clusters'));
    const adjusts = (names: Set<string>, name: string): void => {
      names.add(name);
      wake();
    };
    const { namespaces, runtimeClasses } = this.#adjusted;
    if (informers.limitRanges !== undefined)
      onChange(
        informers.limitRanges,
        ({ spec }) => spec,
        ({ metadata }) => adjusts(namespaces, metadata.namespace),
      );
    if (informers.runtimeClasses !== undefined)
      onChange(
        informers.runtimeClasses,
        ({ overhead }) => overhead,
        ({ metadata }) => adjusts(runtimeClasses, metadata.name),
      );
  }

  lead(): void {
    this.#stale.queueing = true;
    this.#stale.clusters = true;
    this.#allChanged = true;
    this.#ledSinceMs = this.#deps.clock.now();
    this.apply();
  }

  readonly apply = (): void => {
    const stale = this.#stale;
    this.#adjustRequests();
    if (stale.priorities || stale.queueing || stale.clusters) this.#deps.recorder?.setup();
    if (stale.priorities) this.#applyPriorities();
    if (stale.queueing) this.#applyQueueing();
    if (stale.clusters) this.#applyClusters();
  };

  #noting(kind: keyof ChangedObjects) {
    return ({ metadata }: DeepReadonly<KubeObject>): void => {
      this.#stale.queueing = true;
      this.#changed[kind].add(kind === 'localQueues' ? `${metadata.namespace}/${metadata.name}` : metadata.name);
      this.#deps.wake();
    };
  }

  /** Examines pending Jobs in namespaces with changed LimitRanges, or with changed RuntimeClasses. */
  #adjustRequests(): void {
    const { kind, watcher, informers, onApplied } = this.#deps;
    const { namespaces, runtimeClasses } = this.#adjusted;
    if (namespaces.size + runtimeClasses.size === 0) return;
    const [concernedNamespaces, concernedClasses] = [new Set(namespaces), new Set(runtimeClasses)];
    watcher.adjust((key) => {
      const job = informers.jobs.get(parseKey(key));
      const isConcerned =
        job &&
        (concernedNamespaces.has(job.metadata.namespace) ||
          kind.podSets(job).some(({ template }) => concernedClasses.has(template.spec?.runtimeClassName ?? '')));
      return isConcerned === true ? job : undefined;
    });
    namespaces.clear();
    runtimeClasses.clear();
    onApplied();
  }

  #applyPriorities(): void {
    const { informers, watcher, cache } = this.#deps;
    this.#stale.priorities = false;
    const before = this.#priorityClasses;
    const next = priorityClassesOf(informers.workloadPriorityClasses.list(), informers.priorityClasses.list());
    this.#priorityClasses = next;
    const concerned = ({ priorityWish }: Workload): boolean => classValue(priorityWish, before) !== classValue(priorityWish, next);
    watcher.requeue(concerned);
    cache.reprioritize(concerned);
  }

  #applyQueueing(): void {
    const { informers, fairSharing, defaultPlacement, cache, queues, watcher, evictionController, onApplied } = this.#deps;
    this.#stale.queueing = false;
    const before = cache.queueing();
    const next = buildQueueingSetup(queueingObjects(informers), fairSharing, defaultPlacement);
    const { tried, requeued } = changeOf(this.#changed, before, next);
    cache.setQueueing(next);
    queues.usageChanged();
    evictionController.recheckAdmissions(this.#allChanged ? undefined : affectedBy(this.#changed));
    if (this.#allChanged) {
      queues.wakeAll();
      watcher.requeue();
    } else {
      queues.wakeAll(tried);
      if (requeued !== undefined) watcher.requeue(requeued);
    }
    if (before.backfills !== next.backfills) watcher.expectAnew();
    this.#allChanged = false;
    this.#changed = noChangedObjects();
    evictionController.lookForLosses();
    onApplied();
  }

  #applyClusters(): void {
    const { informers, cache, queues, watcher, evictionController, onApplied, log } = this.#deps;
    this.#stale.clusters = false;
    evictionController.lookForLosses();
    const clusters = informers.workerClusters.list();
    const identities = identitiesOf(clusters);
    if (identities !== this.#identities) evictionController.recheckAdmissions();
    this.#identities = identities;
    const next = clusterStates(clusters, this.#ledSinceMs, log);
    const previous = cache.clusters();
    if (fingerprint(next) === fingerprint(previous)) return;
    cache.setClusters(next);
    if (restrictions(next) !== restrictions(previous)) watcher.requeue();
    queues.wakeAll();
    onApplied();
  }
}

/** Calls back when an object is added, deleted, or changed in what `relevant` selects; own status writes are ignored. */
function onChange<T extends KubeObject>(
  informer: Pick<Informer<T>, 'addHandler'>,
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

/** Amounts are in maps, and unlimited ones are no JSON. */
const fingerprint = (clusters: readonly ClusterState[]): string =>
  JSON.stringify(clusters, (_, value: unknown) => (value instanceof Map ? [...value] : value === UNLIMITED ? String(value) : value));
