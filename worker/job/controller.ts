/**
 * The Job controller: one reconcile of one Job, from its name to its status. Which rule of upstream stands where is in
 * UPSTREAM.md; what wakes a Job is in triggers.ts.
 */
import type { DeepReadonly, Job, JobStatus, Pod } from '../../shared/api/kubernetes.ts';
import { deniedBy } from '../../shared/api/denied-namespaces.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, StatusClient, WriteClient } from '../../shared/kube/client.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { type Reconcile, type ReconcileResult, TerminalError } from '../../shared/kube/controller.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { FenceOfJobs } from '../fence/fence.ts';
import { withEndedPods } from '../logs/ended-pod.ts';
import type { TailKeeper } from '../logs/tail-keeper.ts';
import { traceOfCopy } from '../trace/copy-span.ts';
import { account, type Ledger } from './account.ts';
import { applyPods, removeFinalizers } from './apply.ts';
import { type Decision, decide, type Observation } from './decide.ts';
import { fenceMessage } from './fenced-job.ts';
import { JobDeletingError, JobGoneError, tellsJobIsGone, tellsNamespaceIsGone } from './job-gone.ts';
import type { JobMemory } from './job-memory.ts';
import { controllerNameOf, type JobView, viewJob } from './job-view.ts';
import type { JobMetrics, SyncAction } from './metrics.ts';
import { observe } from './observe.ts';
import { orphanKeyOfJob } from './orphan-pods.ts';
import { nextSyncDelayMs } from './pace.ts';
import { isDeleting } from './pod-view.ts';
import { isCapped } from './scale.ts';
import { settle } from './settle.ts';
import { wireStatus } from './wire-status.ts';
import type { JobIdentity } from './written-versions.ts';

export type JobReconcilerDeps = {
  /** The client of one Job, by its key: what is written for different Jobs shares the rate limit fairly. */
  readonly clientOf: (key: string) => ReadClient & WriteClient & StatusClient;
  readonly jobs: Lister<Job>;
  readonly pods: Lister<Pod>;
  readonly queue: Pick<Workqueue, 'addAfter'>;
  readonly orphanQueue: Pick<Workqueue, 'add'>;
  readonly memory: JobMemory;
  readonly recorder: EventRecorder;
  readonly metrics: JobMetrics;
  readonly fence: FenceOfJobs;
  /** Keeps the ends of logs of copies; absent: nobody does. */
  readonly tails?: TailKeeper;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** `spec.managedBy` of the Jobs to take. The built-in name takes Jobs without the field, too. */
  readonly controllerName: string;
  /** Shortest delay of a sync that waits for a back-off, in milliseconds. */
  readonly batchPeriodMs: number;
  /** Namespaces in which no pods are created: names, or beginnings of names and `*`. */
  readonly deniedNamespaces: readonly string[];
  /** Counts the Jobs that get no pods for their namespace. */
  readonly deniedJobs: { inc(): void };
};

/** How soon to look again when the cache has not seen our own writes yet. */
const STALE_CACHE_RETRY_MS = 1000;

export function createJobReconciler(deps: JobReconcilerDeps): Reconcile {
  const reconciler = new JobReconciler(deps);
  return (key) => reconciler.reconcileJob(key);
}

class JobReconciler {
  readonly #deps: JobReconcilerDeps;
  readonly #memory: JobMemory;

  constructor(deps: JobReconcilerDeps) {
    this.#deps = deps;
    this.#memory = deps.memory;
  }

  /**
   * 1. Is there a Job, is it ours, and has it not ended?
   * 2. Has the cache seen our own writes?
   * 3. Is there anything left to do, and do we know how?
   * 4. Observe: the Job, and the pods that are its own.
   * 5. Decide: the end of the Job, or pods to create or delete.
   * 6. Carry it out.
   * 7. Account: which ended pods are counted now. Written before their finalizers go; the logs of some are read meanwhile.
   * 8. Settle: counters and the terminal condition. Written when the finalizers are gone.
   */
  async reconcileJob(key: string): Promise<ReconcileResult> {
    const job = this.#deps.jobs.get(parseKey(key));
    if (job === undefined) return undefined; // 1
    const { uid } = job.metadata;
    if (!this.#isOurs(job)) return undefined; // 1
    if (isFinished(job.status)) {
      this.#memory.forgetProgress(uid);
      this.#memory.finished.delete(uid);
      this.#deps.tails?.forget(uid);
      return undefined; // 1
    }
    if (this.#isCacheStale(job.metadata)) return { requeueAfterMs: STALE_CACHE_RETRY_MS }; // 2
    if (this.#memory.finished.has(uid) || !this.#hasKnownMode(job)) return undefined; // 3
    if (this.#memory.goneForMs(uid) > 0) return this.#againWhenDoubted(uid); // 3
    try {
      await this.#sync(key, job); // 4 to 8
    } finally {
      if (!this.#isInCache(job)) {
        // A Job that went while we worked was forgotten before what this sync remembered; and pods that this sync was about to free were
        // left to it.
        this.#memory.forget(uid);
        this.#deps.orphanQueue.add(orphanKeyOfJob(job, true));
      }
    }
    return this.#againWhenDoubted(uid);
  }

  /** A Job that the server said was gone, and that the cache keeps, is tried again in the end, though nothing happens. */
  #againWhenDoubted(uid: string): ReconcileResult {
    const goneForMs = this.#memory.goneForMs(uid);
    return goneForMs > 0 ? { requeueAfterMs: goneForMs } : undefined;
  }

  #isInCache({ metadata: { namespace, name, uid } }: DeepReadonly<Job>): boolean {
    return this.#deps.jobs.get({ namespace, name })?.metadata.uid === uid;
  }

  /** Jobs of others are left alone here and not where events come in, so that one created anew as ours is not missed. */
  #isOurs(job: DeepReadonly<Job>): boolean {
    const owner = controllerNameOf(job);
    if (owner === this.#deps.controllerName) return true;
    const { uid, namespace, name } = job.metadata;
    if (!this.#memory.delegated.has(uid)) {
      this.#memory.delegated.add(uid);
      this.#deps.log.info('job is left to its own controller', { namespace, job: name, managedBy: owner });
    }
    return false;
  }

  #isCacheStale(job: JobIdentity): boolean {
    const behind = this.#memory.written.behind(job);
    for (const resource of behind) this.#deps.metrics.staleSyncSkipped(resource);
    return behind.length > 0;
  }

  #hasKnownMode(job: DeepReadonly<Job>): boolean {
    const mode = job.spec.completionMode;
    if (mode === undefined || mode === null || mode === 'NonIndexed' || mode === 'Indexed') return true;
    this.#deps.recorder.event(JOBS, job, 'Warning', 'UnknownCompletionMode', 'Skipped Job sync because completion mode is unknown');
    return false;
  }

  async #sync(key: string, job: DeepReadonly<Job>): Promise<void> {
    const { clock, fence, metrics, deniedNamespaces } = this.#deps;
    const startedMs = clock.now();
    const denied = deniedBy(deniedNamespaces, job.metadata.namespace);
    const view = viewJob(job, fence.stateOf(job), denied !== undefined);
    const log = this.#deps.log.with({
      namespace: view.namespace,
      job: view.name,
      ...omitUndefined({ trace_id: traceOfCopy(job)?.traceId }),
    });
    if (view.statusDefects.length > 0) log.warn('job status is malformed, reading what can be read', { defects: view.statusDefects });
    if (view.specDefects.length > 0) throw new TerminalError(`job ${key} cannot be run: ${view.specDefects.join(', ')}`);
    const { uid } = view;
    const own = this.#withClientOf(key);
    // An error is answered with a delay of its own.
    this.#memory.capped.delete(uid);
    let action: SyncAction = 'reconciling';
    let result: 'success' | 'error' = 'error';
    try {
      const observation = await observe(own, job, view); // 4
      const nowMs = clock.now();
      const decision = decide(observation, nowMs); // 5
      this.#wakeLater(key, observation, decision);
      if (decision.plan.kind === 'deny' && denied !== undefined) this.#tellDenied(job, denied, log);
      // UPSTREAM.md D9.
      if (decision.plan.kind === 'create' && fence.isUnsure(job)) await this.#confirm(key, job);
      const applied = await applyPods(own, job, decision); // 6
      action = applied.action;
      if (decision.verdict !== undefined && applied.mayHaveDeleted) this.#memory.endsBegun.set(uid, decision.verdict);
      const ledger = account(observation, decision, applied, clock.now()); // 7
      await this.#track(job, observation, decision, ledger); // 7, 8
      if (applied.error !== undefined) throw applied.error;
      if (!ledger.held && (ledger.capped || isCapped(decision.plan))) this.#requeueRest(key, job.metadata);
      result = 'success';
    } catch (error) {
      if (!(await this.#hasGone(job, error))) throw error;
      log.debug('job has gone while it was synced', { error });
      result = 'success';
    } finally {
      metrics.synced(view, result, action, (clock.now() - startedMs) / 1000);
    }
  }

  /** Once for each Job: it may wait for as long as it likes. */
  #tellDenied(job: DeepReadonly<Job>, entry: string, log: Logger): void {
    const { uid, namespace } = job.metadata;
    if (this.#memory.denied.has(uid)) return;
    this.#memory.denied.add(uid);
    this.#deps.deniedJobs.inc();
    log.warn('no pods are created for the job: its namespace is denied', { denied: entry });
    const remedy = 'run the Job in another namespace, or ask an administrator of this cluster to change that flag';
    const message = `No pods are created: namespace ${namespace} is denied by --denied-namespaces of the worker (${entry}); ${remedy}`;
    this.#deps.recorder.event(JOBS, job, 'Warning', 'NamespaceDenied', message);
  }

  /** Throws unless the server has this very version of the Job. */
  async #confirm(key: string, job: DeepReadonly<Job>): Promise<void> {
    const { namespace, name, uid, resourceVersion } = job.metadata;
    const current = await this.#deps
      .clientOf(key)
      .get(JOBS, { namespace, name })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (current?.metadata.uid !== uid) throw new JobGoneError(`job ${key} is gone`);
    if (current.metadata.resourceVersion !== resourceVersion) throw new Error(`job ${key} has changed, which the cache does not show yet`);
    this.#deps.fence.confirmed(job);
  }

  /** Whether the sync has failed for no other reason than that its Job goes, or is of no interest any more for that. */
  async #hasGone(job: DeepReadonly<Job>, error: unknown): Promise<boolean> {
    if (!this.#isInCache(job) || error instanceof JobDeletingError) return true;
    if (!(error instanceof JobGoneError) && !(tellsNamespaceIsGone(error) && (await this.#isGoneFromServer(job)))) return false;
    this.#memory.rememberGone(job.metadata.uid);
    return true;
  }

  /** Only asked when there is reason for doubt. */
  async #isGoneFromServer(job: DeepReadonly<Job>): Promise<boolean> {
    const { namespace, name, uid } = job.metadata;
    try {
      return (await this.#deps.clientOf(keyOfObject(job)).get(JOBS, { namespace, name })).metadata.uid !== uid;
    } catch (error) {
      // Without an answer the sync has failed for the reason that it gives, and is tried again.
      return isNotFound(error);
    }
  }

  /** The deadline falls at its time; a back-off is never looked at sooner than events are. */
  #wakeLater(key: string, { job, satisfied }: Observation, { plan, deadlineInMs }: Decision): void {
    const { queue, batchPeriodMs } = this.#deps;
    // UPSTREAM.md Q19: a pod that came and went unseen leaves its expectation open, and no event will tell of it any more.
    if (!satisfied) queue.addAfter(key, this.#memory.expectations.expiresInMs(job.uid));
    if (deadlineInMs !== undefined) queue.addAfter(key, deadlineInMs);
    if (plan.kind === 'wait') queue.addAfter(key, Math.max(plan.forMs, batchPeriodMs));
  }

  /** The rest follows at once if the caches have caught up already; else with the event that lets them. */
  #requeueRest(key: string, job: JobIdentity): void {
    this.#memory.capped.add(job.uid);
    this.#deps.queue.addAfter(key, nextSyncDelayMs(this.#memory, job, this.#deps.batchPeriodMs));
  }

  /** Steps 7 and 8: status, finalizers, status. */
  async #track(job: DeepReadonly<Job>, { job: view }: Observation, decision: Decision, ledger: Ledger): Promise<void> {
    if (ledger.held) return;
    const { recorder, metrics, clock, tails } = this.#deps;
    if (ledger.suspension !== undefined) {
      recorder.event(JOBS, job, 'Normal', ledger.suspension, ledger.suspension === 'Suspended' ? 'Job suspended' : 'Job resumed');
    }
    if (ledger.fencing !== undefined) {
      recorder.event(JOBS, job, ledger.fencing === 'Fenced' ? 'Warning' : 'Normal', ledger.fencing, fenceMessage(ledger.fencing));
    }
    this.#readTails(job, ledger);
    let current = job;
    if (ledger.flush) {
      const told = this.#endedPodsOn(job, ledger);
      current = await this.#writeStatus(view, told, view.status, ledger.status, 'adding uncounted pods to status'); // 7
      this.#memory.rememberBackoff(view.uid, decision.backoff);
    }
    metrics.policyActions(ledger.policyActions);
    // Those whose log is being read stay until then, and are counted in the next sync; no decision waits for that, as they are listed.
    const free = ledger.removals.filter(({ uid }) => tails?.isUnderWay(view.uid, uid) !== true);
    const { removed, error } = await removeFinalizers(this.#withClientOf(keyOfObject(job)), job, free);
    const { status, changed, finished } = settle(view, ledger, removed, clock.now()); // 8
    if (changed) {
      const told = this.#endedPodsOn(current, ledger);
      current = await this.#writeStatus(view, told, ledger.status, status, 'removing uncounted pods from status');
      if (finished !== undefined) this.#announceEnd(view, current, finished.type, finished.reason ?? '', finished.message ?? '');
    }
    if (error !== undefined) throw error;
  }

  /** What the pods of a copy ended with is told with the status. */
  #endedPodsOn(job: DeepReadonly<Job>, { removals }: Ledger): DeepReadonly<Job> {
    return withEndedPods(job, removals, ({ uid }) => this.#deps.tails?.tailOf(job.metadata.uid, uid));
  }

  /** Nobody asks for the logs of a Job that is being deleted. */
  #readTails(job: DeepReadonly<Job>, { removals, verdict }: Ledger): void {
    if (isDeleting(job)) return;
    this.#deps.tails?.begin(job, removals, verdict?.outcome === 'Failed', () => {
      // As after a sync that was capped.
      if (this.#isInCache(job)) this.#requeueRest(keyOfObject(job), job.metadata);
    });
  }

  #withClientOf(key: string): JobReconcilerDeps & { readonly client: ReadClient & WriteClient } {
    return { ...this.#deps, client: this.#deps.clientOf(key) };
  }

  async #writeStatus(
    view: JobView,
    current: DeepReadonly<Job>,
    before: DeepReadonly<JobStatus>,
    status: DeepReadonly<JobStatus>,
    purpose: string,
  ): Promise<DeepReadonly<Job>> {
    try {
      const client = this.#deps.clientOf(keyOfObject(current));
      const written = await client.replaceStatus(JOBS, { ...current, status: wireStatus(status) } as Job);
      this.#memory.written.record(view.uid, 'jobs', written.metadata.resourceVersion);
      this.#deps.metrics.podsCounted(view, before, status);
      const { managedFields: _, ...metadata } = written.metadata;
      return { ...written, metadata };
    } catch (error) {
      if (tellsJobIsGone(error)) throw new JobGoneError(`job ${view.namespace}/${view.name} is gone`, { cause: error });
      if (isConflict(error)) throw error;
      throw new Error(`tracking status: ${purpose}`, { cause: error });
    }
  }

  #announceEnd(view: JobView, job: DeepReadonly<Job>, type: string, reason: string, message: string): void {
    const { recorder, metrics } = this.#deps;
    this.#memory.finished.add(view.uid);
    this.#memory.forgetProgress(view.uid);
    metrics.jobFinished(view, type === 'Complete' ? 'Complete' : 'Failed', reason);
    if (type !== 'Complete') {
      recorder.event(JOBS, job, 'Warning', reason, message);
      return;
    }
    if (view.completions !== undefined && (job.status?.succeeded ?? 0) > view.completions) {
      recorder.event(JOBS, job, 'Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached');
    }
    recorder.event(JOBS, job, 'Normal', 'Completed', 'Job completed');
  }
}
