import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { runController, type ReconcileResult } from '../../../shared/kube/controller.ts';
import { keyOfObject, parseKey } from '../../../shared/kube/keys.ts';
import { createWorkqueue, type Workqueue } from '../../../shared/kube/workqueue.ts';
import { given } from '../../../shared/runtime/given.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import { JobEventReason } from '../../api/reasons.ts';
import { isRefusal, isRefusalOf, refusalOf, type DispatchProblem } from '../../api/refusals.ts';
import type { ParsedRecord } from '../../api/records.ts';
import { isProvenAtRest } from '../../api/rest-proof.ts';
import { confirmDeletion } from './confirm-deletion.ts';
import { keepEnding } from './copy-ending.ts';
import { copyIdentity } from '../copy/copy-marks.ts';
import { DispatchRefused, isAnswer } from '../writes/copy-writer.ts';
import { decideMirror } from '../decisions/decide-mirror.ts';
import type { HomeAction, RemoteAction } from '../decisions/mirror-plan.ts';
import { droppedFields, droppedOfOlder, fieldsDropped } from '../copy/dropped-fields.ts';
import { finalizersLeft } from '../copy/finalizers-left.ts';
import { isInPlace } from '../mirror/in-place.ts';
import { neverSent } from '../cluster/lease-not-held.ts';
import { lookForCopy, unlistedMarks } from './look-for-copy.ts';
import { isTriedAnyway, isUntold, mayBeAnywhere, mayBeMadeYet, recordIn, type Copy, type MirrorGroup } from '../mirror/mirror-group.ts';
import type { MirrorControllerDeps } from './mirror-controller-deps.ts';
import { wasDispatched } from '../mirror/missing-copy.ts';
import { createOwnWrites, type OwnWrites } from '../writes/own-writes.ts';
import { createRecordedJobs, recordedIn } from './recorded-jobs.ts';
import { createRecentRefusals, type RecentRefusals } from '../mirror/recent-refusals.ts';
import { recordedPlace } from '../mirror/recorded-place.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';
import { hasLostController } from '../copy/remote-job.ts';
import { createStatusLag, type StatusLag } from './status-lag.ts';
import { createStatusWindow, STATUS_WINDOW_MS, type StatusWindow } from '../mirror/status-window.ts';
import { createTraces } from './traces.ts';
import { troubleOf, type Trouble } from '../writes/write-troubles.ts';

/** A cluster that came, went, or is in another contact now. `uid` is undefined while it is not known which one it is. */
export type ConcernedCluster = { readonly name: string; readonly uid: string | undefined; readonly localKeys: Iterable<string> };

/**
 * Keeps every Job and its copies as `decideMirror` wants them. A change of any of them puts the Job's key into the home queue. There the
 * plan's home half is carried out; for the remote half the clusters concerned are woken, and each carries out its own part in its own
 * queue, from a plan made anew. So no call to a worker cluster is ever waited for by another cluster's Jobs, and nothing is handed over
 * that could be out of date.
 */
export interface MirrorController {
  /** Has a Job looked at. */
  wake(localKey: string): void;
  /** Keys of the Jobs whose record names this cluster, and of those that may be on any, without those that are proven to rest. */
  heldBy(cluster: string, uid: string | undefined): Iterable<string>;
  /** When the newest admission that is known was made, by the clock of who made it; epoch milliseconds. */
  newestAdmissionMs(): number;
  /** A copy on this cluster has changed. */
  copyChanged(cluster: string, localKey: string): void;
  /** Has every Job, or those of one namespace, looked at that could be concerned by a change of flavors or queues. */
  wakeAll(namespace?: string): void;
  /** Has every Job looked at that is concerned by this cluster: it is recorded there, or shows something there. Others are not, however often it comes and goes. */
  wakeJobsOf(cluster: ConcernedCluster): void;
  /** Whether each of these copies may run, or rests. */
  inPlace(localKey: string, copies: readonly Copy[]): boolean;
  /** Carries out what a Job needs on one cluster; each cluster's queue calls it. */
  reconcileRemote(cluster: RemoteCluster, localKey: string): Promise<ReconcileResult>;
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 32;
/** A refusal may end when somebody changes something on the cluster, which we do not see. */
const REFUSED_RETRY_MS = 10_000;
/** Our cache of Jobs lags behind the API server: it will have caught up by then. */
const LAG_RETRY_MS = 1_000;

/** Call before the informers run. */
export function createMirrorController(deps: MirrorControllerDeps): MirrorController {
  return new Mirror(deps);
}

class Mirror implements MirrorController {
  readonly #deps: MirrorControllerDeps;
  readonly #queue: Workqueue;
  readonly #ownWrites: OwnWrites<Job>;
  readonly #traces = createTraces();
  readonly #recorded = createRecordedJobs();
  readonly #refusals: RecentRefusals;
  readonly #lag: StatusLag;
  readonly #window: StatusWindow;
  /** When the status of a Job is to be written, where that is being put off. */
  readonly #dueMs = new Map<string, number>();
  /** Since when a copy of another Job has the name of a Job. */
  readonly #nameHeldSinceMs = new Map<string, number>();

  constructor(deps: MirrorControllerDeps) {
    this.#deps = deps;
    this.#refusals = createRecentRefusals(deps.clock);
    this.#lag = createStatusLag(deps);
    this.#window = createStatusWindow(deps.clock);
    const rateLimit = { baseDelayMs: 20, maxDelayMs: 30_000 };
    this.#queue = createWorkqueue({ name: 'mirror', clock: deps.clock, rateLimit, metrics: deps.metrics.workqueues.of('mirror') });
    this.#ownWrites = createOwnWrites(deps.jobs);
    const changed = (job: DeepReadonly<Job>): void => {
      const key = keyOfObject(job);
      this.#recorded.set(key, recordedIn(job, deps.readRecord(job)));
      deps.clusters.jobLeft();
      this.#queue.add(key);
    };
    const deleted = (job: DeepReadonly<Job>): void => {
      const key = keyOfObject(job);
      // What its clusters said to it is nothing to another of its name.
      for (const cluster of this.#clustersWith(key)) cluster.forget(key);
      this.#recorded.set(key, { kind: 'Nowhere' });
      deps.clusters.jobLeft();
      this.#queue.add(key);
    };
    deps.jobs.addHandler({ added: changed, updated: changed, deleted });
    deps.flavors.addHandler({ added: () => this.wakeAll(), updated: () => this.wakeAll() });
  }

  newestAdmissionMs(): number {
    return this.#recorded.newestMs();
  }

  wake(localKey: string): void {
    this.#queue.add(localKey);
  }

  wakeAll(namespace?: string): void {
    for (const key of this.#recorded.all(namespace)) this.#queue.add(key);
  }

  heldBy(cluster: string, uid: string | undefined): Iterable<string> {
    return [...this.#recorded.on(cluster, uid)].filter((key) => !this.#rests(key));
  }

  #rests(key: string): boolean {
    const job = this.#deps.jobs.get(parseKey(key));
    const record = job && recordIn(this.#deps.readRecord(job));
    return job?.spec.suspend === true && record !== undefined && isProvenAtRest(job.status, record);
  }

  copyChanged(cluster: string, localKey: string): void {
    this.#deps.clusters.jobLeft();
    this.#traces.note(localKey, cluster);
    this.#lag.heard(localKey, cluster);
    this.#queue.add(localKey);
  }

  wakeJobsOf({ name, uid, localKeys }: ConcernedCluster): void {
    for (const key of this.#recorded.on(name, uid)) this.#queue.add(key);
    for (const key of localKeys) this.#queue.add(key);
  }

  inPlace(localKey: string, copies: readonly Copy[]): boolean {
    const local = this.#localOf(localKey);
    const record = local && recordIn(this.#deps.readRecord(local));
    const place = record && recordedPlace(record, this.#deps.clusters.places);
    return copies.every((copy) => isInPlace(copy, local, record, place?.kind === 'Known' ? place.cluster : undefined));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    onAbort(signal, () => this.#queue.shutDown());
    const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcileHome(key);
    await runController({ name: 'mirror', queue: this.#queue, concurrency: CONCURRENCY, reconcile, log });
  }

  async #reconcileHome(key: string): Promise<ReconcileResult> {
    const group = this.#observe(key);
    this.#lag.looked(key);
    if (group.local === undefined || isFinished(group.local.status)) this.#forgetWithoutCopy(key);
    for (const name of group.clusters.keys())
      this.#deps.clusters.get(name)?.starts.saw(key, group.copies.find(({ cluster, deleting }) => cluster === name && !deleting)?.job);
    const plan = decideMirror(group, this.#deps.clock.now());
    if (plan.nameHeld !== true) this.#nameHeldSinceMs.delete(key);
    else if (group.nameHeldSinceMs === undefined) this.#nameHeldSinceMs.set(key, this.#deps.clock.now());
    for (const action of plan.remote) this.#deps.clusters.get(action.cluster)?.wake(key, { now: !isTriedAnyway(group, action) });
    const waitMs = await this.#writeHome(key, group.local, plan.home);
    const again = Math.min(waitMs ?? Number.POSITIVE_INFINITY, plan.againAfterMs ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(again) ? { requeueAfterMs: again } : undefined;
  }

  #observe(key: string): MirrorGroup {
    const { flavors, clusters, origin, readRecord, resolve, judgeLoss } = this.#deps;
    const local = this.#localOf(key);
    const record: ParsedRecord = local === undefined ? { kind: 'None' } : readRecord(local);
    const last = recordIn(record);
    const place = last && recordedPlace(last, clusters.places);
    const concerned = new Set(this.#clustersWith(key).map(({ name }) => name));
    if (place?.kind === 'Known') concerned.add(place.cluster);
    if (local !== undefined && mayBeAnywhere(local, record)) for (const name of clusters.names()) concerned.add(name);
    return {
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
      ...given({ tracing: this.#deps.tracing }),
      homeRestored: this.#deps.homeRestored(),
      nameHeldSinceMs: this.#nameHeldSinceMs.get(key),
    };
  }

  #localOf(key: string): DeepReadonly<Job> | undefined {
    const cached = this.#deps.jobs.get(parseKey(key));
    return this.#ownWrites.overlay(key, cached === undefined ? [] : [cached]).at(-1);
  }

  /** The clusters that have something of a Job, or may. */
  #clustersWith(key: string): readonly RemoteCluster[] {
    const { clusters } = this.#deps;
    const names = this.#traces.of(key, (name) => clusters.get(name)?.hasTraceOf(key) === true);
    return names.flatMap((name) => clusters.get(name) ?? []);
  }

  /** Nothing more is asked for the Job: what its clusters remember of it goes with its last copy. */
  #forgetWithoutCopy(key: string): void {
    for (const cluster of this.#clustersWith(key)) if (cluster.copiesOf(key).length === 0) cluster.forget(key);
  }

  /** Writes the status, or returns how long that is put off. */
  async #writeHome(key: string, local: DeepReadonly<Job> | undefined, action: HomeAction): Promise<number | undefined> {
    if (action.kind === 'None' || local === undefined) {
      this.#dueMs.delete(key);
      this.#lag.settled(key);
      return undefined;
    }
    if (action.kind === 'Release') return this.#release(key, local, action);
    const { home, clock, metrics, readRecord, isNoted } = this.#deps;
    const nowMs = clock.now();
    const dueMs = this.#window.dueMs(local, action.status, this.#dueMs.get(key));
    if (!action.urgent && nowMs < dueMs) {
      this.#dueMs.set(key, dueMs);
      return dueMs - nowMs;
    }
    this.#dueMs.delete(key);
    const { uid, resourceVersion } = local.metadata;
    const finalizers = action.finalizers && finalizersLeft(action.finalizers, () => isNoted(local));
    const body = { metadata: { uid, resourceVersion, ...given({ finalizers, annotations: action.annotations }) }, status: action.patch };
    const sentMs = clock.monotonic();
    try {
      const written = await home.patchStatus(JOBS, parseKey(key), { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER });
      this.#ownWrites.wrote(key, written);
      this.#window.answered(clock.monotonic() - sentMs);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // Decided on an old version: the newer one is on its way into the cache, and wakes this Job.
      if (isConflict(error)) return STATUS_WINDOW_MS;
      throw new Error(`write the status of Job ${key}`, { cause: error });
    }
    this.#lag.written(key);
    metrics.statusWrites.inc({ cluster: recordIn(readRecord(local))?.cluster ?? '', terminal: String(action.urgent) });
    return undefined;
  }

  /** Nothing of the Job is left anywhere: it may go. */
  async #release(
    key: string,
    local: DeepReadonly<Job>,
    { finalizers: others, patch: status }: HomeAction & { kind: 'Release' },
  ): Promise<number | undefined> {
    const { home, isNoted } = this.#deps;
    const { uid, resourceVersion } = local.metadata;
    const finalizers = finalizersLeft(others, () => isNoted(local));
    const body = { metadata: { uid, resourceVersion, finalizers }, ...given({ status }) };
    const options = { fieldManager: MANAGER_FIELD_MANAGER };
    try {
      const patch = { type: 'merge', body } as const;
      const written =
        status === undefined ? home.patch(JOBS, parseKey(key), patch, options) : home.patchStatus(JOBS, parseKey(key), patch, options);
      this.#ownWrites.wrote(key, await written);
      this.#deps.log.info('nothing of a Job is left', { job: key });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (isConflict(error)) return STATUS_WINDOW_MS;
      throw new Error(`take the finalizer off Job ${key}`, { cause: error });
    }
    return undefined;
  }

  async reconcileRemote(cluster: RemoteCluster, key: string): Promise<ReconcileResult> {
    const group = this.#observe(key);
    const plan = decideMirror(group, this.#deps.clock.now());
    const actions = plan.remote.filter((action) => action.cluster === cluster.name);
    if (actions.length === 0) this.#works(cluster, key);
    if (actions.every(({ kind }) => kind === 'Delete') && !isUntold(group, cluster.view(key).problem)) cluster.setProblem(key, undefined);
    if (actions.length > 0) this.#traces.note(key, cluster.name);
    for (const action of actions) {
      const result = await this.#perform(cluster, key, group, action);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  async #perform(cluster: RemoteCluster, key: string, group: MirrorGroup, action: RemoteAction): Promise<ReconcileResult> {
    const { local } = group;
    try {
      switch (action.kind) {
        case 'Create':
          return await this.#create(cluster, key, group, action.job);
        case 'Update':
          await this.#send(cluster, key, () => cluster.writer.update(action.copy, action.spec, action.annotations));
          return undefined;
        case 'Seed':
        case 'TakeBackSuspended':
          // Nothing runs of it either way, and it is good for this version of the copy only: an answer that is lost leaves no doubt.
          cluster.wrote(key, await cluster.writer.tell(action));
          cluster.setProblem(key, undefined);
          this.#works(cluster, key);
          cluster.wake(key, { now: true });
          return undefined;
        case 'Look':
          return await this.#look(cluster, key, group, action.name);
        case 'Delete':
          return await this.#delete(cluster, key, local, action);
      }
    } catch (error) {
      return this.#failed(cluster, key, local, action.kind, error);
    }
  }

  async #create(cluster: RemoteCluster, key: string, group: MirrorGroup, wanted: Unsaved<Job>): Promise<ReconcileResult> {
    const { local, record } = group;
    const holdMs = record.kind === 'Record' ? this.#refusals.holdMs(cluster.name, local, record.record) : 0;
    if (holdMs > 0) return { requeueAfterMs: holdMs };
    const options = { mayBeMadeYet: mayBeMadeYet(group, cluster.name) };
    const copy = await this.#send(cluster, key, () => cluster.writer.create(wanted, options));
    cluster.created(key);
    // The first generation is as it was made, also where it was there already.
    const fields = copy.metadata.generation === 1 ? droppedFields(wanted.spec, copy.spec) : droppedOfOlder(wanted.spec, copy.spec);
    const dropped = [...unlistedMarks(copy, wanted), ...fields];
    if (dropped.length === 0) {
      this.#created(cluster, key, local);
      // It starts from what is finished, of which it has to be told first.
      if (wanted.spec.suspend === true) cluster.wake(key, { now: true });
      return undefined;
    }
    const problem = refusalOf(copyIdentity(copy)?.epoch ?? 0, fieldsDropped(cluster.name, dropped));
    this.#deps.metrics.dispatchFailures.inc({ cluster: cluster.name, verb: 'create', reason: problem.reason });
    this.#refused(cluster, key, local, problem);
    // What it has may be run already, by whichever controller takes it: the placement ends when nothing of it is left.
    await cluster.writer.delete(copy, 'Foreground');
    cluster.deleted(copy);
    return undefined;
  }

  /** A write that makes a copy, or sets one going: until its answer comes, and for a while when none does, it counts as carried out. */
  async #send(cluster: RemoteCluster, key: string, write: () => Promise<Job>): Promise<Job> {
    cluster.doubts.sent(key);
    let copy: Job;
    try {
      copy = await write();
      cluster.wrote(key, copy);
    } catch (error) {
      if (isAnswer(error)) cluster.doubts.answered(key, error instanceof DispatchRefused && isRefusal(error.problem));
      else if (neverSent(error)) cluster.doubts.unsent(key);
      else cluster.doubts.lost(key);
      throw error;
    }
    cluster.doubts.answered(key);
    cluster.setProblem(key, undefined);
    this.#works(cluster, key);
    return copy;
  }

  /** What was told of failing writes is over, and no longer told. */
  #works(cluster: RemoteCluster, key: string): void {
    if (cluster.troubles.told(key) !== undefined) this.#queue.add(key);
    cluster.troubles.over(key);
  }

  async #look(cluster: RemoteCluster, key: string, { local, record }: MirrorGroup, name: string): Promise<ReconcileResult> {
    const last = recordIn(record);
    if (local === undefined) return undefined;
    const sought = {
      name,
      originUid: local.metadata.uid,
      origin: this.#deps.origin,
      wasDispatched: last !== undefined && wasDispatched(local, last),
    };
    const found = await lookForCopy(cluster, key, sought);
    switch (found.kind) {
      case 'Unclear':
        this.#refused(cluster, key, local, found.problem);
        return { requeueAfterMs: REFUSED_RETRY_MS };
      case 'Unmarkable':
        this.#refused(cluster, key, local, refusalOf(found.epoch, fieldsDropped(cluster.name, found.dropped)));
        if (found.copy.metadata.deletionTimestamp === undefined) await cluster.writer.delete(found.copy, 'Foreground');
        return { requeueAfterMs: LAG_RETRY_MS };
      case 'Listed':
      case 'Absent':
        if (last === undefined || !isRefusalOf(last.epoch, cluster.view(key).problem)) cluster.setProblem(key, undefined);
        this.#queue.add(key);
        return undefined;
    }
  }

  #created(cluster: RemoteCluster, key: string, local: DeepReadonly<Job> | undefined): void {
    const { metrics, log, clock, readRecord } = this.#deps;
    const parsed = local === undefined ? undefined : readRecord(local);
    if (parsed?.kind !== 'Record') return;
    const { clusterQueue, since, epoch } = parsed.record;
    metrics.dispatched.inc({ cluster_queue: clusterQueue, cluster: cluster.name });
    metrics.dispatchDuration.observe({ cluster: cluster.name }, Math.max(0, clock.now() - Date.parse(since)) / 1000);
    log.info('dispatched a Job', { job: key, cluster: cluster.name, epoch });
  }

  async #delete(
    cluster: RemoteCluster,
    key: string,
    local: DeepReadonly<Job> | undefined,
    { copy, propagationPolicy, confirm }: RemoteAction & { kind: 'Delete' },
  ): Promise<ReconcileResult> {
    if (confirm !== undefined) {
      const waitMs = cluster.mayAskAfterMs(key);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      if (!(await this.#confirms(confirm, key, local, copy))) return { requeueAfterMs: LAG_RETRY_MS };
    }
    // Whoever created it did not hear of it, and creating it once more would end in the same way.
    if (confirm !== 'Gone' && hasLostController(copy)) this.#lostController(cluster, key, local, copy);
    await keepEnding(this.#deps.endings, cluster, copy);
    await cluster.writer.delete(copy, propagationPolicy);
    cluster.deleted(copy);
    this.#works(cluster, key);
    if (confirm === 'Gone') this.#deps.metrics.orphansDeleted.inc({ cluster: cluster.name });
    this.#deps.log.info('deleted a copy', { job: key, cluster: cluster.name, uid: copy.metadata.uid });
    return undefined;
  }

  #confirms(what: 'Gone' | 'Older', key: string, local: DeepReadonly<Job> | undefined, copy: DeepReadonly<Job>): Promise<boolean> {
    const { home, readRecord } = this.#deps;
    const onRead = (original: Job): void => {
      if (original.metadata.resourceVersion === local?.metadata.resourceVersion) return;
      // What is known catches up at once, and need not ask again.
      this.#ownWrites.wrote(key, original);
      this.#queue.add(key);
    };
    return confirmDeletion(what, copy, { home, readRecord, onRead });
  }

  #failed(
    cluster: RemoteCluster,
    key: string,
    local: DeepReadonly<Job> | undefined,
    kind: RemoteAction['kind'],
    error: unknown,
  ): ReconcileResult {
    const { metrics } = this.#deps;
    if (error instanceof DispatchRefused) {
      if (kind === 'Create') cluster.createFailed(key, error, error.problem);
      metrics.dispatchFailures.inc({ cluster: cluster.name, verb: kind.toLowerCase(), reason: error.problem.reason });
      this.#refused(cluster, key, local, error.problem);
      return { requeueAfterMs: REFUSED_RETRY_MS };
    }
    const trouble = troubleOf(error, cluster.name, kind);
    this.#troubled(cluster, key, local, trouble);
    if (kind === 'Create') cluster.createFailed(key, error, trouble.problem);
    // The copy has changed or gone meanwhile: its event is on the way.
    if (isConflict(error) || isNotFound(error)) return { requeueAfterMs: LAG_RETRY_MS };
    metrics.dispatchFailures.inc({ cluster: cluster.name, verb: kind.toLowerCase(), reason: trouble.problem.reason });
    throw new Error(`${kind.toLowerCase()} the copy of Job ${key} on cluster ${cluster.name}`, { cause: error });
  }

  #refused(cluster: RemoteCluster, key: string, local: DeepReadonly<Job> | undefined, problem: DispatchProblem): void {
    const { log, events, jobs } = this.#deps;
    const known = cluster.view(key).problem;
    const isNews = known?.reason !== problem.reason || known.message !== problem.message;
    if (isNews) log.warn('a cluster refused a Job', { job: key, cluster: cluster.name, reason: problem.reason, detail: problem.message });
    if (isNews && local !== undefined) events.event(JOBS, local, 'Warning', JobEventReason.DispatchFailed, problem.message);
    const parsed: ParsedRecord = local === undefined ? { kind: 'None' } : this.#deps.readRecord(local);
    if (parsed.kind === 'Record' && isRefusalOf(parsed.record.epoch, problem)) this.#refusals.note(cluster.name, local, problem.reason);
    cluster.troubles.over(key);
    if (jobs.get(parseKey(key))?.metadata.uid === local?.metadata.uid) cluster.setProblem(key, problem);
    // Whoever looks at the Job has the write tried again at once: what is refused in the same words waits its time.
    if (isNews) this.#queue.add(key);
  }

  #lostController(cluster: RemoteCluster, key: string, local: DeepReadonly<Job> | undefined, copy: DeepReadonly<Job>): void {
    const { originUid, epoch = 0 } = copyIdentity(copy) ?? {};
    if (local === undefined || originUid !== local.metadata.uid || isRefusalOf(epoch, cluster.view(key).problem)) return;
    this.#refused(cluster, key, local, refusalOf(epoch, fieldsDropped(cluster.name, ['spec.managedBy'])));
  }

  /** Told once it goes on: most of what fails works a moment later. */
  #troubled(cluster: RemoteCluster, key: string, local: DeepReadonly<Job> | undefined, trouble: Trouble): void {
    const { log, events, clock } = this.#deps;
    const { told, first } = cluster.troubles.failed(key, trouble, clock.monotonic());
    if (!told) return;
    const { reason, message } = trouble.problem;
    log.warn('writes to a cluster go on failing', { job: key, cluster: cluster.name, reason, detail: message });
    if (first && local !== undefined) events.event(JOBS, local, 'Warning', JobEventReason.DispatchFailed, message);
    this.#queue.add(key);
  }
}

const mapEntry = <V>(key: string, value: V | undefined): [string, V][] => (value === undefined ? [] : [[key, value]]);
