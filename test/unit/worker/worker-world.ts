/** A worker on an embedded control plane, in one process, on a clock that stands still: for tests of what the worker does to a cluster. */
import { Registry } from 'prom-client';
import type { Job, JobSpec, JobStatus, Pod, PodStatus } from '../../../shared/api/kubernetes.ts';
import { EVENTS, JOBS, NAMESPACES, PODS } from '../../../shared/api/resources.ts';
import { createControlPlane } from '../../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../shared/kube/transport.ts';
import { silentLogger, type LogFields, type Logger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { aborted } from '../../../shared/runtime/tasks.ts';
import type { FenceSettings } from '../../../worker/fence/fence.ts';
import type { Logs } from '../../../worker/job-parts.ts';
import { createWorker, type WorkerSettings } from '../../../worker/worker.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** Answers a request of the worker instead of the server; undefined lets it through, after whatever has been done meanwhile. */
export type Fault = (request: TransportRequest) => TransportResponse | undefined | Promise<TransportResponse | undefined>;

export type World = {
  readonly clock: FakeClock;
  readonly admin: KubeClient;
  readonly registry: Registry;
  /** `METHOD path` of each request of the worker, watches and lists left out. */
  readonly calls: string[];
  /** What was logged, from `info` on. */
  readonly warnings: { readonly level: 'info' | 'warn' | 'error'; readonly message: string; readonly fields: LogFields | undefined }[];
  fault: Fault | undefined;
  /** Like `fault`, but the server has done what was asked before its answer is lost. */
  lostAnswer: Fault | undefined;
  /** Keeps back what the worker's watches of these resources have to tell, until set to nothing. */
  hold(...resources: ('jobs' | 'pods' | 'leases')[]): void;
  /** The worker's watches break, and what happens until the clock moves on is forgotten by the server: a new list has to tell it. */
  expireWatches(): void;
  createJob(spec?: Partial<JobSpec>, name?: string, labels?: Record<string, string>): Promise<Job>;
  createPod(metadata: Partial<Pod['metadata']>): Promise<Pod>;
  patchJob(patch: object, name?: string): Promise<void>;
  job(name?: string): Promise<Job | undefined>;
  status(name?: string): Promise<JobStatus>;
  pods(): Promise<Pod[]>;
  setPod(pod: Pod, status: PodStatus): Promise<void>;
  /** Lets the time pass in which pod events are gathered, twice: for the reaction, and for what it sets off. */
  pass(seconds?: number): Promise<void>;
  /** `Type Reason: message` of the Events, how often each. */
  events(): Promise<Record<string, number>>;
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  /** Stops this worker and starts another: all memory is lost, and nothing is held back. */
  restart(settings?: Partial<WorkerSettings>, fence?: FenceSettings): Promise<void>;
  stop(): Promise<void>;
};

const SETTINGS: WorkerSettings = {
  controllerName: BUILT_IN_JOB_CONTROLLER_NAME,
  controllers: ['job'],
  concurrentJobSyncs: 5,
  concurrentTtlSyncs: 1,
  batchPeriodMs: 1000,
  namespaces: [],
};

/**
 * With `fence` the worker keeps its Lease, and stops copies whose manager is out of reach; with `logs` it keeps the ends of logs of copies.
 */
export async function createWorld(
  settings: Partial<WorkerSettings> = {},
  fence?: FenceSettings,
  logs?: Omit<Logs, 'client'>,
): Promise<World> {
  const clock = new FakeClock();
  const random = seededRandom(7);
  const controlPlane = await createControlPlane({ clock, random, log: silentLogger });
  const admin = createKubeClient(controlPlane.transport(), { userAgent: 'test', clock });
  await admin.create(NAMESPACES, { metadata: { name: 'ns' } });
  const calls: string[] = [];
  const warnings: World['warnings'] = [];
  const held = { resources: [] as string[], changed: Promise.withResolvers<void>() };
  let expiry = new AbortController();
  let running = start(settings, fence);

  function start(
    chosen: Partial<WorkerSettings>,
    chosenFence: FenceSettings | undefined,
  ): { readonly registry: Registry; stop(): Promise<void> } {
    const registry = new Registry();
    const stopping = new AbortController();
    const client = createKubeClient(observed(controlPlane.transport()), { userAgent: 'worker', clock });
    const worker = createWorker({
      client,
      ...(chosenFence && { presence: { client, identity: 'pod-1', version: '1.2.3', settings: chosenFence } }),
      ...(logs && { logs: { client, ...logs } }),
      registry,
      clock,
      random,
      log: recordingLogger(warnings),
      settings: { ...SETTINGS, ...chosen },
    });
    const ended = worker.run(stopping.signal);
    return {
      registry,
      async stop() {
        stopping.abort(new Error('the test is over'));
        await ended;
      },
    };
  }

  function observed(transport: Transport): Transport {
    return {
      async send(request) {
        const isWrite = request.method !== 'GET';
        if (isWrite || /\/jobs\/[^/?]+$/.test(request.path)) calls.push(`${request.method} ${request.path}`);
        const instead = await world.fault?.(request);
        if (instead !== undefined) return instead;
        const response = await transport.send(request);
        return (await world.lostAnswer?.(request)) ?? response;
      },
      async stream(request) {
        const { signal: expired } = expiry;
        const signal = request.signal === undefined ? expired : AbortSignal.any([request.signal, expired]);
        const stream = await transport.stream({ ...request, signal });
        return { ...stream, chunks: gated(stream.chunks, /\/(jobs|pods|leases)\?/.exec(request.path)?.[1], expired, signal) };
      },
      close: () => transport.close(),
    };
  }

  async function* gated(
    chunks: AsyncIterable<string>,
    resource: string | undefined,
    expired: AbortSignal,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    try {
      for await (const chunk of chunks) {
        while (resource !== undefined && held.resources.includes(resource)) {
          await Promise.race([held.changed.promise, aborted(signal)]);
          signal.throwIfAborted();
        }
        yield chunk;
      }
    } catch (error) {
      if (!expired.aborted) throw error;
    }
    if (expired.aborted)
      yield `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })}\n`;
  }

  const world: World = {
    clock,
    admin,
    get registry() {
      return running.registry;
    },
    calls,
    warnings,
    fault: undefined,
    lostAnswer: undefined,
    hold(...resources) {
      const { changed } = held;
      held.resources = resources;
      held.changed = Promise.withResolvers();
      changed.resolve();
    },
    expireWatches() {
      const before = expiry;
      expiry = new AbortController();
      before.abort(new Error('the watch expired'));
    },
    createJob: (spec = {}, name = 'job', labels = {}) =>
      admin.create(JOBS, {
        metadata: { name, namespace: 'ns', labels },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } }, ...spec },
      }),
    createPod: (metadata) =>
      admin.create(PODS, {
        metadata: { ...metadata, namespace: 'ns' },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] },
      }),
    async patchJob(body, name = 'job') {
      await admin.patch(JOBS, { namespace: 'ns', name }, { type: 'merge', body });
    },
    job: async (name = 'job') => (await admin.list(JOBS, { namespace: 'ns' })).items.find((job) => job.metadata.name === name),
    status: async (name = 'job') => (await world.job(name))?.status ?? {},
    pods: async () =>
      (await admin.list(PODS, { namespace: 'ns' })).items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name)),
    async setPod(pod, status) {
      await admin.patchStatus(PODS, { namespace: 'ns', name: pod.metadata.name }, { type: 'merge', body: { status } });
    },
    async pass(seconds = 2) {
      await clock.settle();
      for (let step = 0; step < seconds * 2; step++) await clock.advance(500);
    },
    async events() {
      const { items } = await admin.list(EVENTS, { namespace: 'ns' });
      const told: Record<string, number> = {};
      for (const { type, reason, message, count } of items) {
        const text = `${type} ${reason}: ${message}`.replaceAll(/(job(-\d+)?)-[a-z0-9]{5}\b/g, '<pod>');
        told[text] = (told[text] ?? 0) + (count ?? 1);
      }
      return told;
    },
    async metric(name, labels = {}) {
      const metric = await running.registry.getSingleMetric(name)?.get();
      const values =
        metric?.values.filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted)) ?? [];
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    async restart(chosen = settings, chosenFence = fence) {
      world.hold();
      await running.stop();
      running = start(chosen, chosenFence);
      await clock.advance(0);
    },
    async stop() {
      world.hold();
      await running.stop();
      await controlPlane.close();
    },
  };
  await clock.advance(0);
  return world;
}

function recordingLogger(lines: World['warnings']): Logger {
  const record = (level: World['warnings'][number]['level'], message: string, fields?: LogFields): void =>
    void lines.push({ level, message, fields });
  const logger = (bound: LogFields): Logger => ({
    ...silentLogger,
    info: (message, fields) => record('info', message, { ...bound, ...fields }),
    warn: (message, fields) => record('warn', message, { ...bound, ...fields }),
    error: (message, fields) => record('error', message, { ...bound, ...fields }),
    with: (fields) => logger({ ...bound, ...fields }),
  });
  return logger({});
}

/** A refusal as an API server words it. */
export const refusal = (code: number, reason: string, message: string, details?: object): TransportResponse => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, ...(details && { details }) }),
});

export const SUCCEEDED: PodStatus = { phase: 'Succeeded' };
export const FAILED: PodStatus = { phase: 'Failed' };
