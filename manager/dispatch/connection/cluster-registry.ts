import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import type { KubeClient, ReadClient, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../../shared/kube/controller.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { createWorkqueue, type Workqueue } from '../../../shared/kube/workqueue.ts';
import type { ClusterAccess } from '../../../shared/kube/cluster-access.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { forgetSeries } from '../../../shared/runtime/forget-series.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import { ClusterCondition, WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';
import { createReadyGauge, type ReadyGauge } from '../metrics/ready-gauge.ts';
import { judgeIdentities, type IdentityProblem } from '../cluster/cluster-identities.ts';
import type { ClusterHealth } from '../cluster/cluster-health.ts';
import { clusterStatus, type ConfigurationProblem, type Finding } from '../cluster/cluster-status.ts';
import type { ClusterView } from '../mirror/mirror-group.ts';
import { createClusterRemoval, type ClusterRemoval } from '../cluster/cluster-removal.ts';
import { type Access, type AccessReader, createAccessReader } from './access-reader.ts';
import { type ClusterIdentityRegister, createClusterIdentityRegister } from './cluster-identity-register.ts';
import { createInitialProbes, type InitialProbes } from './initial-probes.ts';
import { createLossCount, type LossCount } from '../cluster/loss-count.ts';
import { mergePatchBetween, sameJson } from '../../api/json-diff.ts';
import type { RemovalJudgement, WhatRemains } from '../cluster/judge-removal.ts';
import { withoutRemoval, withRemoval } from '../cluster/removal-status.ts';
import type { KnownPlaces } from '../mirror/recorded-place.ts';
import { unconnectedView } from '../mirror/unconnected-view.ts';
import type { RemoteCluster } from './remote-cluster-contract.ts';
import { renewableAccess, type RenewableAccess } from '../token/renewable-access.ts';
import { createTokenRenewal, type TokenRenewal } from '../token/token-renewal.ts';

/** The worker clusters, connected as their WorkerClusters say. */
export interface ClusterRegistry {
  get(name: string): RemoteCluster | undefined;
  all(): readonly RemoteCluster[];
  /** Names of all WorkerClusters, connected or not. */
  names(): readonly string[];
  /** A WorkerCluster, connected or not, as seen by a Job that was last admitted at `sinceMs`; undefined when there is none of this name. */
  view(name: string, localKey: string, sinceMs: number | undefined): ClusterView | undefined;
  readonly places: KnownPlaces;
  /** The health of a cluster has changed: its WorkerCluster is to be updated. */
  report(name: string): void;
  /** A Job has left a cluster, or a copy has gone: WorkerClusters that are being deleted may wait for this. */
  jobLeft(): void;
  /** Reconnects to a cluster and drops all that is cached of it. */
  reconnect(name: string): void;
  /** See {@link InitialProbes.reported}. */
  probesReported(signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export type ClusterRegistryDeps = {
  readonly home: ReadClient & StatusClient & WriteClient;
  readonly workerClusters: Informer<WorkerCluster>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: DispatchMetrics;
  /** Life of renewed tokens, in milliseconds; 0: no token is renewed. */
  readonly tokenLifeMs: number;
  /** The only namespace for Secrets of WorkerClusters; undefined: any. */
  readonly secretsNamespace: string | undefined;
  /** Makes the connection; `access` is undefined for the manager cluster itself. */
  readonly connect: (cluster: string, access: ClusterAccess | undefined) => KubeClient;
  readonly createCluster: (
    cluster: DeepReadonly<WorkerCluster>,
    client: KubeClient,
    identify: (uid: string) => Promise<IdentityProblem | undefined>,
  ) => RemoteCluster;
  /** The UID of the namespace kube-system of the manager cluster; undefined while it is not known. */
  readonly homeUID: () => string | undefined;
  /**
   * Keys of the Jobs whose record names a cluster, by name or UID, and of those that may be anywhere; without Jobs that are proven to rest.
   */
  readonly heldBy: (name: string, uid: string | undefined) => Iterable<string>;
  /** A cluster was added or removed. For a removed cluster, `uid` and `localKeys` are its last known state. */
  readonly onMembershipChanged: (cluster: {
    readonly name: string;
    readonly uid: string | undefined;
    readonly localKeys: Iterable<string>;
  }) => void;
};

type Running = {
  readonly fingerprint: string;
  readonly access: RenewableAccess | undefined;
  readonly cluster: RemoteCluster;
  readonly stop: () => Promise<void>;
};
/** Where two managers share a manager cluster, too, the other one overwrites this status at once. */
const OTHER_MANAGER_REPORT_INTERVAL_MS = 10_000;
const CONCURRENCY = 8;
/** WorkerClusters are reconciled once for all Jobs that leave within this time. */
const LEFT_WINDOW_MS = 1_000;
/** Least pause between two reconnects, for a cluster that keeps appearing restored. */
const RECONNECT_PAUSE_MS = 60_000;

/** Call before the informer runs. */
export function createClusterRegistry(deps: ClusterRegistryDeps): ClusterRegistry {
  return new Registry(deps);
}

class Registry implements ClusterRegistry {
  readonly #deps: ClusterRegistryDeps;
  readonly #queue: Workqueue;
  readonly #running = new Map<string, Running>();
  readonly #connectedBefore = new Set<string>();
  readonly #problems = new Map<string, ConfigurationProblem>();
  readonly #ready: ReadyGauge;
  readonly #access: AccessReader;
  readonly #identities: ClusterIdentityRegister;
  /** The last or the next reconnect of each cluster, on the clock's `monotonic`. */
  readonly #reconnects = new Map<string, { readonly atMs: number; readonly isDue: boolean }>();

  readonly #removal: ClusterRemoval;
  readonly #tokens: TokenRenewal;
  readonly #first: InitialProbes;
  readonly #losses: LossCount;
  /** WorkerClusters being deleted whose next reconcile is scheduled. */
  readonly #scheduled = new Set<string>();
  readonly places: KnownPlaces;
  /** When the status of a cluster last reported another manager. */
  readonly #otherManagerReportedMs = new Map<string, number>();

  constructor(deps: ClusterRegistryDeps) {
    this.#deps = deps;
    const { home, clock, log, metrics } = deps;
    this.#tokens = createTokenRenewal({ ...deps, lifeMs: deps.tokenLifeMs, onRenewed: (name) => this.#queue.add(name) });
    this.#access = createAccessReader(home, deps.secretsNamespace, this.#tokens);
    this.#identities = createClusterIdentityRegister({
      get: (name) => this.#workerCluster(name),
      list: () => deps.workerClusters.list(),
    });
    this.#removal = createClusterRemoval({ home, clock, log, cached: (name) => this.#workerCluster(name) });
    this.#ready = createReadyGauge(metrics);
    this.#losses = createLossCount(deps.clock);
    this.#first = createInitialProbes(clock, () => this.names());
    this.places = {
      has: (name) => this.#workerCluster(name) !== undefined,
      uidOf: this.#identities.uidOf,
      nameOf: this.#identities.nameOf,
    };
    const rateLimit = { baseDelayMs: 500, maxDelayMs: 30_000 };
    this.#queue = createWorkqueue({ name: 'worker-clusters', clock, rateLimit, metrics: metrics.workqueues.of('worker-clusters') });
    const changed = ({ metadata }: { readonly metadata: { readonly name: string } }): void => {
      this.#identities.workerClustersChanged();
      this.#queue.add(metadata.name);
    };
    deps.workerClusters.addHandler({ added: changed, updated: changed, deleted: changed });
  }

  get(name: string): RemoteCluster | undefined {
    return this.#running.get(name)?.cluster;
  }

  all(): readonly RemoteCluster[] {
    return [...this.#running.values()].map(({ cluster }) => cluster);
  }

  names(): readonly string[] {
    return this.#deps.workerClusters.list().map(({ metadata }) => metadata.name);
  }

  view(name: string, localKey: string, sinceMs: number | undefined): ClusterView | undefined {
    const workerCluster = this.#workerCluster(name);
    return workerCluster && this.#view(workerCluster, localKey, sinceMs);
  }

  report(name: string): void {
    this.#queue.add(name);
  }

  jobLeft(): void {
    for (const name of this.#removal.inFlight()) {
      if (this.#scheduled.has(name)) continue;
      this.#scheduled.add(name);
      this.#queue.addAfter(name, LEFT_WINDOW_MS);
    }
  }

  reconnect(name: string): void {
    const nowMs = this.#deps.clock.monotonic();
    const atMs = Math.max(nowMs, (this.#reconnects.get(name)?.atMs ?? Number.NEGATIVE_INFINITY) + RECONNECT_PAUSE_MS);
    this.#reconnects.set(name, { atMs, isDue: true });
    this.#queue.addAfter(name, atMs - nowMs);
  }

  probesReported(signal: AbortSignal): Promise<void> {
    return this.#first.reported(signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, () => this.#queue.shutDown());
    const reconcile = (name: string): Promise<ReconcileResult> => this.#reconcile(name, signal);
    await Promise.all([
      runController({ name: 'worker-clusters', queue: this.#queue, concurrency: CONCURRENCY, reconcile, log: this.#deps.log }),
      this.#tokens.run(signal),
    ]);
    await Promise.all([...this.#running.values()].map((each) => each.stop()));
  }

  #view(workerCluster: DeepReadonly<WorkerCluster>, localKey: string, sinceMs: number | undefined): ClusterView {
    const { name } = workerCluster.metadata;
    const running = this.#running.get(name);
    const leaving = workerCluster.metadata.deletionTimestamp !== undefined;
    if (running !== undefined) return { ...running.cluster.view(localKey, sinceMs), leaving };
    return { ...unconnectedView(workerCluster.spec, localKey, this.#problems.has(name) ? 'Lost' : 'Connecting'), leaving };
  }

  /**
   * 1. Gone: stop. 2. Read its access. 3. Connect when the access is new, or renew its credentials. 4. Let go of it when it is deleted. 5.
   *    Write its status.
   */
  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const workerCluster = this.#workerCluster(name);
    this.#scheduled.delete(name);
    if (workerCluster === undefined) {
      this.#removal.forget(name);
      this.#first.forget(name);
      this.#losses.forget(name);
      this.#problems.delete(name);
      this.#access.forget(name);
      this.#reconnects.delete(name);
      this.#tokens.forget(name);
      this.#ready.set(name, undefined);
      this.#otherManagerReportedMs.delete(name);
      await this.#stop(name);
      this.#connectedBefore.delete(name);
      const { workqueues, ...series } = this.#deps.metrics;
      workqueues.forget(name);
      await forgetSeries(Object.values(series), 'cluster', new Set([name]));
      // A cluster that never ran counts as removed, too.
      return this.#deps.onMembershipChanged({ name, uid: undefined, localKeys: [] }); // 1
    }
    const access = await this.#access.read(workerCluster, signal); // 2
    if (access.kind === 'Problem') {
      this.#problems.set(name, access.problem);
      await this.#stop(name);
    } else if (this.#running.get(name)?.fingerprint !== access.fingerprint || this.#isReconnectDue(name)) {
      await this.#stop(name);
      this.#start(workerCluster, access, signal); // 3
    } else if (access.worker !== undefined) {
      this.#running.get(name)?.access?.renew(access.worker.credentials); // 3
    }
    const hasChanged = !this.#removal.isUnderWay(name);
    const removal = await this.#removal.advance(workerCluster, () => this.#remains(name), signal); // 4
    if (hasChanged && this.#removal.isUnderWay(name)) {
      // Jobs that rest there are to leave the cluster, too.
      this.#deps.onMembershipChanged({ name, uid: this.#identities.uidOf(name), localKeys: this.get(name)?.localKeys() ?? [] });
    }
    const heldBackMs = await this.#writeStatus(workerCluster, removal, signal); // 5
    return { requeueAfterMs: Math.min(heldBackMs ?? Number.POSITIVE_INFINITY, this.#access.nextReadMs(access, this.#deps.clock.now())) };
  }

  #isReconnectDue(name: string): boolean {
    const anew = this.#reconnects.get(name);
    return anew?.isDue === true && anew.atMs <= this.#deps.clock.monotonic();
  }

  #start(workerCluster: DeepReadonly<WorkerCluster>, access: Access & { kind: 'Access' }, signal: AbortSignal): void {
    const { name } = workerCluster.metadata;
    const { connect, createCluster, log, metrics, onMembershipChanged } = this.#deps;
    // The token may already be replaced in the Secret, which the next regular read would see late.
    const renewable =
      access.worker &&
      renewableAccess(name, access.worker, () => {
        this.#tokens.refused(name);
        this.#queue.add(name);
      });
    const client = connect(name, renewable);
    this.#tokens.connected(name, renewable && client);
    this.#problems.delete(name);
    const anew = this.#reconnects.get(name);
    if (anew !== undefined) this.#reconnects.set(name, { ...anew, isDue: false });
    const stopped = new AbortController();
    const until = AbortSignal.any([signal, stopped.signal]);
    const cluster = createCluster(workerCluster, client, (uid) => this.#identify(name, uid, until));
    const done = cluster.run(until).catch((error: unknown) => {
      log.error('a cluster stopped working', { cluster: name, error });
    });
    const stop = async (): Promise<void> => {
      stopped.abort();
      await done;
      if (renewable !== undefined) await client.close();
    };
    this.#running.set(name, { fingerprint: access.fingerprint, access: renewable, cluster, stop });
    // The first connection is no reconnect, but creates the series, so that rates of zero can be queried.
    metrics.reconnects.inc({ cluster: name }, this.#connectedBefore.has(name) ? 1 : 0);
    this.#connectedBefore.add(name);
    log.info('connecting to a cluster', { cluster: name });
    onMembershipChanged({ name, uid: undefined, localKeys: [] });
  }

  async #stop(name: string): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    this.#running.delete(name);
    this.#tokens.connected(name, undefined);
    this.#deps.log.info('disconnecting from a cluster', { cluster: name });
    await running.stop();
    const uid = this.#identities.uidOf(name);
    this.#identities.set(name, undefined);
    this.#deps.onMembershipChanged({ name, uid, localKeys: running.cluster.localKeys() });
  }

  /**
   * Records the identity of a cluster in its WorkerCluster before the cluster is used: the next leader must notice when it is another
   * cluster.
   */
  async #identify(name: string, uid: string, signal: AbortSignal): Promise<IdentityProblem | undefined> {
    const homeUID = this.#deps.homeUID();
    if (homeUID === undefined)
      return { reason: 'IdentityUnknown', message: 'the identity of the manager cluster is not known: it has no namespace kube-system' };
    const used = this.#identities.get(name)?.used;
    this.#identities.set(name, { read: uid, used });
    const problem = judgeIdentities(this.#identities.known(), homeUID).get(name);
    if (problem !== undefined) return problem;
    this.#identities.set(name, { read: uid, used: uid });
    const workerCluster = this.#workerCluster(name);
    try {
      if (workerCluster !== undefined) await this.#removal.retain(workerCluster, signal);
      if (workerCluster?.status?.clusterUID === uid) return undefined;
      await this.#patchStatus(name, { clusterUID: uid }, signal);
      return undefined;
    } catch (error) {
      this.#identities.set(name, { read: uid, used });
      this.#deps.log.warn('the identity of a cluster cannot be recorded yet', { cluster: name, error });
      const why = error instanceof Error ? error.message : String(error);
      return { reason: 'IdentityUnknown', message: `its identity and finalizer cannot be written into its WorkerCluster: ${why}` };
    }
  }

  #workerCluster(name: string): DeepReadonly<WorkerCluster> | undefined {
    return this.#deps.workerClusters.get({ namespace: '', name });
  }

  async #patchStatus(name: string, patch: unknown, signal: AbortSignal): Promise<void> {
    const body = { status: patch };
    const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
    await this.#deps.home.patchStatus(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body }, options);
  }

  #remains(name: string): WhatRemains {
    const { contact } = this.get(name)?.health() ?? {};
    const copies = contact === 'Connecting' ? 'Unread' : contact === 'Ready' ? this.get(name)?.localKeys().size : undefined;
    return { jobs: [...this.#deps.heldBy(name, this.#identities.uidOf(name))], copies };
  }

  /** Writes the status, or returns the milliseconds until it may be written. */
  async #writeStatus(
    workerCluster: DeepReadonly<WorkerCluster>,
    removal: RemovalJudgement | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, metrics } = this.#deps;
    const { name, generation } = workerCluster.metadata;
    const before = withoutRemoval(workerCluster.status);
    const finding = this.#finding(name);
    const putOffMs = this.#first.putOffMs(name, before, finding);
    const told =
      putOffMs === undefined
        ? (clusterStatus(before, finding, this.#losses.after(name, before, finding), generation, clock.now()) ?? before)
        : before;
    this.#ready.set(name, findCondition(told?.conditions, ClusterCondition.Ready));
    metrics.copies.set({ cluster: name }, this.get(name)?.localKeys().size ?? 0);
    const status = withRemoval(told, removal, workerCluster.status, generation, clock.now());
    if (removal?.kind === 'Goes' || sameJson(status ?? {}, workerCluster.status ?? {})) {
      if (putOffMs === undefined) this.#first.agreed(name);
      return putOffMs;
    }
    if (finding.kind === 'Running' && finding.health.reason === 'OtherManager') {
      const nextMs = (this.#otherManagerReportedMs.get(name) ?? Number.NEGATIVE_INFINITY) + OTHER_MANAGER_REPORT_INTERVAL_MS;
      if (nextMs > clock.monotonic()) return nextMs - clock.monotonic();
      this.#otherManagerReportedMs.set(name, clock.monotonic());
    }
    await this.#patchStatus(name, mergePatchBetween(workerCluster.status ?? {}, status ?? {}), signal);
    return undefined;
  }

  #finding(name: string): Finding {
    const cluster = this.get(name);
    if (cluster !== undefined)
      return {
        kind: 'Running',
        health: withAdvice(cluster.health(), () => this.#tokens.advice(name)),
        ability: cluster.ability(),
        capacity: cluster.capacity(),
        inventory: cluster.inventory(),
        worker: cluster.worker(),
      };
    return { kind: 'Misconfigured', problem: this.#problems.get(name) ?? { reason: 'Connecting', message: 'not connected yet' } };
  }
}

/** Adds the remedy when the cluster does not know the manager's credentials. */
const withAdvice = (health: ClusterHealth, advice: () => string): ClusterHealth =>
  health.reason === 'Unauthorized' ? { ...health, message: `${health.message}; ${advice()}` } : health;
