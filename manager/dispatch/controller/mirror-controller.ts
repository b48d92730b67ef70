import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { type ReconcileResult, runController } from '../../../shared/kube/controller.ts';
import { keyOfObject, parseKey } from '../../../shared/kube/keys.ts';
import { createWorkqueue, type Workqueue } from '../../../shared/kube/workqueue.ts';
import { createInvertedIndex } from '../../../shared/runtime/inverted-index.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import type { ParsedRecord } from '../../api/records.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';
import { decideMirror } from '../decisions/decide-mirror.ts';
import { hasEndedCopy } from '../mirror/awaited-ends.ts';
import { contactDependence } from '../mirror/contact-dependence.ts';
import { isInPlace } from '../mirror/in-place.ts';
import { type Copy, isTriedAnyway, isUnreported, mayBeAnywhere, type MirrorGroup, recordIn } from '../mirror/mirror-group.ts';
import { recordedPlace } from '../mirror/recorded-place.ts';
import { createOwnWrites, type OwnWrites } from '../writes/own-writes.ts';
import { type CopyActions, createCopyActions } from './copy-actions.ts';
import { createHomeWriter, type HomeWriter } from './home-writer.ts';
import { createLossReports, type LossReports } from './loss-reports.ts';
import type { MirrorControllerDeps } from './mirror-controller-deps.ts';
import { createRecordedJobs, recordedIn } from './recorded-jobs.ts';
import { createStatusLag, type StatusLag } from './status-lag.ts';
import { createTraces } from './traces.ts';

/** A cluster that was added, removed, or has changed its contact. `uid` is undefined while unknown. */
export type ConcernedCluster = { readonly name: string; readonly uid: string | undefined; readonly localKeys: Iterable<string> };

/**
 * Keeps every Job and its copies as `decideMirror` plans. A change of any of them enqueues the key of the Job in the home queue. The
 * reconcile there carries out the home half of the plan, and enqueues the key in the queue of each cluster of the remote half. Each cluster
 * carries out its part from a new plan. No call to a worker cluster thus delays Jobs of another cluster, and no stale plan is passed on.
 */
export interface MirrorController {
  /** Enqueues a Job. */
  wake(localKey: string): void;
  /** Keys of the Jobs whose record names this cluster, and of those that may be on any; without Jobs that are proven to rest. */
  heldBy(cluster: string, uid: string | undefined): Iterable<string>;
  /** The time of the newest known admission, in epoch milliseconds of the admitting manager's clock. */
  newestAdmissionMs(): number;
  /** A copy on this cluster has changed. */
  copyChanged(cluster: string, localKey: string): void;
  /** Enqueues every Job, or those of one namespace, that a change of flavors or queues may concern. */
  wakeAll(namespace?: string): void;
  /**
   * Enqueues every Job that is recorded on this cluster, or has a trace there. Other Jobs are left alone, however often the cluster comes
   * and goes.
   */
  wakeJobsOf(cluster: ConcernedCluster): void;
  /** The same of a cluster as it is known now. */
  wakeJobsOn(cluster: string): void;
  /** Contact to this cluster was lost or found: enqueues the Jobs that depend on it. */
  contactChanged(cluster: string): void;
  /** The cluster counts as lost: its Jobs are enqueued when they are to report that, in `inMs`. */
  lost(cluster: string, inMs: number): void;
  /** The cluster does not count as lost any more. */
  found(cluster: string): void;
  /** Whether each of these copies may run, or rests. */
  inPlace(localKey: string, copies: readonly Copy[]): boolean;
  /** Carries out what a Job needs on one cluster; called by the queue of that cluster. */
  reconcileRemote(cluster: RemoteCluster, localKey: string): Promise<ReconcileResult>;
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 32;

/** Call before the informers run. */
export function createMirrorController(deps: MirrorControllerDeps): MirrorController {
  return new Mirror(deps);
}

class Mirror implements MirrorController {
  readonly #deps: MirrorControllerDeps;
  readonly #queue: Workqueue;
  readonly #ownWrites: OwnWrites<WorkObject>;
  readonly #traces = createTraces();
  readonly #recorded = createRecordedJobs();
  /** The Jobs that depend on the contact to a cluster, by its name. */
  readonly #dependents = createInvertedIndex();
  readonly #lossReports: LossReports;
  readonly #lag: StatusLag;
  readonly #homeWriter: HomeWriter;
  readonly #copyActions: CopyActions;
  /** Since when a copy of another Job has had the name of a Job's copy, in epoch milliseconds. */
  readonly #nameHeldSinceMs = new Map<string, number>();
  /** Since when a copy of a Job is known to have ended, in epoch milliseconds. */
  readonly #endedSinceMs = new Map<string, number>();
  /** UIDs of the Jobs whose creation this process has seen: no placement of before a restore that it began with can be of them. */
  readonly #created = new Set<string>();

  constructor(deps: MirrorControllerDeps) {
    this.#deps = deps;
    this.#lag = createStatusLag(deps);
    this.#lossReports = createLossReports(deps.clock, (name) => this.wakeJobsOn(name));
    const rateLimit = { baseDelayMs: 20, maxDelayMs: 30_000 };
    this.#queue = createWorkqueue({ name: 'mirror', clock: deps.clock, rateLimit, metrics: deps.metrics.workqueues.of('mirror') });
    this.#ownWrites = createOwnWrites(deps.jobs);
    const wrote = (key: string, job: WorkObject): void => this.#ownWrites.wrote(key, job);
    this.#homeWriter = createHomeWriter({ ...deps, lag: this.#lag, wrote });
    this.#copyActions = createCopyActions({ ...deps, wrote, wake: (key) => this.#queue.add(key) });
    const known = (job: DeepReadonly<WorkObject>): string => {
      const key = keyOfObject(job);
      this.#recorded.set(key, recordedIn(deps.kind, job, deps.readRecord(job)));
      deps.clusters.jobLeft();
      return key;
    };
    const changed = (job: DeepReadonly<WorkObject>): void => this.#queue.add(known(job));
    const added = (job: DeepReadonly<WorkObject>, isInInitialList: boolean): void => {
      if (isInInitialList) return this.#queue.addInBulk([known(job)]);
      this.#created.add(job.metadata.uid);
      changed(job);
    };
    const deleted = (job: DeepReadonly<WorkObject>): void => {
      const key = keyOfObject(job);
      this.#created.delete(job.metadata.uid);
      // Problems that clusters keep for this Job do not concern a later Job of the same name.
      for (const cluster of this.#clustersWith(key)) cluster.forget(key);
      this.#recorded.set(key, { kind: 'Nowhere' });
      deps.clusters.jobLeft();
      this.#queue.add(key);
    };
    deps.jobs.addHandler({ added, updated: changed, deleted });
    deps.flavors.addHandler({ added: () => this.wakeAll(), updated: () => this.wakeAll() });
  }

  newestAdmissionMs(): number {
    return this.#recorded.newestMs();
  }

  wake(localKey: string): void {
    this.#queue.add(localKey);
  }

  wakeAll(namespace?: string): void {
    this.#queue.addInBulk(this.#recorded.all(namespace));
  }

  heldBy(cluster: string, uid: string | undefined): Iterable<string> {
    return [...this.#recorded.on(cluster, uid)].filter((key) => !this.#rests(key));
  }

  #rests(key: string): boolean {
    const job = this.#deps.jobs.get(parseKey(key));
    const record = job && recordIn(this.#deps.readRecord(job));
    return job !== undefined && record !== undefined && this.#deps.kind.isSuspended(job) && isProvenAtRest(job.status, record);
  }

  copyChanged(cluster: string, localKey: string): void {
    this.#deps.clusters.jobLeft();
    this.#traces.note(localKey, cluster);
    this.#lag.heard(localKey, cluster);
    this.#queue.add(localKey);
  }

  wakeJobsOf({ name, uid, localKeys }: ConcernedCluster): void {
    this.#queue.addInBulk(this.#recorded.on(name, uid));
    this.#queue.addInBulk(localKeys);
  }

  wakeJobsOn(name: string): void {
    const { clusters } = this.#deps;
    this.wakeJobsOf({ name, uid: clusters.places.uidOf(name), localKeys: clusters.get(name)?.localKeys() ?? [] });
  }

  contactChanged(cluster: string): void {
    this.#queue.addInBulk(this.#dependents.of(cluster));
  }

  lost(cluster: string, inMs: number): void {
    this.#lossReports.lost(cluster, inMs);
  }

  found(cluster: string): void {
    this.#lossReports.found(cluster);
    this.contactChanged(cluster);
  }

  inPlace(localKey: string, copies: readonly Copy[]): boolean {
    const local = this.#localOf(localKey);
    const record = local && recordIn(this.#deps.readRecord(local));
    const place = record && recordedPlace(record, this.#deps.clusters.places);
    return copies.every((copy) => isInPlace(this.#deps.kind, copy, local, record, place?.kind === 'Known' ? place.cluster : undefined));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    onAbort(signal, () => {
      this.#queue.shutDown();
      this.#lossReports.stop();
    });
    const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcileHome(key);
    await runController({ name: 'mirror', queue: this.#queue, concurrency: CONCURRENCY, reconcile, log });
  }

  async #reconcileHome(key: string): Promise<ReconcileResult> {
    const group = this.#observe(key);
    this.#lag.observed(key);
    if (group.local === undefined || isFinished(group.local.status)) this.#forgetWithoutCopy(key);
    for (const name of group.clusters.keys())
      this.#deps.clusters.get(name)?.starts.saw(key, group.copies.find(({ cluster, deleting }) => cluster === name && !deleting)?.job);
    const nowMs = this.#deps.clock.now();
    const plan = decideMirror(group, nowMs);
    noteSince(this.#nameHeldSinceMs, key, plan.nameHeld === true, nowMs);
    noteSince(this.#endedSinceMs, key, hasEndedCopy(group), nowMs);
    for (const action of plan.remote) this.#deps.clusters.get(action.cluster)?.wake(key, { now: !isTriedAnyway(group, action) });
    const waitMs = await this.#homeWriter.write(key, group.local, plan.home);
    const again = Math.min(waitMs ?? Number.POSITIVE_INFINITY, plan.againAfterMs ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(again) ? { requeueAfterMs: again } : undefined;
  }

  #observe(key: string): MirrorGroup {
    const { kind, flavors, clusters, origin, readRecord, resolve, judgeLoss } = this.#deps;
    const local = this.#localOf(key);
    const record: ParsedRecord = local === undefined ? { kind: 'None' } : readRecord(local);
    const last = recordIn(record);
    const place = last && recordedPlace(last, clusters.places);
    const concerned = new Set(this.#clustersWith(key).map(({ name }) => name));
    if (place?.kind === 'Known') concerned.add(place.cluster);
    if (local !== undefined && mayBeAnywhere(kind, local, record)) for (const name of clusters.names()) concerned.add(name);
    const group: MirrorGroup = {
      kind: kind.of(parseKey(key).name),
      local,
      record,
      unresolved: record.kind === 'Record' ? resolve(record.record, local?.metadata.namespace ?? '') : undefined,
      place,
      loss: place?.kind === 'Known' && last !== undefined && local !== undefined ? judgeLoss(place.cluster, last, local) : undefined,
      copies: [...concerned].flatMap((name) => clusters.get(name)?.copiesOf(key) ?? []),
      clusters: new Map([...concerned].flatMap((name) => mapEntry(name, clusters.view(name, key, last && Date.parse(last.since))))),
      flavors: { get: (name) => flavors.get({ namespace: '', name }) },
      origin,
      podFenceImage: this.#deps.podFenceImage,
      ...omitUndefined({ tracing: this.#deps.tracing }),
      homeRestored: this.#created.has(local?.metadata.uid ?? '') ? undefined : this.#deps.homeRestored(),
      nameHeldSinceMs: this.#nameHeldSinceMs.get(key),
      endedSinceMs: this.#endedSinceMs.get(key),
    };
    this.#dependents.set(key, contactDependence(group));
    return group;
  }

  #localOf(key: string): DeepReadonly<WorkObject> | undefined {
    const cached = this.#deps.jobs.get(parseKey(key));
    return this.#ownWrites.overlay(key, cached === undefined ? [] : [cached]).at(-1);
  }

  /** The clusters that have, or may have, traces of a Job. */
  #clustersWith(key: string): readonly RemoteCluster[] {
    const { clusters } = this.#deps;
    const names = this.#traces.of(key, (name) => clusters.get(name)?.hasTraceOf(key) === true);
    return names.flatMap((name) => clusters.get(name) ?? []);
  }

  /** The Job needs no further copy: a cluster forgets it with its last copy. */
  #forgetWithoutCopy(key: string): void {
    for (const cluster of this.#clustersWith(key)) if (cluster.copiesOf(key).length === 0) cluster.forget(key);
  }

  async reconcileRemote(cluster: RemoteCluster, key: string): Promise<ReconcileResult> {
    const group = this.#observe(key);
    const plan = decideMirror(group, this.#deps.clock.now());
    const actions = plan.remote.filter((action) => action.cluster === cluster.name);
    if (actions.length === 0) this.#copyActions.works(cluster, key);
    if (actions.every(({ kind }) => kind === 'Delete') && !isUnreported(group, cluster.view(key).problem))
      cluster.setProblem(key, undefined);
    if (actions.length > 0) this.#traces.note(key, cluster.name);
    for (const action of actions) {
      const result = await this.#copyActions.carryOut(cluster, key, group, action);
      if (result !== undefined) return result;
    }
    return undefined;
  }
}

/** Notes since when something is so for a Job, until it is so no longer. */
function noteSince(sinceMs: Map<string, number>, key: string, isSo: boolean, nowMs: number): void {
  if (!isSo) sinceMs.delete(key);
  else if (!sinceMs.has(key)) sinceMs.set(key, nowMs);
}

const mapEntry = <V>(key: string, value: V | undefined): [string, V][] => (value === undefined ? [] : [[key, value]]);
