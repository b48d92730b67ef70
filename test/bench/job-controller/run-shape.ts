/** One run of one shape: a fresh namespace, a fresh worker, Jobs created all at once, the clock stopped when the last is complete. */
import type { Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { inParallel } from '../../../worker/in-parallel.ts';
import type { BenchCluster } from '../cluster.ts';
import { total } from '../prometheus-text.ts';
import { type Figures, figuresOf } from './figures.ts';
import { runKubelet } from './kubelet.ts';
import { type Progress, watchProgress } from './progress.ts';
import type { CompletionMode, Shape } from './shapes.ts';
import { WorkerProgram } from './worker-program.ts';

export type RunOptions = {
  readonly cluster: BenchCluster;
  readonly namespace: string;
  readonly workerFlags: readonly string[];
  readonly nodeFlags: readonly string[];
};

export type Run = {
  readonly figures: Figures;
  readonly progress: readonly Progress[];
  /** How long each probing Job of one pod took, in milliseconds. */
  readonly probesMs: readonly number[];
};

/** Jobs created at once. */
const CREATORS = 16;
/** The worker has nothing left to write when it has written nothing for this long. */
const QUIET_MS = 1500;

export async function runShape(shape: Shape, mode: CompletionMode, options: RunOptions): Promise<Run> {
  const { cluster, namespace, workerFlags, nodeFlags } = options;
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  const ending = new AbortController();
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const helpers: Promise<void>[] = [];
  try {
    await using worker = await WorkerProgram.start(cluster.kubeconfigFile, ['--namespace', namespace, ...workerFlags], nodeFlags);
    const finished = watchFinished(client, namespace, ending.signal);
    helpers.push(runKubelet(client, namespace, ending.signal), finished.running);
    await finished.synced;
    return await Promise.race([measure(worker), worker.failsWhenEnded(), ...helpers.map((helper) => helper.then(() => unexpectedEnd()))]);

    async function measure(running: WorkerProgram): Promise<Run> {
      const pods = shape.jobs * shape.podsPerJob;
      const before = await running.samples();
      const startedMs = performance.now();
      const names = Array.from({ length: shape.jobs }, (_, index) => `load-${index}`);
      const done = finished.all(names);
      const progress = watchProgress(running, pods);
      const probing = probe();
      await inParallel(names, CREATORS, (name) => client.create(JOBS, aJob(name, namespace, shape, mode)));
      await done;
      const seconds = (performance.now() - startedMs) / 1000;
      const probesMs = await probing.stop();
      const steps = await progress.stop();
      await quiet(running);
      const after = await running.samples();
      const load = { pods: pods + probesMs.length, seconds, peakBytes: await running.peakBytes() };
      return { figures: figuresOf(before, after, load), progress: steps, probesMs };
    }

    function probe(): { stop(): Promise<number[]> } {
      if (shape.probeEveryMs === undefined) return { stop: async () => [] };
      const stopping = new AbortController();
      const small = { ...shape, podsPerJob: 1, parallelism: 1 };
      const probes: Promise<number>[] = [];
      const loop = async (everyMs: number): Promise<void> => {
        for (
          await sleep(systemClock, everyMs, stopping.signal);
          !stopping.signal.aborted;
          await sleep(systemClock, everyMs, stopping.signal)
        ) {
          probes.push(timeOne(`probe-${probes.length}`));
        }
      };
      const timeOne = async (name: string): Promise<number> => {
        const startedMs = performance.now();
        const done = finished.all([name]);
        await client.create(JOBS, aJob(name, namespace, small, mode));
        await done;
        return performance.now() - startedMs;
      };
      const looping = loop(shape.probeEveryMs);
      return {
        stop: async () => {
          stopping.abort();
          await looping;
          return Promise.all(probes);
        },
      };
    }
  } finally {
    ending.abort(new Error('the run is over'));
    await Promise.allSettled(helpers);
    await client.delete(NAMESPACES, { namespace: '', name: namespace });
    await client.close();
  }
}

const unexpectedEnd = (): never => {
  throw new Error('the watch of the benchmark itself has ended');
};

function aJob(name: string, namespace: string, { podsPerJob, parallelism = podsPerJob }: Shape, mode: CompletionMode): Unsaved<Job> {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace },
    spec: {
      managedBy: WORKER_CONTROLLER_NAME,
      completions: podsPerJob,
      parallelism,
      completionMode: mode,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'bench.invalid/none', command: ['true'] }] } },
    },
  };
}

type Finished = { readonly running: Promise<void>; readonly synced: Promise<void>; all(names: readonly string[]): Promise<void> };

/** Tells when Jobs are complete. A Job that fails, fails the benchmark. */
function watchFinished(client: KubeClient, namespace: string, signal: AbortSignal): Finished {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const informer = createInformer<Job>({
    client,
    resource: JOBS,
    namespace,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  });
  informer.addHandler({
    updated: (job) => {
      const end = finishedCondition(job.status);
      const waiter = waiting.get(job.metadata.name);
      if (end === undefined || waiter === undefined) return;
      waiting.delete(job.metadata.name);
      if (end.type === 'Complete') waiter.resolve();
      else waiter.reject(new Error(`job ${job.metadata.name} has failed: ${end.reason} (${end.message})`));
    },
  });
  return {
    running: informer.run(signal),
    synced: informer.waitForSync(),
    all: async (names) => {
      const waiters = names.map((name) => {
        const waiter = Promise.withResolvers<void>();
        waiting.set(name, waiter);
        return waiter.promise;
      });
      await Promise.all(waiters);
    },
  };
}

/** Events and the last finalizers may still be on their way when the last Job is complete. */
async function quiet(worker: WorkerProgram): Promise<void> {
  const written = async (): Promise<number> => total(await worker.samples(), 'rest_client_requests_total');
  for (let [last, now] = [-1, await written()]; now !== last; [last, now] = [now, await written()]) await sleep(systemClock, QUIET_MS);
}
