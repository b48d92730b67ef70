import type { CronJob, CronJobStatus, DeepReadonly, Job } from '../../api/kubernetes.ts';
import { apiVersionOf, CRON_JOBS, JOBS } from '../../api/resources.ts';
import { hasStatusCause, isAlreadyExists, isNotFound } from '../../kube/api-error.ts';
import { type ReconcileResult, runController } from '../../kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { keyOf, keyOfObject, objectKey, parseKey } from '../../kube/keys.ts';
import { createWorkqueue } from '../../kube/workqueue.ts';
import { toWireTime } from '../../api/wire-time.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { decideStart, nextStartMs, type Note, type StartDecision } from './cron-job/decide-start.ts';
import { jobOf } from './cron-job/job-of.ts';
import { activeOf, endOf, isListed, reviewJobs, surplusJobs } from './cron-job/review-jobs.ts';

const WORKERS = 5;
const RATE_LIMIT = { baseDelayMs: 10, maxDelayMs: 10_000 };
const BY_OWNER = 'owner';

/** Starts Jobs by the schedules of CronJobs and clears away old ones, as kube-controller-manager's cronjob controller (v2) does. */
export function createCronJobController(deps: ControllerDeps): Controller {
  return { run: (signal) => new CronJobController(deps, signal).run(signal) };
}

class CronJobController {
  readonly #deps: ControllerDeps;
  readonly #cronJobs: Informer<CronJob>;
  readonly #jobs: Informer<Job>;
  readonly #recorder: EventRecorder;

  constructor(deps: ControllerDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#cronJobs = createInformer({ ...deps, resource: CRON_JOBS });
    this.#jobs = createInformer({ ...deps, resource: JOBS, indexers: { [BY_OWNER]: (job) => ownersOf(job).map(({ uid }) => uid) } });
    this.#recorder = createEventRecorder({ ...deps, component: 'cronjob-controller', signal });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const queue = createWorkqueue({ name: 'cronjob', clock, rateLimit: RATE_LIMIT });
    this.#cronJobs.addHandler({
      added: (cronJob) => queue.add(keyOfObject(cronJob)),
      updated: (next, previous) => {
        const sameTimes = next.spec.schedule === previous.spec.schedule && next.spec.timeZone === previous.spec.timeZone;
        if (sameTimes) return queue.add(keyOfObject(next));
        // A new schedule makes up for nothing that it would have started in the past.
        const nextMs = nextStartMs(next, clock.now());
        if (nextMs !== undefined) queue.addAfter(keyOfObject(next), nextMs - clock.now());
      },
    });
    const jobChanged = (job: DeepReadonly<Job>): void => {
      for (const { name } of ownersOf(job)) queue.add(keyOf(job.metadata.namespace, name));
    };
    this.#jobs.addHandler({ added: jobChanged, updated: jobChanged, deleted: jobChanged });
    const informing = Promise.all([this.#cronJobs.run(signal), this.#jobs.run(signal)]);
    const synced = await Promise.allSettled([this.#cronJobs.waitForSync(signal), this.#jobs.waitForSync(signal)]);
    const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    // What stops before it has seen all Jobs has nothing to work on.
    const working = synced.every(({ status }) => status === 'fulfilled')
      ? runController({ ...this.#deps, name: 'cronjob', queue, concurrency: WORKERS, reconcile })
      : undefined;
    await informing;
    queue.shutDown();
    await working;
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const known = this.#cronJobs.get(parseKey(key));
    if (known === undefined) return undefined;
    const jobs = this.#jobs.byIndex(BY_OWNER, known.metadata.uid);
    const cronJob = await this.#withAllItsJobs(known, jobs);
    if (cronJob === undefined) return undefined;
    const { clock } = this.#deps;

    // 1. What became of its Jobs.
    const review = reviewJobs(cronJob, jobs, await this.#goneJobs(cronJob, jobs));
    this.#tell(cronJob, review.notes);
    let { status } = review;
    let changed = review.changed;

    // 2. Old ones go.
    for (const job of surplusJobs(cronJob, jobs)) await this.#deleteJob(cronJob, job);

    // 3. The start that is due. What is known by then is written even if it fails.
    const decision = decideStart({ ...cronJob, status }, clock.now());
    this.#tell(cronJob, decision.notes);
    try {
      if (decision.start !== undefined) {
        for (const { name = '', namespace = '', uid = '' } of cronJob.spec.concurrencyPolicy === 'Replace' ? (status.active ?? []) : []) {
          await this.#replaceJob(cronJob, { namespace, name });
          status = { ...status, active: (status.active ?? []).filter((each) => each.uid !== uid) };
          changed = true;
        }
        const job = await this.#startJob({ ...cronJob, status }, decision.start);
        if (job !== undefined) {
          const lastScheduleTime = toWireTime(decision.start.scheduledMs);
          status = { ...status, active: [...(status.active ?? []), referenceTo(job)], lastScheduleTime };
          changed = true;
        }
      }
    } finally {
      if (changed) await this.#writeStatus(cronJob, status);
    }
    return decision.againMs === undefined ? undefined : { requeueAfterMs: Math.max(0, decision.againMs - clock.now()) };
  }

  /** Where a running Job is missing in its status, the cache may lag behind what this controller has written: then the server is asked. */
  async #withAllItsJobs(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[]): Promise<DeepReadonly<CronJob> | undefined> {
    if (jobs.every((job) => endOf(job) !== undefined || isListed(cronJob, job.metadata.uid))) return cronJob;
    try {
      const live = await this.#deps.client.get(CRON_JOBS, objectKey(cronJob));
      return live.metadata.uid === cronJob.metadata.uid ? live : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** UIDs of Jobs in the status that neither the cache nor the server knows. */
  async #goneJobs(cronJob: DeepReadonly<CronJob>, jobs: readonly DeepReadonly<Job>[]): Promise<ReadonlySet<string>> {
    const gone = new Set<string>();
    for (const { name = '', namespace = '', uid = '' } of activeOf(cronJob)) {
      if (jobs.some((job) => job.metadata.uid === uid)) continue;
      if ((await this.#findJob({ namespace, name })) === undefined) gone.add(uid);
    }
    return gone;
  }

  async #findJob(key: { readonly namespace: string; readonly name: string }): Promise<Job | undefined> {
    try {
      return await this.#deps.client.get(JOBS, key);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** False when the server refuses; users are told. */
  async #deleteJob(cronJob: DeepReadonly<CronJob>, { metadata }: DeepReadonly<Job>): Promise<boolean> {
    if (metadata.deletionTimestamp !== undefined) return true;
    const { name, namespace, uid } = metadata;
    try {
      await this.#deps.client.delete(JOBS, { namespace, name }, { propagationPolicy: 'Background', uid });
      this.#tell(cronJob, [{ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` }]);
      return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      this.#tell(cronJob, [{ type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${textOf(error)}` }]);
      return false;
    }
  }

  async #replaceJob(cronJob: DeepReadonly<CronJob>, key: { readonly namespace: string; readonly name: string }): Promise<void> {
    const job = await this.#findJob(key);
    if (job !== undefined && !(await this.#deleteJob(cronJob, job))) {
      throw new Error(`could not replace job ${key.namespace}/${key.name}`);
    }
  }

  /** The Job that runs now, made by this call or by one whose status was never written; undefined when its name is somebody else's. */
  async #startJob(cronJob: DeepReadonly<CronJob>, start: NonNullable<StartDecision['start']>): Promise<Job | undefined> {
    const job = jobOf(cronJob, start.scheduledMs, start.zone);
    try {
      const created = await this.#deps.client.create(JOBS, job);
      this.#tell(cronJob, [{ type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${created.metadata.name}` }]);
      return created;
    } catch (error) {
      if (isAlreadyExists(error)) {
        const existing = await this.#deps.client.get(JOBS, { namespace: cronJob.metadata.namespace, name: job.metadata.name ?? '' });
        const ours = ownersOf(existing).some(({ uid }) => uid === cronJob.metadata.uid);
        return ours && !isListed(cronJob, existing.metadata.uid) ? existing : undefined;
      }
      if (!hasStatusCause(error, 'NamespaceTerminating')) {
        this.#tell(cronJob, [{ type: 'Warning', reason: 'FailedCreate', message: `Error creating job: ${textOf(error)}` }]);
      }
      throw error;
    }
  }

  /** On the resourceVersion that was decided on: who wrote meanwhile brings this controller back. */
  async #writeStatus(cronJob: DeepReadonly<CronJob>, { active = [], ...times }: DeepReadonly<CronJobStatus>): Promise<void> {
    const status = active.length === 0 ? times : { ...times, active };
    try {
      await this.#deps.client.replaceStatus(CRON_JOBS, { ...cronJob, status } as CronJob);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #tell(cronJob: DeepReadonly<CronJob>, notes: readonly Note[]): void {
    for (const { type, reason, message } of notes) this.#recorder.event(CRON_JOBS, cronJob, type, reason, message);
  }
}

/** The CronJob that controls a Job: one at most. */
const ownersOf = ({ metadata }: DeepReadonly<Job>): readonly { readonly name: string; readonly uid: string }[] =>
  (metadata.ownerReferences ?? []).filter(({ controller, kind }) => controller === true && kind === CRON_JOBS.kind);

const referenceTo = ({ metadata: { name, namespace, uid, resourceVersion } }: Job) => ({
  kind: JOBS.kind,
  namespace,
  name,
  uid,
  apiVersion: apiVersionOf(JOBS),
  resourceVersion,
});

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
