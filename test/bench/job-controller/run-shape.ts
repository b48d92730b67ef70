/**
 * One run of one shape: a fresh namespace, a fresh Job controller, Jobs created all at once, the clock stopped when the last is complete.
 * Further rounds create as many Jobs again in the same program, which by then has a history.
 */
import type { Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
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
import { UpstreamProgram } from './upstream-program.ts';
import { WorkerProgram } from './worker-program.ts';

/** Whose Job controller runs the load. */
export type Contender = 'worker' | 'kube-controller-manager';

export type RunOptions = {
  readonly contender: Contender;
  readonly rounds: number;
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

export async function runShape(shape: Shape, mode: CompletionMode, options: RunOptions): Promise<readonly Run[]> {
  const { contender, rounds, cluster, namespace, workerFlags, nodeFlags } = options;
  const managedBy = contender === 'worker' ? WORKER_CONTROLLER_NAME : BUILT_IN_JOB_CONTROLLER_NAME;
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  const ending = new AbortController();
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const helpers: Promise<void>[] = [];
  try {
    await using program =
      contender === 'worker'
        ? await WorkerProgram.start(cluster.kubeconfigFile, ['--namespace', namespace, ...workerFlags], nodeFlags)
        : await UpstreamProgram.start(cluster.kubeconfigFile);
    const finished = watchFinished(client, namespace, ending.signal);
    helpers.push(runKubelet(client, namespace, ending.signal), finished.running);
    await finished.synced;
    const ends = [program.failsWhenEnded(), ...helpers.map((helper) => helper.then(() => unexpectedEnd()))];
    const runs: Run[] = [];
    for (let round = 1; round <= rounds; round++) runs.push(await Promise.race([measure(program, round), ...ends]));
    return runs;

    async function measure(running: WorkerProgram | UpstreamProgram, round: number): Promise<Run> {
      const pods = shape.jobs * shape.podsPerJob;
      const before = await running.samples();
      const [cpuBefore, serverBefore] = [running.cpuSeconds(), cluster.cpuSeconds?.()];
      const startedMs = performance.now();
      const names = Array.from({ length: shape.jobs }, (_, index) => `load-${round}-${index}`);
      const done = finished.all(names);
      const progress = watchProgress(running, pods);
      const probing = probe(round);
      await inParallel(names, CREATORS, (name) => client.create(JOBS, aJob(name, namespace, managedBy, shape, mode)));
      await done;
      const seconds = (performance.now() - startedMs) / 1000;
      const probesMs = await probing.stop();
      const steps = await progress.stop();
      await quiet(running);
      const after = await running.samples();
      const cpuSeconds = running.cpuSeconds() - cpuBefore;
      const serverCpuSeconds = (cluster.cpuSeconds?.() ?? Number.NaN) - (serverBefore ?? Number.NaN);
      const load = { pods: pods + probesMs.length, seconds, cpuSeconds, serverCpuSeconds, peakBytes: await running.peakBytes() };
      return { figures: figuresOf(before, after, load), progress: steps, probesMs };
    }

    function probe(round: number): { stop(): Promise<number[]> } {
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
          probes.push(timeOne(`probe-${round}-${probes.length}`));
        }
      };
      const timeOne = async (name: string): Promise<number> => {
        const startedMs = performance.now();
        const done = finished.all([name]);
        await client.create(JOBS, aJob(name, namespace, managedBy, small, mode));
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

function aJob(
  name: string,
  namespace: string,
  managedBy: string,
  { podsPerJob, parallelism = podsPerJob }: Shape,
  mode: CompletionMode,
): Unsaved<Job> {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace },
    spec: {
      managedBy,
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
async function quiet(worker: WorkerProgram | UpstreamProgram): Promise<void> {
  const written = async (): Promise<number> => total(await worker.samples(), 'rest_client_requests_total');
  for (let [last, now] = [-1, await written()]; now !== last; [last, now] = [now, await written()]) await sleep(systemClock, QUIET_MS);
}
