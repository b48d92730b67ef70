/** What a worker does for Jobs with pods, put together: their controller, their fences, the ends of their logs, and live invariants. */
import { Counter, type Registry } from 'prom-client';
import { originOf } from '../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, Pod } from '../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../shared/api/names.ts';
import type { KubeClient, RawClient, ReadClient, WriteClient } from '../shared/kube/client.ts';
import { isFinished } from '../shared/kube/conditions.ts';
import type { ControllerOptions } from '../shared/kube/controller.ts';
import type { EventRecorder } from '../shared/kube/event-recorder.ts';
import type { IndexFunction } from '../shared/kube/indexer.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { keyOfObject, parseKey } from '../shared/kube/keys.ts';
import type { RateLimit, Workqueue, WorkqueueOptions } from '../shared/kube/workqueue.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import { createInvariantMetrics } from '../shared/runtime/invariant-metrics.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import type { Random } from '../shared/runtime/random.ts';
import type { SpanExporter } from '../shared/runtime/span-exporter.ts';
import { fromZero } from '../shared/runtime/zero-series.ts';
import { createFence, type Fence, type FenceDeps, type FenceOfJobs, type FenceSettings } from './fence/fence.ts';
import { createPodRenewals, type PodRenewals } from './fence/pod-renewals.ts';
import { createStopDeadlines, type StopDeadlines } from './fence/stop-deadlines.ts';
import { createLiveInvariants, type LiveInvariants } from './invariants/live-invariants.ts';
import { createJobReconciler } from './job/controller.ts';
import { createJobMemory } from './job/job-memory.ts';
import { LANES, laneOf } from './job/lanes.ts';
import { createJobMetrics } from './job/metrics.ts';
import { createOrphanReconciler } from './job/orphan-pods.ts';
import { jobTriggers, podTriggers } from './job/triggers.ts';
import { fenceOfChildJob } from './kinds/child-job-fence.ts';
import { createCopyEnds, type CopyEnds } from './kinds/copy-ends.ts';
import { childJobIndexers, childJobsOf } from './kinds/copy-pods.ts';
import { createKindFence, type KindFence } from './kinds/kind-fence.ts';
import { createWatchedKinds, type CopyHandler, type WatchedKinds } from './kinds/watched-kinds.ts';
import type { KeepLogs } from './logs/keep-rule.ts';
import { createTailKeeper, TAIL_RESULTS, type TailKeeper } from './logs/tail-keeper.ts';
import { createTailStore } from './logs/tail-store.ts';
import { createTailSweep, type TailSweep } from './logs/tail-sweep.ts';
import { spanTriggers } from './trace/span-triggers.ts';

export type JobSettings = {
  /** `spec.managedBy` of the Jobs to run. */
  readonly controllerName: string;
  readonly concurrentJobSyncs: number;
  /** Syncs that pods ask for are gathered over this time. */
  readonly batchPeriodMs: number;
  /** The only ones to look at; empty: all. */
  readonly namespaces: readonly string[];
  /** Namespaces in which no pods are created: names, or beginnings of names and `*`. Absent: none. */
  readonly deniedNamespaces?: readonly string[];
};

/** `client` reads logs and stores them; one with its own rate limit keeps them from delaying pods. */
export type Logs = {
  readonly client: RawClient & Pick<ReadClient, 'list'> & Pick<WriteClient, 'create' | 'patch' | 'delete'>;
  /** Where they are put; undefined: beside each copy, where managers of an earlier release look. */
  readonly namespace: string | undefined;
  /** Of Jobs that say nothing. */
  readonly keepLogs: KeepLogs;
  /** Of one log. */
  readonly tailBytes: number;
};

export type Presence = Pick<FenceDeps, 'client' | 'identity' | 'version'> & { readonly settings: FenceSettings };

export type JobPartsDeps = {
  readonly client: KubeClient;
  /** The client of one Job, by its key. */
  readonly clientOf: (key: string) => KubeClient;
  /** With {@link copyIndexers}. */
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
  readonly newQueue: (name: string, rateLimit: RateLimit, more?: Pick<WorkqueueOptions, 'laneOf'>) => Workqueue;
  /** Whether all Jobs and pods of a namespace are in the caches. */
  readonly isFilled: (namespace: string) => boolean;
  readonly recorder: EventRecorder;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: JobSettings;
  /** Who this is, and where it says so. Absent: it keeps no Lease, and stops no copies whose manager is out of reach. */
  readonly presence?: Presence;
  /** What keeps the ends of logs of copies; absent: nothing does. */
  readonly logs?: Logs;
  /** Takes the spans of copies; absent: none are made. */
  readonly spans?: Pick<SpanExporter, 'export'> | undefined;
  readonly onWentBack: (error: Error) => void;
  /** Aborts when the worker has stopped. */
  readonly signal: AbortSignal;
};

export interface JobParts {
  readonly invariants: Pick<LiveInvariants, 'report' | 'run'>;
  readonly controllers: readonly ControllerOptions[];
  /** What fills caches besides. */
  readonly fences: readonly { run(signal: AbortSignal): Promise<void> }[];
  /** The Jobs and pods of this namespace have come into the caches. */
  takeIn(namespace: string): void;
  /** Removes what earlier workers have left. */
  sweep(signal: AbortSignal): Promise<void>;
}

/** Index of the Jobs that a manager has made. */
const COPIES_OF = 'origin';
export const copyIndexers: Readonly<Record<string, IndexFunction<Job>>> = {
  ...childJobIndexers,
  [COPIES_OF](job) {
    const origin = originOf(job);
    return origin === undefined ? [] : [origin];
  },
};

const JOB_RETRIES: RateLimit = { baseDelayMs: 1000, maxDelayMs: 60_000 };
const RENEWAL_RETRIES: RateLimit = { baseDelayMs: 1_000, maxDelayMs: 10_000 };
const TAIL_RETRIES: RateLimit = { baseDelayMs: 1_000, maxDelayMs: 60_000 };

const NO_FENCE: FenceOfJobs = { stateOf: () => 'Open', isUnsure: () => false, isInReach: () => false, confirmed: () => undefined };

export function createJobParts(deps: JobPartsDeps): JobParts {
  return new AssembledJobParts(deps);
}

class AssembledJobParts implements JobParts {
  readonly invariants: LiveInvariants;
  readonly controllers: readonly ControllerOptions[];
  readonly fences: JobParts['fences'];
  readonly #deps: JobPartsDeps;
  readonly #queue: Workqueue;
  readonly #kinds: WatchedKinds;
  readonly #tails: TailKeeper | undefined;
  readonly #sweep: TailSweep | undefined;
  readonly #ends: CopyEnds;
  readonly #kindFence: KindFence;
  readonly #fence: Fence | undefined;
  readonly #deadlines: StopDeadlines;

  constructor(deps: JobPartsDeps) {
    this.#deps = deps;
    this.#deadlines = createStopDeadlines(deps.clock);
    const { client, jobs, pods, newQueue, recorder, registry, clock, random, log, settings, presence, logs, spans } = deps;
    const { controllerName, batchPeriodMs, namespaces, concurrentJobSyncs: concurrency } = settings;
    const memory = createJobMemory(clock, (resource, namespace) => (resource === 'jobs' ? jobs : pods).lastResourceVersion(namespace));
    const metrics = createJobMetrics(registry);
    const queue = newQueue('job', JOB_RETRIES, { laneOf: (key) => laneOf(jobs.get(parseKey(key))) });
    const orphanQueue = newQueue('job_orphan_pod', JOB_RETRIES);
    const shared = { client, jobs, pods, queue, orphanQueue, memory, metrics, recorder, clock, random, log, controllerName, batchPeriodMs };
    this.#queue = queue;
    jobs.addHandler(jobTriggers(shared));
    pods.addHandler(podTriggers(shared));
    if (spans !== undefined) jobs.addHandler(spanTriggers(spans, controllerName));
    this.invariants = createLiveInvariants({ ...shared, metrics: createInvariantMetrics(registry) });
    pods.addHandler(this.invariants.handler);
    const kinds = createWatchedKinds({ client, namespaces, onSettled: () => this.#settled(), clock, random, log });
    this.#kinds = kinds;
    const { tails, sweep } = logs === undefined || logs.keepLogs === 'None' ? {} : this.#createTails(logs);
    this.#tails = tails;
    this.#sweep = sweep;
    jobs.addHandler({ deleted: ({ metadata }) => this.#copyGone(metadata.uid) });
    kinds.addHandler(this.#copyHandler());
    this.#ends = createCopyEnds({ ...shared, kinds, tails, queue: newQueue('copy_ends', TAIL_RETRIES) });
    pods.addHandler(this.#ends.handler);
    const deniedJobs = new Counter({
      name: 'switchyard_worker_denied_jobs_total',
      help: 'Jobs that got no pods because their namespace is denied (--denied-namespaces)',
      registers: [registry],
    });
    const stateOf: Fence['stateOfOrigin'] = (origin) => this.#fence?.stateOfOrigin(origin) ?? 'Open';
    const stopper = this.#deadlines.of(client, () => true);
    this.#kindFence = createKindFence({ ...shared, client: stopper, kinds, queue: newQueue('kind_fence', JOB_RETRIES), stateOf });
    pods.addHandler(this.#kindFence.handler);
    this.#fence = presence && this.#createFence(presence);
    const fence = this.#fence ?? NO_FENCE;
    const renewals = presence && this.#createRenewals(presence.client, fence);
    if (renewals !== undefined) pods.addHandler(renewals.handler);
    const reconcile = createJobReconciler({
      ...shared,
      clientOf: (key) => this.#clientOf(key),
      fence,
      deniedNamespaces: settings.deniedNamespaces ?? [],
      deniedJobs,
      ...omitUndefined({ tails }),
    });
    // Where pods are not known yet, it would create them a second time.
    const whereFilled: typeof reconcile = async (key) => (deps.isFilled(parseKey(key).namespace ?? '') ? reconcile(key) : undefined);
    this.fences = this.#fence === undefined ? [] : [this.#fence, kinds];
    this.controllers = [
      { name: 'job', queue, concurrency, lanes: LANES, log, reconcile: whereFilled },
      { name: 'job-orphan-pod', queue: orphanQueue, concurrency, log, reconcile: createOrphanReconciler(shared) },
      ...(this.#fence === undefined ? [] : [this.#kindFence.controller, this.#ends.controller]),
      ...(renewals === undefined ? [] : [renewals.controller]),
      ...(sweep === undefined ? [] : [sweep.controller]),
    ];
  }

  takeIn(namespace: string): void {
    for (const job of this.#deps.jobs.list(namespace)) this.#queue.add(keyOfObject(job));
    this.#sweep?.takeIn(namespace);
  }

  async sweep(signal: AbortSignal): Promise<void> {
    await this.#sweep?.run(signal);
  }

  #settled(): void {
    this.#fence?.wake();
    this.#ends.lookAgain();
    this.#sweep?.takeIn(undefined);
    this.#fenceChanged(undefined);
  }

  #fenceChanged(origin: string | undefined): void {
    const { jobs } = this.#deps;
    const copies = origin === undefined ? jobs.list().filter((job) => originOf(job) !== undefined) : jobs.byIndex(COPIES_OF, origin);
    for (const job of copies) {
      if (isFinished(job.status)) continue;
      // Failures of before the trip must not put off the stop.
      if (this.#isFenced(job)) this.#queue.forget(keyOfObject(job));
      this.#queue.add(keyOfObject(job));
    }
    this.#deadlines.look();
    this.#kindFence.onChange(origin);
  }

  #isFenced(job: DeepReadonly<Job> | undefined): boolean {
    return job !== undefined && this.#fence?.stateOf(job) === 'Fenced';
  }

  #clientOf(key: string): KubeClient {
    const client = this.#deps.clientOf(key);
    const current = (): DeepReadonly<Job> | undefined => this.#deps.jobs.get(parseKey(key));
    const job = current();
    return job === undefined || originOf(job) === undefined ? client : this.#deadlines.of(client, () => this.#isFenced(current()));
  }

  #copyGone(uid: string): void {
    this.#tails?.forget(uid);
    this.#sweep?.gone(uid);
  }

  #copyHandler(): CopyHandler {
    return {
      // What it says of its fence is true of the Jobs that its operator has made.
      changed: ({ copy }) => {
        if (this.#fence?.stateOfOrigin(copy.metadata.labels?.[ORIGIN_LABEL] ?? '') === 'Fenced')
          for (const job of childJobsOf(this.#deps.jobs, copy)) this.#queue.add(keyOfObject(job));
      },
      deleted: ({ copy }) => this.#copyGone(copy.metadata.uid),
    };
  }

  #createFence(presence: Presence): Fence {
    const { registry, clock, random, log, onWentBack, settings } = this.#deps;
    return createFence({
      ...presence,
      registry,
      clock,
      random,
      log,
      controllerName: settings.controllerName,
      jobsNamespaces: settings.namespaces,
      onChange: (origin) => this.#fenceChanged(origin),
      onWentBack,
      onKinds: (kinds) => this.#kinds.see(kinds),
      fencedKinds: () => this.#kinds.cached(),
      ofChildJob: (job, state) => fenceOfChildJob(job, state, this.#kinds),
    });
  }

  #createRenewals(client: Presence['client'], fence: FenceOfJobs): PodRenewals {
    const { jobs, pods, newQueue, clock, random, log, signal, settings } = this.#deps;
    // No two words are the same that workers of this cluster write, one after the other.
    const run = Math.floor(random() * 2 ** 48).toString(36);
    let count = 0;
    const newWord = (): string => `${run}-${count++}`;
    const queue = newQueue('pod_renewals', RENEWAL_RETRIES);
    const isOpen = (origin: string): boolean => fence.isInReach(origin);
    return createPodRenewals({ client, jobs, pods, queue, isOpen, newWord, controllerName: settings.controllerName, clock, log, signal });
  }

  #createTails(kept: Logs): { readonly tails: TailKeeper; readonly sweep: TailSweep | undefined } {
    const { jobs, newQueue, isFilled, registry, clock, log, settings } = this.#deps;
    const { controllerName } = settings;
    const kinds = this.#kinds;
    const reads = new Counter({
      name: 'switchyard_worker_log_tails_total',
      help: 'Log tails of pods, by result',
      labelNames: ['result'],
      registers: [registry],
    });
    fromZero(reads, { result: TAIL_RESULTS });
    const { namespace } = kept;
    const store = createTailStore({ ...kept, clock, controllerName, onKept: (copy) => this.#sweep?.note(copy) });
    const sweepOf = {
      ...kept,
      store,
      present: () => [...jobs.list(), ...kinds.ofOrigin(undefined).map(({ copy }) => copy)].map(({ metadata }) => metadata.uid),
      isFilled: (each: string, otherKind: string | undefined) => isFilled(each) && (otherKind === undefined || kinds.isCached(otherKind)),
      controllerName,
      clock,
      log,
    };
    const sweep =
      namespace === undefined ? undefined : createTailSweep({ ...sweepOf, namespace, queue: newQueue('log_tails', TAIL_RETRIES) });
    return { tails: createTailKeeper({ ...kept, store, clock, log, reads }), sweep };
  }
}
