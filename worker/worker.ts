/** The worker, put together: informers, queues and controllers over one API server. Nothing runs before `run`. */
import { isDeepStrictEqual } from 'node:util';
import { Counter, Gauge, type Registry } from 'prom-client';
import { originOf } from '../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, ObjectKey, Pod } from '../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../shared/api/names.ts';
import { JOBS, PODS, type Resource } from '../shared/api/resources.ts';
import type { KubeClient, RawClient, ReadClient, WriteClient } from '../shared/kube/client.ts';
import { isFinished } from '../shared/kube/conditions.ts';
import { runController } from '../shared/kube/controller.ts';
import { isConflict, isInvalid, isNotFound } from '../shared/kube/api-error.ts';
import { guardStaleReads, type StaleReadGuardOptions } from '../shared/kube/stale-read-guard.ts';
import { createEventRecorder } from '../shared/kube/event-recorder.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { formatKey, keyOfObject, parseKey } from '../shared/kube/keys.ts';
import { createWorkqueue, type RateLimit, type WorkqueueOptions } from '../shared/kube/workqueue.ts';
import { createWorkqueueMetrics } from '../shared/kube/workqueue-metrics.ts';
import { endsWithin, type Clock } from '../shared/runtime/clock.ts';
import { createInvariantMetrics } from '../shared/runtime/invariant-metrics.ts';
import type { InvariantReport } from '../shared/runtime/invariant-report.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { SpanExporter } from '../shared/runtime/span-exporter.ts';
import type { Random } from '../shared/runtime/random.ts';
import { omitUndefined } from '../shared/runtime/omit-undefined.ts';
import { aborted } from '../shared/runtime/tasks.ts';
import { createFence, type FenceDeps, type FenceOfJobs, type FenceSettings } from './fence/fence.ts';
import { createPodRenewals } from './fence/pod-renewals.ts';
import { createStopDeadlines } from './fence/stop-deadlines.ts';
import { fenceOfChildJob } from './kinds/child-job-fence.ts';
import { childJobIndexers, childJobsOf, copyPodIndexers } from './kinds/copy-pods.ts';
import { createKindFence } from './kinds/kind-fence.ts';
import { createCopyEnds } from './kinds/copy-ends.ts';
import { createWatchedKinds, type WatchedKinds } from './kinds/watched-kinds.ts';
import { createLiveInvariants } from './invariants/live-invariants.ts';
import { createJobReconciler } from './job/controller.ts';
import { LANES, laneOf } from './job/lanes.ts';
import { createJobMemory } from './job/job-memory.ts';
import { createJobMetrics } from './job/metrics.ts';
import { createOrphanReconciler } from './job/orphan-pods.ts';
import { createPodTrimmer, podIndexers } from './job/pod-cache.ts';
import { jobTriggers, podTriggers } from './job/triggers.ts';
import type { KeepLogs } from './logs/keep-rule.ts';
import { spanTriggers } from './trace/span-triggers.ts';
import { createTailKeeper, TAIL_RESULTS } from './logs/tail-keeper.ts';
import { createTailStore } from './logs/tail-store.ts';
import { createTailSweep } from './logs/tail-sweep.ts';
import { createTtlMetrics, createTtlReconciler, ttlTriggers } from './ttl/ttl-after-finished.ts';
import { createWatchedNamespaces } from './watched-namespaces.ts';
import { fromZero } from '../shared/runtime/zero-series.ts';

export const WORKER_CONTROLLERS = ['job', 'ttl-after-finished'] as const;
export type WorkerController = (typeof WORKER_CONTROLLERS)[number];

export type WorkerSettings = {
  /** `spec.managedBy` of the Jobs to run. */
  readonly controllerName: string;
  readonly controllers: readonly WorkerController[];
  readonly concurrentJobSyncs: number;
  readonly concurrentTtlSyncs: number;
  /** Syncs that pods ask for are gathered over this time. */
  readonly batchPeriodMs: number;
  /** The only ones to look at; empty: all. */
  readonly namespaces: readonly string[];
  /** Namespaces in which no pods are created: names, or beginnings of names and `*`. Absent: none. */
  readonly deniedNamespaces?: readonly string[];
};

export type WorkerDeps = {
  readonly client: KubeClient;
  /** What is sent for one Job goes through the client of its key, so that Jobs share the rate limit fairly. Default: `client`. */
  readonly clientOf?: (key: string) => KubeClient;
  /** Writes Events; one with its own rate limit keeps them from delaying pods. Default: `client`. */
  readonly eventClient?: WriteClient;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: WorkerSettings;
  /** Who this is, and where it says so. Absent: it keeps no Lease, and stops no copies whose manager is out of reach. */
  readonly presence?: Presence;
  /** What keeps the ends of logs of copies; absent: nothing does. */
  readonly logs?: Logs;
  /** Takes the spans of copies; absent: none are made. */
  readonly spans?: Pick<SpanExporter, 'export'> | undefined;
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

export interface Worker {
  /** Works until `signal` aborts and what was under way is done. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** What the worker waits for before it can work; undefined when it is ready. */
  problem(): string | undefined;
  /** Whether what is promised holds; undefined while it is not looked at. */
  invariants(): InvariantReport | undefined;
}

const JOB_RETRIES: RateLimit = { baseDelayMs: 1000, maxDelayMs: 60_000 };
const RENEWAL_RETRIES: RateLimit = { baseDelayMs: 1_000, maxDelayMs: 10_000 };
const TAIL_RETRIES: RateLimit = { baseDelayMs: 1_000, maxDelayMs: 60_000 };
const TTL_RETRIES: RateLimit = { baseDelayMs: 5, maxDelayMs: 1_000_000 };
const FLUSH_MS = 3_000;
const EVENT_SOURCE = 'job-controller';
/** Index of the Jobs that a manager has made. */
const COPIES_OF = 'origin';
const originsOf = (job: DeepReadonly<Job> | undefined): string[] => {
  const origin = job && originOf(job);
  return origin === undefined ? [] : [origin];
};
/** What a worker ends with whose cluster was restored from an older backup. */
export const restoredError = (cause: Error): Error => new Error('the cluster went back in time; the worker starts anew', { cause });

const undefinedIfNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};

const contentOf = (object: object | undefined): unknown[] => {
  const { spec, status } = (object ?? {}) as { readonly spec?: unknown; readonly status?: unknown };
  return [spec, status];
};

const NO_FENCE: FenceOfJobs = { stateOf: () => 'Open', isUnsure: () => false, isInReach: () => false, confirmed: () => undefined };

export function createWorker(deps: WorkerDeps): Worker {
  const { eventClient = deps.client, registry, clock, random, log, settings, presence, logs, spans } = deps;
  const { controllerName, batchPeriodMs, namespaces } = settings;
  const restored = new AbortController();
  const stopped = new AbortController();
  const onWentBack = (error: Error): void => restored.abort(restoredError(error));
  const guard: StaleReadGuardOptions = {
    clock,
    cached: (resource, key) => cacheOf(resource)?.get(key)?.metadata.resourceVersion,
    // A restored server gives versions a second time: then a write on what the object was is refused for its content.
    isSign: (error, { plural }) => isConflict(error) || isInvalid(error) || (isNotFound(error) && plural === PODS.plural),
    onDoubt: (...doubt) => void resolveDoubt(...doubt),
  };
  const client = guardStaleReads(deps.client, guard);
  const { clientOf } = deps;
  const deadlines = createStopDeadlines(clock);
  const guardedOf = (key: string): KubeClient => {
    const ofKey = clientOf === undefined ? deps.client : clientOf(key);
    const isCopy = originsOf(jobs.get(parseKey(key))).length > 0;
    return guardStaleReads(isCopy ? deadlines.of(ofKey, () => jobParts?.isStopping(key) === true) : ofKey, guard);
  };
  const common = { client, clock, random, log, onWentBack };
  const watched = createWatchedNamespaces(namespaces, log, (namespace) => jobParts?.takeIn(namespace));
  const jobs = watched.informerOf({ ...common, resource: JOBS, indexers: { [COPIES_OF]: originsOf, ...childJobIndexers } });
  const pods = settings.controllers.includes('job')
    ? watched.informerOf({ ...common, resource: PODS, indexers: { ...podIndexers, ...copyPodIndexers }, transform: createPodTrimmer() })
    : undefined;
  const recorder = createEventRecorder({ client: eventClient, component: EVENT_SOURCE, clock, log });
  const queueMetrics = createWorkqueueMetrics(registry, clock);
  const newQueue = (name: string, rateLimit: RateLimit, more: Pick<WorkqueueOptions, 'laneOf'> = {}) =>
    createWorkqueue({ name, clock, rateLimit, metrics: queueMetrics.of(name), ...more });
  const jobParts = pods && createJobParts(pods);
  const controllers = [...(jobParts?.controllers ?? []), ...(settings.controllers.includes('ttl-after-finished') ? [ttlController()] : [])];
  const informers = pods === undefined ? [jobs] : [jobs, pods];
  createUnreadableGauge(registry, () => watched.unreadable().length);

  return {
    async run(signal) {
      const watching = new AbortController();
      const informing = Promise.all([...informers, ...(jobParts?.fences ?? [])].map((each) => each.run(watching.signal)));
      try {
        const until = AbortSignal.any([signal, restored.signal]);
        if (await allSynced(until)) await work(until);
        // What it remembers of pods that it made and counted did not happen: anew is how it is known to be right.
        if (restored.signal.aborted && !signal.aborted) throw restored.signal.reason;
      } finally {
        for (const each of [watching, stopped]) each.abort(new Error('the worker has stopped'));
        await informing;
        // What cannot be told in time stays untold: whoever stops should not hang on an Event.
        await endsWithin(clock, FLUSH_MS, recorder.flush());
      }
    },
    invariants: () => jobParts?.invariants.report(),
    problem: () => watched.problem(),
  };

  function cacheOf({ plural }: Resource): typeof jobs | typeof pods | undefined {
    if (plural === JOBS.plural) return jobs;
    return plural === PODS.plural ? pods : undefined;
  }

  /** A cache that has caught up with the server, and does not show what that had, goes on from a place of another course of things. */
  async function resolveDoubt(resource: Resource, key: ObjectKey, shown: string): Promise<void> {
    const cache = cacheOf(resource);
    if (cache === undefined || stopped.signal.aborted) return;
    const name = `${resource.plural} ${formatKey(key)}`;
    try {
      const stored = await deps.client.get(resource, key).catch(undefinedIfNotFound);
      await cache.catchUp(stopped.signal, key.namespace);
      const present = cache.get(key);
      const isSame =
        stored?.metadata.resourceVersion === shown && (resource !== JOBS || isDeepStrictEqual(contentOf(stored), contentOf(present)));
      if (present?.metadata.resourceVersion === shown && !isSame)
        onWentBack(
          new Error(
            `${name} is cached at ${shown}, and stored ${stored === undefined ? 'nowhere' : `at ${stored.metadata.resourceVersion}`}`,
          ),
        );
    } catch (error) {
      if (!stopped.signal.aborted) log.warn('an object of which writes are refused could not be looked at', { object: name, error });
    }
  }

  /** False when the worker is to stop before it has begun. */
  async function allSynced(signal: AbortSignal): Promise<boolean> {
    await Promise.race([watched.filled(), aborted(signal)]);
    if (!signal.aborted) log.info('caches are filled, starting to work', { controllers: settings.controllers, controllerName });
    return !signal.aborted;
  }

  async function work(signal: AbortSignal): Promise<void> {
    const ofJobs = jobParts === undefined ? [] : [jobParts.invariants.run(signal), jobParts.sweep(signal)];
    const working = [...controllers.map(runController), ...ofJobs];
    await aborted(signal);
    for (const { queue } of controllers) queue.shutDown();
    await Promise.all(working);
  }

  function createJobParts(pods: Informer<Pod>) {
    const memory = createJobMemory(clock, (resource, namespace) => (resource === 'jobs' ? jobs : pods).lastResourceVersion(namespace));
    const metrics = createJobMetrics(registry);
    const queue = newQueue('job', JOB_RETRIES, { laneOf: (key) => laneOf(jobs.get(parseKey(key))) });
    const orphanQueue = newQueue('job_orphan_pod', JOB_RETRIES);
    const triggers = { jobs, queue, orphanQueue, memory, metrics, clock, controllerName, batchPeriodMs };
    jobs.addHandler(jobTriggers(triggers));
    pods.addHandler(podTriggers(triggers));
    if (spans !== undefined) jobs.addHandler(spanTriggers(spans, controllerName));
    const promises = { jobs, pods, controllerName, recorder, metrics: createInvariantMetrics(registry), clock, log };
    const invariants = createLiveInvariants(promises);
    pods.addHandler(invariants.handler);
    const onSettled = (): void => {
      kept?.wake();
      ends.lookAgain();
      sweep?.takeIn(undefined);
      onChange(undefined);
    };
    const kinds = createWatchedKinds({ client, namespaces, onSettled, clock, random, log });
    const { tails, sweep } = logs === undefined || logs.keepLogs === 'None' ? {} : createTails(logs, kinds);
    const copyGone = (uid: string): void => {
      tails?.forget(uid);
      sweep?.gone(uid);
    };
    jobs.addHandler({ deleted: ({ metadata }) => copyGone(metadata.uid) });
    kinds.addHandler({
      // What it says of its fence is true of the Jobs that its operator has made.
      changed({ copy }) {
        if (kept?.stateOfOrigin(copy.metadata.labels?.[ORIGIN_LABEL] ?? '') === 'Fenced')
          for (const job of childJobsOf(jobs, copy)) queue.add(keyOfObject(job));
      },
      deleted: ({ copy }) => copyGone(copy.metadata.uid),
    });
    const ends = createCopyEnds({
      client,
      kinds,
      pods,
      jobs,
      tails,
      queue: newQueue('copy_ends', TAIL_RETRIES),
      batchPeriodMs,
      clock,
      log,
    });
    pods.addHandler(ends.handler);
    const deniedJobs = new Counter({
      name: 'switchyard_worker_denied_jobs_total',
      help: 'Jobs that got no pods because their namespace is denied (--denied-namespaces)',
      registers: [registry],
    });
    const shared = { client, jobs, pods, memory, controllerName, clock, log };
    const concurrency = settings.concurrentJobSyncs;
    const onChange = (origin: string | undefined): void => {
      const copies = origin === undefined ? jobs.list().filter((job) => originOf(job) !== undefined) : jobs.byIndex(COPIES_OF, origin);
      for (const job of copies) {
        if (isFinished(job.status)) continue;
        // Failures of before the trip must not put off the stop.
        if (fence.stateOf(job) === 'Fenced') queue.forget(keyOfObject(job));
        queue.add(keyOfObject(job));
      }
      deadlines.look();
      kindFence.onChange(origin);
    };
    const kindFence = createKindFence({
      client: deadlines.of(client, () => true),
      kinds,
      pods,
      jobs,
      queue: newQueue('kind_fence', JOB_RETRIES),
      recorder,
      stateOf: (origin) => kept?.stateOfOrigin(origin) ?? 'Open',
      clock,
      log,
    });
    pods.addHandler(kindFence.handler);
    const ofChildJob: FenceDeps['ofChildJob'] = (job, state) => fenceOfChildJob(job, state, kinds);
    const leases = {
      controllerName,
      jobsNamespaces: namespaces,
      onChange,
      onWentBack,
      onKinds: kinds.see,
      fencedKinds: kinds.cached,
      ofChildJob,
    };
    const kept = presence && createFence({ ...presence, registry, clock, random, log, ...leases });
    const fence = kept ?? NO_FENCE;
    const renewals = presence && createRenewals(pods, presence.client, fence);
    if (renewals !== undefined) pods.addHandler(renewals.handler);
    const reconcile = createJobReconciler({
      ...shared,
      clientOf: guardedOf,
      random,
      fence,
      queue,
      orphanQueue,
      recorder,
      metrics,
      batchPeriodMs,
      deniedNamespaces: settings.deniedNamespaces ?? [],
      deniedJobs,
      ...omitUndefined({ tails }),
    });
    return {
      invariants,
      isStopping(key: string): boolean {
        const job = jobs.get(parseKey(key));
        return job !== undefined && fence.stateOf(job) === 'Fenced';
      },
      takeIn(namespace: string): void {
        for (const job of jobs.list(namespace)) queue.add(keyOfObject(job));
        sweep?.takeIn(namespace);
      },
      sweep: async (signal: AbortSignal): Promise<void> => sweep?.run(signal),
      fences: kept === undefined ? [] : [kept, kinds],
      controllers: [
        {
          name: 'job',
          queue,
          concurrency,
          lanes: LANES,
          log,
          // Where pods are not known yet, it would create them a second time.
          reconcile: async (key: string) => (watched.isFilled(parseKey(key).namespace ?? '') ? reconcile(key) : undefined),
        },
        { name: 'job-orphan-pod', queue: orphanQueue, concurrency, log, reconcile: createOrphanReconciler(shared) },
        ...(kept === undefined ? [] : [kindFence.controller, ends.controller]),
        ...(renewals === undefined ? [] : [renewals.controller]),
        ...(sweep === undefined ? [] : [sweep.controller]),
      ],
    };
  }

  /** What no two say that were written by workers of this cluster, one after the other. */
  function createRenewals(pods: Informer<Pod>, unlimited: Presence['client'], fence: Pick<FenceOfJobs, 'isInReach'>) {
    const run = Math.floor(random() * 2 ** 48).toString(36);
    let count = 0;
    const newWord = (): string => `${run}-${count++}`;
    const queue = newQueue('pod_renewals', RENEWAL_RETRIES);
    const isOpen = (origin: string): boolean => fence.isInReach(origin);
    return createPodRenewals({ client: unlimited, jobs, pods, queue, isOpen, newWord, controllerName, clock, log, signal: stopped.signal });
  }

  function createTails(kept: Logs, kinds: Pick<WatchedKinds, 'ofOrigin' | 'isCached'>) {
    const reads = new Counter({
      name: 'switchyard_worker_log_tails_total',
      help: 'Log tails of pods, by result',
      labelNames: ['result'],
      registers: [registry],
    });
    fromZero(reads, { result: TAIL_RESULTS });
    const { namespace } = kept;
    const store = createTailStore({ ...kept, clock, controllerName, onKept: (copy) => sweep?.note(copy) });
    const sweepOf = {
      ...kept,
      store,
      present: () => [...jobs.list(), ...kinds.ofOrigin(undefined).map(({ copy }) => copy)].map(({ metadata }) => metadata.uid),
      isFilled: (each: string, otherKind: string | undefined) =>
        watched.isFilled(each) && (otherKind === undefined || kinds.isCached(otherKind)),
      controllerName,
      clock,
      log,
    };
    const sweep =
      namespace === undefined ? undefined : createTailSweep({ ...sweepOf, namespace, queue: newQueue('log_tails', TAIL_RETRIES) });
    return { tails: createTailKeeper({ ...kept, store, clock, log, reads }), sweep };
  }

  function ttlController() {
    const queue = newQueue('ttl_jobs_to_delete', TTL_RETRIES);
    jobs.addHandler(ttlTriggers(queue));
    const reconcile = createTtlReconciler({ client, jobs, clock, log, metrics: createTtlMetrics(registry) });
    return { name: 'ttl-after-finished', queue, concurrency: settings.concurrentTtlSyncs, log, reconcile };
  }
}

function createUnreadableGauge(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'switchyard_worker_unreadable_namespaces',
    help: 'Namespaces of --namespace that the worker may not read, so that their Jobs wait',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}
