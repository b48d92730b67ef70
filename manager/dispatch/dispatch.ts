import type { DeepReadonly, KubeObject, Namespace, WorkObject } from '../../shared/api/kubernetes.ts';
import { leaseNamespaces } from '../../shared/api/fence-leases.ts';
import { WORKER_CLUSTER_FINALIZER, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
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
import { WORKER_CLUSTERS, type WorkerCluster, type WorkerClusterSpec } from '../api/worker-cluster.ts';
import type { DispatchMetrics } from './metrics/dispatch-metrics.ts';
import { ClusterEventReason } from '../api/reasons.ts';
import { keepEnding } from './controller/copy-ending.ts';
import { createClusterRegistry, type ClusterRegistry } from './connection/cluster-registry.ts';
import type { NamespacePolicy } from './writes/copy-writer.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import { createHomeHistory, type HomeHistory } from './lease/home-history.ts';
import { createLeaderTerm } from './lease/leader-term.ts';
import type { CopyEndings } from './controller/mirror-controller-deps.ts';
import { createMirrorController, type MirrorController } from './controller/mirror-controller.ts';
import { chosenLabels, DEFAULT_NAMESPACE_LABELS } from './cluster/namespace-labels.ts';
import { runOrphanCollector } from './controller/orphan-collector.ts';
import { createRemoteCluster } from './connection/remote-cluster.ts';
import type { Tracing } from '../work-kind/copy-options.ts';
import type { NeededObject, ObjectAnswer, ObjectWaiters } from '../api/needed-objects.ts';
import { fencedKindOf } from '../work-kind/kinds.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { recordIn } from './mirror/mirror-group.ts';
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

const NO_WAITERS: ObjectWaiters = { isNeeded: () => false, changed: () => undefined };

const HOME_ANSWER_MS = 5_000;

/** Call before the informers run. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const { kind, home, jobs, workerClusters, flavors, clusterQueues, namespaces, readRecord, clock, random, log, metrics, events, origin } =
    deps;
  const homeUID = (): string | undefined => namespaces.get({ namespace: '', name: 'kube-system' })?.metadata.uid;
  const { keys, renewIntervalMs, objectWaiters = NO_WAITERS } = deps;
  const homeVersion = (): string => [jobs, workerClusters].map((each) => each.lastResourceVersion()).reduce(laterVersion);
  const isGivenUp = (name: string): boolean => workerClusters.get({ namespace: '', name })?.spec.state === 'Lost';
  const homeHistory: HomeHistory = createHomeHistory({
    clock,
    known: homeVersion,
    async ask(signal) {
      const ask = (resource: Resource<KubeObject>): Promise<{ readonly resourceVersion: string }> =>
        withDeadline(clock, HOME_ANSWER_MS, signal, (each) => home.list(resource, { limit: 1, signal: each }));
      const lists = await Promise.all([kind.resource, WORKER_CLUSTERS].map(ask));
      return lists.map(({ resourceVersion }) => resourceVersion).reduce(laterVersion);
    },
    clusters: () => clusters.names().map((name) => ({ name, shown: clusters.get(name)?.hasShownAll() === true, givenUp: isGivenUp(name) })),
    onUnanswered: (error) => log.warn('how far the manager cluster has come cannot be read yet', { error }),
    onMissing: (missing) => metrics.homeRestored.set(missing.length),
    onProblemChanged() {
      const problem = homeHistory.problem();
      if (problem === undefined) log.info('the manager cluster was restored, and all clusters were seen since: Jobs are set going');
      else log.warn(problem.message);
      mirror.wakeAll();
    },
  });
  const term = createLeaderTerm({ origin, keys, homeUID, homeHistory, random });
  const clusters: ClusterRegistry = createClusterRegistry({
    home,
    workerClusters,
    clock,
    log,
    metrics,
    tokenLifeMs: deps.tokenLifeMs,
    secretsNamespace: deps.clusterSecretsNamespace,
    connect: (name, access) => (access === undefined ? home : deps.connect(name, access)),
    homeUID,
    createCluster(workerCluster, client, identify) {
      const {
        metadata: { name, finalizers = [] },
        spec,
      } = workerCluster;
      return createRemoteCluster({
        kind,
        name,
        client,
        metrics,
        identify,
        term,
        ...omitUndefined({ hold: deps.hold }),
        leaseNamespaces: leaseNamespaces(spec.leaseNamespace),
        renewIntervalMs,
        givenUp: () => isGivenUp(name),
        fencedKinds: kind.others.flatMap(({ fence }) => (typeof fence === 'string' ? [] : [fence])),
        shownFence: () => workerClusters.get({ namespace: '', name })?.status?.worker,
        homeRestored: () => homeHistory.problem() !== undefined,
        homeJudged: (signal) => homeHistory.settle(signal),
        inPlace: (localKey, copies) => mirror.inPlace(localKey, copies),
        origin,
        newestAdmissionMs: mirror.newestAdmissionMs(),
        hasJoined: !finalizers.includes(WORKER_CLUSTER_FINALIZER),
        clock,
        random,
        log: log.with({ cluster: name }),
        jobController: spec.jobController ?? WORKER_CONTROLLER_NAME,
        local: spec.local === true,
        namespaces: namespacePolicy(spec, namespaces),
        servedNamespaces: spec.servedNamespaces,
        concurrency: deps.concurrencyPerCluster,
        reconcile: (cluster, localKey) => mirror.reconcileRemote(cluster, localKey),
        retention: () => retentionOf(workerClusters.get({ namespace: '', name })?.spec ?? {}),
        onRetained: (cluster, copy) => void keepEnding(deps.endings, cluster, copy),
        objectWaiters,
        onCopyChanged: (localKey) => mirror.copyChanged(name, localKey),
        memoryBytes: deps.memoryPerClusterBytes,
        onContactChanged() {
          homeHistory.clustersChanged();
          objectWaiters.changed();
          mirror.contactChanged(name);
        },
        onViewChanged() {
          homeHistory.clustersChanged();
          objectWaiters.changed();
          mirror.wakeJobsOn(name);
        },
        onHealthChanged: (cluster) => clusters.report(cluster.name),
        onFault: (reason) => metrics.clusterFaults.inc({ cluster: name, reason }),
        onRestored(error) {
          log.warn('a cluster went back in time, connecting anew', { cluster: name, error });
          metrics.clusterRestores.inc({ cluster: name });
          events.event(WORKER_CLUSTERS, workerCluster, 'Warning', ClusterEventReason.Restored, `${error.message}: it is listed anew`);
          clusters.reconnect(name);
        },
      });
    },
    // A record that was just written may not be in the cache yet.
    heldBy: (name, uid) => new Set([...mirror.heldBy(name, uid), ...deps.admitting(name)]),
    onMembershipChanged: (cluster) => mirror.wakeJobsOf(cluster),
  });
  const world = recordWorld({ clusterQueues, flavors, clusters: workerClusters, namespaces });
  const resolve = (record: AdmissionRecord, namespace: string): string | undefined => unresolved(record, namespace, world);
  const mirror: MirrorController = createMirrorController({
    kind,
    home,
    jobs,
    flavors,
    clusters,
    readRecord,
    resolve,
    homeRestored: () => homeHistory.problem(),
    judgeLoss: (cluster, record, job) => {
      const lost = deps.lostClusters.of(cluster);
      if (lost === undefined) return undefined;
      const queue = clusterQueues.get({ namespace: '', name: record.clusterQueue })?.spec;
      return {
        ...judgeLoss(lost, fencedJob(kind.graceSeconds(job), record, queue, fencedKindOf(kind, job)), deps.workerLostTimeoutMs),
        reportInMs: reportInMs(lost),
      };
    },
    origin,
    clock,
    log,
    events,
    metrics,
    isNoted: deps.isNoted ?? (() => true),
    podFenceImage: deps.podFenceImage,
    ...omitUndefined({ endings: deps.endings, tracing: deps.tracing }),
  });
  const lossChanged = (name: string, before: string, now: string): void => {
    const lost = deps.lostClusters.of(name);
    const inMs = lost === undefined ? 0 : reportInMs(lost);
    // Each time, because the time of a loss may begin anew.
    if (inMs > 0) mirror.lost(name, inMs);
    if (before === now) return;
    if (lost === undefined) mirror.found(name);
    else if (before !== '' || inMs <= 0) mirror.wakeJobsOn(name);
  };
  clusterQueues.addHandler({
    added: () => mirror.wakeAll(),
    updated: (next, previous) => {
      if (JSON.stringify(next.spec) !== JSON.stringify(previous.spec)) mirror.wakeAll();
    },
  });
  workerClusters.addHandler({
    added: (cluster) => lossChanged(cluster.metadata.name, '', lossIn(cluster)),
    deleted: ({ metadata }) => {
      homeHistory.clustersChanged();
      mirror.found(metadata.name);
    },
    updated: (next, previous) => {
      const { name } = next.metadata;
      homeHistory.clustersChanged();
      if (JSON.stringify(next.status?.worker) !== JSON.stringify(previous.status?.worker)) clusters.get(name)?.workerShown();
      lossChanged(name, lossIn(previous), lossIn(next));
      if (JSON.stringify(next.spec.retainFinished) !== JSON.stringify(previous.spec.retainFinished))
        mirror.wakeJobsOf({ name, uid: undefined, localKeys: clusters.get(name)?.localKeys() ?? [] });
    },
  });
  namespaces.addHandler({
    added: ({ metadata }) => mirror.wakeAll(metadata.name),
    updated: ({ metadata }, previous) => {
      if (JSON.stringify(metadata.labels) !== JSON.stringify(previous.metadata.labels)) mirror.wakeAll(metadata.name);
    },
  });
  return {
    clustersReported: (signal) => clusters.probesReported(signal),
    shown: () =>
      homeHistory.problem() === undefined
        ? new Set(
            clusters
              .all()
              .filter((each) => each.contact() === 'Ready')
              .map(({ name }) => name),
          )
        : new Set(),
    heardMs: (cluster) => clusters.get(cluster)?.heardMs(),
    shownCopies: (localKey) =>
      clusters
        .all()
        .flatMap((cluster) => cluster.copiesOf(localKey).flatMap((copy) => shownCopy(kind, copy, cluster.view(localKey)) ?? [])),
    *copiedKeys() {
      for (const cluster of clusters.all()) yield* cluster.localKeys();
    },
    answersAbout: (namespace, object) =>
      new Map(clusters.names().map((name) => [name, clusters.get(name)?.answerAbout(namespace, object) ?? 'Unanswered'])),
    placeOf(localKey) {
      const job = jobs.get(parseKey(localKey));
      const record = job && recordIn(readRecord(job));
      const place = record && recordedPlace(record, clusters.places);
      return place?.kind === 'Known' ? place.cluster : undefined;
    },
    async run(signal) {
      const synced = await allSynced([jobs, workerClusters, flavors, clusterQueues, namespaces], signal);
      if (!synced) return;
      await Promise.all([
        clusters.run(signal),
        mirror.run(signal),
        runOrphanCollector({ clusters: () => clusters.all(), jobs, wake: (key) => mirror.wake(key), clock }, signal),
      ]);
    },
  };
}

/** The fields of a WorkerCluster that judge the Jobs of a lost cluster. */
const lossIn = ({ spec: { state }, status }: DeepReadonly<WorkerCluster>): string =>
  status?.lostSince === undefined ? '' : JSON.stringify([state, status.lostSince, status.worker]);

/** A created namespace gets labels of the same namespace at home. */
function namespacePolicy(
  { namespaces = 'Require', namespaceLabels = DEFAULT_NAMESPACE_LABELS }: DeepReadonly<WorkerClusterSpec>,
  home: Lister<Namespace>,
): NamespacePolicy {
  if (namespaces === 'Require') return { kind: 'Require' };
  return {
    kind: 'Create',
    labelsOf(name) {
      const original = home.get({ namespace: '', name });
      // Without its labels the namespace would be less guarded than at home.
      if (original === undefined) throw new Error(`the labels of namespace ${name} of the manager cluster are not known yet`);
      return chosenLabels(original.metadata.labels ?? {}, namespaceLabels);
    },
  };
}

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
