import type { DeepReadonly, KubeObject, Namespace, WorkObject } from '../../shared/api/kubernetes.ts';
import { leaseNamespaces } from '../../shared/api/fence-leases.ts';
import { WORKER_CLUSTER_FINALIZER, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { LeaseHold } from '../../shared/kube/lease-hold.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import { fencedJob, judgeLoss, reportInMs } from '../api/fenced-off.ts';
import type { LostClusters } from '../api/lost-clusters.ts';
import { laterVersion } from '../api/home-version.ts';
import { recordWorld, unresolved } from '../api/record-resolution.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import type { AdmissionRecord, RecordReader } from '../api/records.ts';
import { retentionOf } from '../api/retention.ts';
import type { ResourceFlavor } from '../api/resource-flavor.ts';
import type { ShownCopy } from '../api/shown-copy.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../api/worker-cluster.ts';
import type { DispatchMetrics } from './metrics/dispatch-metrics.ts';
import { ClusterEventReason } from '../api/reasons.ts';
import { keepEnding } from './controller/copy-ending.ts';
import { type ClusterRegistry, type ClusterRegistryDeps, createClusterRegistry } from './connection/cluster-registry.ts';
import { namespacePolicy } from './writes/namespace-policy.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import { type ClusterShown, createHomeHistory, type HomeHistory } from './lease/home-history.ts';
import { createLeaderTerm, type LeaderTerm } from './lease/leader-term.ts';
import type { CopyEndings } from './controller/mirror-controller-deps.ts';
import { createMirrorController, type MirrorController } from './controller/mirror-controller.ts';
import { runOrphanCollector } from './controller/orphan-collector.ts';
import { createRemoteCluster } from './connection/remote-cluster.ts';
import type { RemoteCluster, RemoteClusterOptions } from './connection/remote-cluster-contract.ts';
import type { Tracing } from '../work-kind/copy-options.ts';
import type { NeededObject, ObjectAnswer, ObjectWaiters } from '../api/needed-objects.ts';
import { fencedKindOf } from '../work-kind/kinds.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { type MirrorGroup, recordIn } from './mirror/mirror-group.ts';
import { recordedPlace } from './mirror/recorded-place.ts';
import { shownCopy } from './mirror/shown-copies.ts';

export type DispatchDeps = {
  /** The kind of work that is dispatched. */
  readonly kind: WorkKind;
  /** The manager cluster. */
  readonly home: KubeClient;
  readonly jobs: Informer<WorkObject>;
  readonly workerClusters: Informer<WorkerCluster>;
  readonly flavors: Informer<ResourceFlavor>;
  readonly clusterQueues: Informer<ClusterQueue>;
  readonly namespaces: Informer<Namespace>;
  readonly readRecord: RecordReader;
  /** Keys of Jobs that are being admitted to a cluster. */
  readonly admitting: (cluster: string) => readonly string[];
  /** Seals the records and versions that worker clusters store for this manager. */
  readonly keys: RecordKeys;
  /** Lifetime of renewed tokens of worker clusters, in milliseconds; 0: no token is renewed. */
  readonly tokenLifeMs: number;
  /** The only namespace for Secrets of WorkerClusters; undefined: any. */
  readonly clusterSecretsNamespace: string | undefined;
  /** Between two renewals of this manager's Lease on a worker cluster. */
  readonly renewIntervalMs: number;
  /** The Lease of the leader election: no write is sent to worker clusters while it lapses. Absent: this manager is the only one. */
  readonly hold?: LeaseHold;
  /** Connects to a worker cluster. */
  readonly connect: (cluster: string, access: ClusterAccess) => KubeClient;
  /** Id of this manager: the value of the origin label on its copies. */
  readonly origin: string;
  /** Concurrent writes to one worker cluster. */
  readonly concurrencyPerCluster: number;
  /** Memory for the cached objects of one worker cluster. */
  readonly memoryPerClusterBytes: number;
  readonly lostClusters: LostClusters;
  /** After this time the Jobs of a lost cluster move; 0: never. */
  readonly workerLostTimeoutMs: number;
  /** Those who wait for objects of clusters; absent: clusters are asked for none. */
  readonly objectWaiters?: ObjectWaiters;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: DispatchMetrics;
  /** Keeps the endings of pods; absent: they are not kept. */
  readonly endings?: CopyEndings;
  /** Absent: no traces are exported. */
  readonly tracing?: Tracing;
  /** Image of the sidecar of pod fences. */
  readonly podFenceImage: string;
  /** Whether the submission intake has stored this Job durably; absent: true of all Jobs. */
  readonly isNoted?: (job: DeepReadonly<WorkObject>) => boolean;
};

/** Mirrors admitted Jobs to their clusters and brings their status home. */
export interface Dispatch {
  /** Works until `signal` aborts. The informers must be running or about to. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the status of each WorkerCluster reflects a probe of this term, or after some seconds. */
  clustersReported(signal: AbortSignal): Promise<void>;
  /**
   * Names of the worker clusters that may be written to and whose copies are all known. Empty while the manager cluster was restored and
   * some clusters have not been seen since.
   */
  shown(): ReadonlySet<string>;
  /** When the watch of a cluster last received an event or bookmark, on the clock's `monotonic`; undefined while it is not watched. */
  heardMs(cluster: string): number | undefined;
  /** The copies of the Jobs of this name, on all clusters. */
  shownCopies(localKey: string): readonly ShownCopy[];
  /** Keys of the Jobs that have copies. */
  copiedKeys(): Iterable<string>;
  /** What each WorkerCluster answers whether it has an object that a Job needs. */
  answersAbout(namespace: string, object: NeededObject): ReadonlyMap<string, ObjectAnswer>;
  /** The WorkerCluster that the record of this Job names; undefined where it names none. */
  placeOf(localKey: string): string | undefined;
}

/** Calls for the changes of one cluster. */
type ClusterChanges = Pick<RemoteClusterOptions, Extract<keyof RemoteClusterOptions, `on${string}Changed` | 'onFault' | 'onRestored'>>;

const NO_WAITERS: ObjectWaiters = { isNeeded: () => false, changed: () => undefined };

const HOME_ANSWER_MS = 5_000;

/** Call before the informers run. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  return new ManagerDispatch(deps);
}

class ManagerDispatch implements Dispatch {
  readonly #deps: DispatchDeps;
  readonly #objectWaiters: ObjectWaiters;
  readonly #homeHistory: HomeHistory;
  readonly #term: LeaderTerm;
  readonly #clusters: ClusterRegistry;
  readonly #mirror: MirrorController;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
    const { objectWaiters = NO_WAITERS, origin, keys, random } = deps;
    this.#objectWaiters = objectWaiters;
    this.#homeHistory = this.#createHomeHistory();
    this.#term = createLeaderTerm({ origin, keys, homeUID: () => this.#homeUID(), homeHistory: this.#homeHistory, random });
    this.#clusters = this.#createClusters();
    this.#mirror = this.#createMirror();
    this.#addHandlers();
  }

  clustersReported(signal: AbortSignal): Promise<void> {
    return this.#clusters.probesReported(signal);
  }

  heardMs(cluster: string): number | undefined {
    return this.#clusters.get(cluster)?.heardMs();
  }

  shown(): ReadonlySet<string> {
    if (this.#homeHistory.problem() !== undefined) return new Set();
    const ready = this.#clusters.all().filter((each) => each.contact() === 'Ready');
    return new Set(ready.map(({ name }) => name));
  }

  shownCopies(localKey: string): readonly ShownCopy[] {
    const { kind } = this.#deps;
    return this.#clusters
      .all()
      .flatMap((cluster) => cluster.copiesOf(localKey).flatMap((copy) => shownCopy(kind, copy, cluster.view(localKey)) ?? []));
  }

  *copiedKeys(): Iterable<string> {
    for (const cluster of this.#clusters.all()) yield* cluster.localKeys();
  }

  answersAbout(namespace: string, object: NeededObject): ReadonlyMap<string, ObjectAnswer> {
    const answer = (name: string): ObjectAnswer => this.#clusters.get(name)?.answerAbout(namespace, object) ?? 'Unanswered';
    return new Map(this.#clusters.names().map((name) => [name, answer(name)]));
  }

  placeOf(localKey: string): string | undefined {
    const job = this.#deps.jobs.get(parseKey(localKey));
    const record = job && recordIn(this.#deps.readRecord(job));
    const place = record && recordedPlace(record, this.#clusters.places);
    return place?.kind === 'Known' ? place.cluster : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { jobs, workerClusters, flavors, clusterQueues, namespaces, clock } = this.#deps;
    const synced = await allSynced([jobs, workerClusters, flavors, clusterQueues, namespaces], signal);
    if (!synced) return;
    const clusters = (): readonly RemoteCluster[] => this.#clusters.all();
    await Promise.all([
      this.#clusters.run(signal),
      this.#mirror.run(signal),
      runOrphanCollector({ clusters, jobs, wake: (key) => this.#mirror.wake(key), clock }, signal),
    ]);
  }

  #homeUID(): string | undefined {
    return this.#deps.namespaces.get({ namespace: '', name: 'kube-system' })?.metadata.uid;
  }

  #workerCluster(name: string): DeepReadonly<WorkerCluster> | undefined {
    return this.#deps.workerClusters.get({ namespace: '', name });
  }

  #isGivenUp(name: string): boolean {
    return this.#workerCluster(name)?.spec.state === 'Lost';
  }

  #createHomeHistory(): HomeHistory {
    const { jobs, workerClusters, clock, log, metrics } = this.#deps;
    const shownOf = (name: string): ClusterShown => ({
      name,
      shown: this.#clusters.get(name)?.hasShownAll() === true,
      givenUp: this.#isGivenUp(name),
    });
    return createHomeHistory({
      clock,
      known: () => [jobs, workerClusters].map((each) => each.lastResourceVersion()).reduce(laterVersion),
      ask: (signal) => this.#askHomeVersion(signal),
      clusters: () => this.#clusters.names().map(shownOf),
      onUnanswered: (error) => log.warn('how far the manager cluster has come cannot be read yet', { error }),
      onMissing: (missing) => metrics.homeRestored.set(missing.length),
      onProblemChanged: () => {
        const problem = this.#homeHistory.problem();
        if (problem === undefined) log.info('the manager cluster was restored, and all clusters were seen since: Jobs are set going');
        else log.warn(problem.message);
        this.#mirror.wakeAll();
      },
    });
  }

  async #askHomeVersion(signal: AbortSignal): Promise<string> {
    const { kind, home, clock } = this.#deps;
    const ask = (resource: Resource<KubeObject>): Promise<{ readonly resourceVersion: string }> =>
      withDeadline(clock, HOME_ANSWER_MS, signal, (each) => home.list(resource, { limit: 1, signal: each }));
    const lists = await Promise.all([kind.resource, WORKER_CLUSTERS].map(ask));
    return lists.map(({ resourceVersion }) => resourceVersion).reduce(laterVersion);
  }

  #createClusters(): ClusterRegistry {
    const { home, clusterSecretsNamespace, connect, admitting } = this.#deps;
    return createClusterRegistry({
      ...this.#deps,
      secretsNamespace: clusterSecretsNamespace,
      connect: (name, access) => (access === undefined ? home : connect(name, access)),
      homeUID: () => this.#homeUID(),
      createCluster: (...cluster) => this.#createCluster(...cluster),
      // A record that was just written may not be in the cache yet.
      heldBy: (name, uid) => new Set([...this.#mirror.heldBy(name, uid), ...admitting(name)]),
      onMembershipChanged: (cluster) => this.#mirror.wakeJobsOf(cluster),
    });
  }

  #createCluster(...[workerCluster, client, identify]: Parameters<ClusterRegistryDeps['createCluster']>): RemoteCluster {
    const { spec } = workerCluster;
    const { name, finalizers = [] } = workerCluster.metadata;
    const { kind, metrics, origin, hold, renewIntervalMs, namespaces, endings, clock, random, log } = this.#deps;
    const { concurrencyPerCluster: concurrency, memoryPerClusterBytes: memoryBytes } = this.#deps;
    const shared = { kind, metrics, origin, renewIntervalMs, concurrency, memoryBytes, clock, random, ...omitUndefined({ hold }) };
    return createRemoteCluster({
      ...shared,
      name,
      client,
      identify,
      term: this.#term,
      leaseNamespaces: leaseNamespaces(spec.leaseNamespace),
      givenUp: () => this.#isGivenUp(name),
      fencedKinds: kind.others.flatMap(({ fence }) => (typeof fence === 'string' ? [] : [fence])),
      shownFence: () => this.#workerCluster(name)?.status?.worker,
      homeRestored: () => this.#homeHistory.problem() !== undefined,
      homeJudged: (signal) => this.#homeHistory.settle(signal),
      inPlace: (localKey, copies) => this.#mirror.inPlace(localKey, copies),
      newestAdmissionMs: this.#mirror.newestAdmissionMs(),
      hasJoined: !finalizers.includes(WORKER_CLUSTER_FINALIZER),
      log: log.with({ cluster: name }),
      jobController: spec.jobController ?? WORKER_CONTROLLER_NAME,
      local: spec.local === true,
      namespaces: namespacePolicy(spec, namespaces),
      servedNamespaces: spec.servedNamespaces,
      reconcile: (cluster, localKey) => this.#mirror.reconcileRemote(cluster, localKey),
      retention: () => retentionOf(this.#workerCluster(name)?.spec ?? {}),
      onRetained: (cluster, copy) => void keepEnding(endings, cluster, copy),
      objectWaiters: this.#objectWaiters,
      ...this.#changesOf(workerCluster),
    });
  }

  #changesOf(workerCluster: DeepReadonly<WorkerCluster>): ClusterChanges {
    const { events, log, metrics } = this.#deps;
    const { name } = workerCluster.metadata;
    const changed = (wake: () => void): void => {
      this.#homeHistory.clustersChanged();
      this.#objectWaiters.changed();
      wake();
    };
    return {
      onCopyChanged: (localKey) => this.#mirror.copyChanged(name, localKey),
      onContactChanged: () => changed(() => this.#mirror.contactChanged(name)),
      onViewChanged: () => changed(() => this.#mirror.wakeJobsOn(name)),
      onHealthChanged: (cluster) => this.#clusters.report(cluster.name),
      onFault: (reason) => metrics.clusterFaults.inc({ cluster: name, reason }),
      onRestored: (error) => {
        log.warn('a cluster went back in time, connecting anew', { cluster: name, error });
        metrics.clusterRestores.inc({ cluster: name });
        events.event(WORKER_CLUSTERS, workerCluster, 'Warning', ClusterEventReason.Restored, `${error.message}: it is listed anew`);
        this.#clusters.reconnect(name);
      },
    };
  }

  #createMirror(): MirrorController {
    const { isNoted = () => true, workerClusters } = this.#deps;
    const world = recordWorld({ ...this.#deps, clusters: workerClusters });
    return createMirrorController({
      ...this.#deps,
      clusters: this.#clusters,
      resolve: (record, namespace) => unresolved(record, namespace, world),
      homeRestored: () => this.#homeHistory.problem(),
      judgeLoss: (...loss) => this.#judgeLoss(...loss),
      isNoted,
    });
  }

  #judgeLoss(cluster: string, record: AdmissionRecord, job: DeepReadonly<WorkObject>): MirrorGroup['loss'] {
    const { kind, lostClusters, clusterQueues, workerLostTimeoutMs } = this.#deps;
    const lost = lostClusters.of(cluster);
    if (lost === undefined) return undefined;
    const queue = clusterQueues.get({ namespace: '', name: record.clusterQueue })?.spec;
    return {
      ...judgeLoss(lost, fencedJob(kind.graceSeconds(job), record, queue, fencedKindOf(kind, job)), workerLostTimeoutMs),
      reportInMs: reportInMs(lost),
    };
  }

  #addHandlers(): void {
    const { clusterQueues, workerClusters, namespaces } = this.#deps;
    const mirror = this.#mirror;
    clusterQueues.addHandler({
      added: () => mirror.wakeAll(),
      updated: (next, previous) => {
        if (JSON.stringify(next.spec) !== JSON.stringify(previous.spec)) mirror.wakeAll();
      },
    });
    workerClusters.addHandler({
      added: (cluster) => this.#lossChanged(cluster.metadata.name, '', lossIn(cluster)),
      deleted: ({ metadata }) => {
        this.#homeHistory.clustersChanged();
        mirror.found(metadata.name);
      },
      updated: (next, previous) => this.#workerClusterUpdated(next, previous),
    });
    namespaces.addHandler({
      added: ({ metadata }) => mirror.wakeAll(metadata.name),
      updated: ({ metadata }, previous) => {
        if (JSON.stringify(metadata.labels) !== JSON.stringify(previous.metadata.labels)) mirror.wakeAll(metadata.name);
      },
    });
  }

  #workerClusterUpdated(next: DeepReadonly<WorkerCluster>, previous: DeepReadonly<WorkerCluster>): void {
    const { name } = next.metadata;
    const cluster = this.#clusters.get(name);
    this.#homeHistory.clustersChanged();
    if (JSON.stringify(next.status?.worker) !== JSON.stringify(previous.status?.worker)) cluster?.workerShown();
    this.#lossChanged(name, lossIn(previous), lossIn(next));
    if (JSON.stringify(next.spec.retainFinished) !== JSON.stringify(previous.spec.retainFinished))
      this.#mirror.wakeJobsOf({ name, uid: undefined, localKeys: cluster?.localKeys() ?? [] });
  }

  #lossChanged(name: string, before: string, now: string): void {
    const lost = this.#deps.lostClusters.of(name);
    const inMs = lost === undefined ? 0 : reportInMs(lost);
    // Each time, because the time of a loss may begin anew.
    if (inMs > 0) this.#mirror.lost(name, inMs);
    if (before === now) return;
    if (lost === undefined) this.#mirror.found(name);
    else if (before !== '' || inMs <= 0) this.#mirror.wakeJobsOn(name);
  }
}

/** The fields of a WorkerCluster that judge the Jobs of a lost cluster. */
const lossIn = ({ spec: { state }, status }: DeepReadonly<WorkerCluster>): string =>
  status?.lostSince === undefined ? '' : JSON.stringify([state, status.lostSince, status.worker]);

/** False when `signal` aborted first. */
async function allSynced(informers: readonly Pick<Informer<WorkObject>, 'waitForSync'>[], signal: AbortSignal): Promise<boolean> {
  try {
    await Promise.all(informers.map((informer) => informer.waitForSync(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
