/** The worker, put together: informers, queues and controllers over one API server. Nothing runs before `run`. */
import { isDeepStrictEqual } from 'node:util';
import { Gauge, type Registry } from 'prom-client';
import type { Job, ObjectKey, Pod } from '../shared/api/kubernetes.ts';
import { JOBS, PODS, type Resource } from '../shared/api/resources.ts';
import { isConflict, isInvalid, isNotFound } from '../shared/kube/api-error.ts';
import type { KubeClient, WriteClient } from '../shared/kube/client.ts';
import { type ControllerOptions, runController } from '../shared/kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../shared/kube/event-recorder.ts';
import type { Informer } from '../shared/kube/informer.ts';
import { formatKey } from '../shared/kube/keys.ts';
import { guardStaleReads, type StaleReadGuardOptions } from '../shared/kube/stale-read-guard.ts';
import { createWorkqueue, type RateLimit, type Workqueue } from '../shared/kube/workqueue.ts';
import { createWorkqueueMetrics } from '../shared/kube/workqueue-metrics.ts';
import { endsWithin } from '../shared/runtime/clock.ts';
import type { InvariantReport } from '../shared/runtime/invariant-report.ts';
import { aborted } from '../shared/runtime/tasks.ts';
import { createPodTrimmer, podIndexers } from './job/pod-cache.ts';
import { copyIndexers, createJobParts, type JobParts, type JobPartsDeps, type JobSettings } from './job-parts.ts';
import { copyPodIndexers } from './kinds/copy-pods.ts';
import { createTtlMetrics, createTtlReconciler, ttlTriggers } from './ttl/ttl-after-finished.ts';
import { createWatchedNamespaces, type WatchedNamespaces } from './watched-namespaces.ts';

export const WORKER_CONTROLLERS = ['job', 'ttl-after-finished'] as const;
export type WorkerController = (typeof WORKER_CONTROLLERS)[number];

export type WorkerSettings = JobSettings & {
  readonly controllers: readonly WorkerController[];
  readonly concurrentTtlSyncs: number;
};

export type WorkerDeps = Pick<JobPartsDeps, 'registry' | 'clock' | 'random' | 'log' | 'presence' | 'logs' | 'spans'> & {
  readonly client: KubeClient;
  /** What is sent for one Job goes through the client of its key, so that Jobs share the rate limit fairly. Default: `client`. */
  readonly clientOf?: (key: string) => KubeClient;
  /** Writes Events; one with its own rate limit keeps them from delaying pods. Default: `client`. */
  readonly eventClient?: WriteClient;
  readonly settings: WorkerSettings;
};

export interface Worker {
  /** Works until `signal` aborts and what was under way is done. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** What the worker waits for before it can work; undefined when it is ready. */
  problem(): string | undefined;
  /** Whether what is promised holds; undefined while it is not looked at. */
  invariants(): InvariantReport | undefined;
}

const TTL_RETRIES: RateLimit = { baseDelayMs: 5, maxDelayMs: 1_000_000 };
const FLUSH_MS = 3_000;
const EVENT_SOURCE = 'job-controller';
/** What a worker ends with whose cluster was restored from an older backup. */
export const restoredError = (cause: Error): Error => new Error('the cluster went back in time; the worker starts anew', { cause });

const undefinedIfNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};

const contentOf = (object: object | undefined): unknown[] => {
  const { spec, status } = (object ?? {}) as { readonly spec?: unknown; readonly status?: unknown };
  return [spec, status];
};

export function createWorker(deps: WorkerDeps): Worker {
  return new ClusterWorker(deps);
}

class ClusterWorker implements Worker {
  readonly #deps: WorkerDeps;
  /** Aborts when the cluster turns out to be restored from an older backup. */
  readonly #restored = new AbortController();
  readonly #stopped = new AbortController();
  readonly #watched: WatchedNamespaces;
  readonly #jobs: Informer<Job>;
  readonly #pods: Informer<Pod> | undefined;
  readonly #recorder: EventRecorder;
  readonly #jobParts: JobParts | undefined;
  readonly #controllers: readonly ControllerOptions[];

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    const { eventClient = deps.client, clientOf, registry, clock, random, log, settings } = deps;
    const onWentBack = (error: Error): void => this.#wentBack(error);
    const guard: StaleReadGuardOptions = {
      clock,
      cached: (resource, key) => this.#cacheOf(resource)?.get(key)?.metadata.resourceVersion,
      // A restored server gives versions a second time: then a write on what the object was is refused for its content.
      isSign: (error, { plural }) => isConflict(error) || isInvalid(error) || (isNotFound(error) && plural === PODS.plural),
      onDoubt: (...doubt) => void this.#resolveDoubt(...doubt),
    };
    const client = guardStaleReads(deps.client, guard);
    const watched = createWatchedNamespaces(settings.namespaces, log, (namespace) => this.#jobParts?.takeIn(namespace));
    this.#watched = watched;
    const common = { client, clock, random, log, onWentBack };
    const jobs = watched.informerOf({ ...common, resource: JOBS, indexers: copyIndexers });
    this.#jobs = jobs;
    this.#pods = settings.controllers.includes('job')
      ? watched.informerOf({ ...common, resource: PODS, indexers: { ...podIndexers, ...copyPodIndexers }, transform: createPodTrimmer() })
      : undefined;
    this.#recorder = createEventRecorder({ client: eventClient, component: EVENT_SOURCE, clock, log });
    const queueMetrics = createWorkqueueMetrics(registry, clock);
    const newQueue: JobPartsDeps['newQueue'] = (name, rateLimit, more) =>
      createWorkqueue({ name, clock, rateLimit, metrics: queueMetrics.of(name), ...more });
    this.#jobParts =
      this.#pods &&
      createJobParts({
        ...deps,
        client,
        clientOf: clientOf === undefined ? () => client : (key) => guardStaleReads(clientOf(key), guard),
        jobs,
        pods: this.#pods,
        newQueue,
        isFilled: (namespace) => watched.isFilled(namespace),
        recorder: this.#recorder,
        onWentBack,
        signal: this.#stopped.signal,
      });
    this.#controllers = [
      ...(this.#jobParts?.controllers ?? []),
      ...(settings.controllers.includes('ttl-after-finished')
        ? [this.#ttlController(client, newQueue('ttl_jobs_to_delete', TTL_RETRIES))]
        : []),
    ];
    createUnreadableGauge(registry, () => watched.unreadable().length);
  }

  async run(signal: AbortSignal): Promise<void> {
    const watching = new AbortController();
    const restored = this.#restored.signal;
    const informers = this.#pods === undefined ? [this.#jobs] : [this.#jobs, this.#pods];
    const informing = Promise.all([...informers, ...(this.#jobParts?.fences ?? [])].map((each) => each.run(watching.signal)));
    try {
      const until = AbortSignal.any([signal, restored]);
      if (await this.#allSynced(until)) await this.#work(until);
      // What it remembers of pods that it made and counted did not happen: anew is how it is known to be right.
      if (restored.aborted && !signal.aborted) throw restored.reason;
    } finally {
      for (const each of [watching, this.#stopped]) each.abort(new Error('the worker has stopped'));
      await informing;
      // What cannot be told in time stays untold: whoever stops should not hang on an Event.
      await endsWithin(this.#deps.clock, FLUSH_MS, this.#recorder.flush());
    }
  }

  invariants(): InvariantReport | undefined {
    return this.#jobParts?.invariants.report();
  }

  problem(): string | undefined {
    return this.#watched.problem();
  }

  #wentBack(error: Error): void {
    this.#restored.abort(restoredError(error));
  }

  #cacheOf({ plural }: Resource): Informer<Job> | Informer<Pod> | undefined {
    if (plural === JOBS.plural) return this.#jobs;
    return plural === PODS.plural ? this.#pods : undefined;
  }

  /** A cache that has caught up with the server, and does not show what that had, goes on from a place of another course of things. */
  async #resolveDoubt(resource: Resource, key: ObjectKey, shown: string): Promise<void> {
    const cache = this.#cacheOf(resource);
    const stopped = this.#stopped.signal;
    if (cache === undefined || stopped.aborted) return;
    const name = `${resource.plural} ${formatKey(key)}`;
    try {
      const stored = await this.#deps.client.get(resource, key).catch(undefinedIfNotFound);
      await cache.catchUp(stopped, key.namespace);
      const present = cache.get(key);
      const isSame =
        stored?.metadata.resourceVersion === shown && (resource !== JOBS || isDeepStrictEqual(contentOf(stored), contentOf(present)));
      if (present?.metadata.resourceVersion !== shown || isSame) return;
      const where = stored === undefined ? 'nowhere' : `at ${stored.metadata.resourceVersion}`;
      this.#wentBack(new Error(`${name} is cached at ${shown}, and stored ${where}`));
    } catch (error) {
      if (!stopped.aborted) this.#deps.log.warn('an object of which writes are refused could not be looked at', { object: name, error });
    }
  }

  /** False when the worker is to stop before it has begun. */
  async #allSynced(signal: AbortSignal): Promise<boolean> {
    const { log, settings } = this.#deps;
    const { controllers, controllerName } = settings;
    await Promise.race([this.#watched.filled(), aborted(signal)]);
    if (!signal.aborted) log.info('caches are filled, starting to work', { controllers, controllerName });
    return !signal.aborted;
  }

  async #work(signal: AbortSignal): Promise<void> {
    const jobParts = this.#jobParts;
    const ofJobs = jobParts === undefined ? [] : [jobParts.invariants.run(signal), jobParts.sweep(signal)];
    const working = [...this.#controllers.map(runController), ...ofJobs];
    await aborted(signal);
    for (const { queue } of this.#controllers) queue.shutDown();
    await Promise.all(working);
  }

  #ttlController(client: KubeClient, queue: Workqueue): ControllerOptions {
    const { registry, clock, log, settings } = this.#deps;
    const jobs = this.#jobs;
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
