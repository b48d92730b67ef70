/**
 * One-pod Jobs the whole way: created on a manager cluster, admitted, mirrored to one of two worker clusters, run there, and home again.
 * Every program is a process of its own: three API servers, the manager, two workers; this process creates the Jobs and plays every
 * kubelet. Beside it the same writes by a bare loop without any logic, as a measure of what the API servers bear.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CLUSTER_QUEUES, type ClusterQueueSpec } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { installKinds, joinCluster } from '../../manager/cli/local/set-up.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, NODES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { FlagError, rate, wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { inParallel } from '../../worker/in-parallel.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type BenchCluster, startBenchCluster } from './cluster.ts';
import { measureFloor, type Stopwatch } from './dispatch-floor.ts';
import { runKubelet } from './job-controller/kubelet.ts';
import { WorkerProgram } from './job-controller/worker-program.ts';
import { cpuSecondsOf, peakResidentBytesOf } from './process-figures.ts';
import { parseSamples, type Sample } from './prometheus-text.ts';
import { defineSuite } from './suite.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const WORKERS = ['east', 'west'];
export const NAMESPACE = 'load';
/** As in the image. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
/** Creates under way at once. */
export const CREATORS = 16;
/** Before anything is measured: programs that run for months have compiled what they do all the time. */
const WARM_UP_JOBS = 200;
/** Calls that the manager may make for a one-pod Job, Events included. */
const MANAGER_CALLS_PER_JOB_MAX = 5.5;
/** Resident memory of the manager at any time, by 1,000 Jobs at once; more Jobs take more. */
const MANAGER_PEAK_MIB_MAX = 300;

const FLAGS = {
  jobs: { value: 'N', fallback: '1000', about: 'how many', parse: wholeNumber(1) },
  rate: { value: 'N', about: 'created per second; default: as fast as the API server takes them', parse: rateAboveZero },
} satisfies FlagTable;

export const dispatchSuite = defineSuite(FLAGS, ({ jobs, rate: perSecond }) => async () => {
  const figures = await measureDispatch(jobs, perSecond);
  print(jobs, figures);
  // Where there is no /proc the memory is not known, and not judged.
  return figures.managerCallsPerJob <= MANAGER_CALLS_PER_JOB_MAX && !(figures.managerPeakMiB > MANAGER_PEAK_MIB_MAX);
});

function rateAboveZero(given: string): number {
  const perSecond = rate(given);
  if (perSecond > 0) return perSecond;
  throw new FlagError(`${JSON.stringify(given)} creates nothing; write a number above 0`);
}

type Figures = {
  readonly floorPerSecond: number;
  readonly perSecond: number;
  /** From the answer to the create until the informer shows Complete, in milliseconds, ascending. */
  readonly latenciesMs: readonly number[];
  /** From the answer to the create until a worker cluster shows the copy, in milliseconds, ascending. */
  readonly toCopyMs: readonly number[];
  readonly managerCallsPerJob: number;
  readonly managerCalls: ReadonlyMap<string, number>;
  /** Processor time of a Job by program, in milliseconds: of the bare loop, and of the whole way. */
  readonly floorCpuMs: ReadonlyMap<string, number>;
  readonly cpuMs: ReadonlyMap<string, number>;
  /** The most memory that the manager ever had resident. */
  readonly managerPeakMiB: number;
};

async function measureDispatch(jobs: number, perSecond: number | undefined): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const start = async (): Promise<{ cluster: BenchCluster; client: KubeClient }> => {
    const cluster = await startBenchCluster(undefined);
    resources.defer(() => cluster.stop());
    const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
    return {
      cluster,
      client: createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock }),
    };
  };
  const home = await start();
  // One after the other: the programs of a cluster are those that appear while it starts.
  const workers = [await start(), await start()];
  const programs = new Map<string, () => number>([
    ['API servers', () => [home, ...workers].reduce((sum, { cluster }) => sum + (cluster.cpuSeconds?.() ?? Number.NaN), 0)],
    ['this process', () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6],
  ]);
  const floorJobs = Math.min(jobs, 500);
  const floorCpuMs = new Map<string, number>();
  const floorPerSecond = await measureFloor(
    home.client,
    workers.map(({ client }) => client),
    { warmUp: WARM_UP_JOBS, jobs: floorJobs, measured: stopwatch(programs, floorJobs, floorCpuMs) },
  );

  await setUpQueues(home.client);
  const workerPrograms: WorkerProgram[] = [];
  for (const [index, { cluster, client }] of workers.entries()) {
    await client.create(NODES, { metadata: { name: 'node-1' }, spec: {} });
    await client.patchStatus(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { status: A_BIG_NODE } });
    await joinCluster(home.client, WORKERS[index] ?? '', readFileSync(cluster.kubeconfigFile, 'utf8'));
    workerPrograms.push(resources.use(await WorkerProgram.start(cluster.kubeconfigFile, ['--kube-api-qps=0'])));
  }
  const manager = resources.use(
    new ChildProgram('the manager', [
      process.execPath,
      ...NODE_FLAGS,
      path.join(ROOT, 'manager', 'main.ts'),
      `--kubeconfig=${home.cluster.kubeconfigFile}`,
      '--kube-api-qps=0',
      '--worker-api-qps=0',
    ]),
  );
  const url = await manager.find((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
  programs.set('workers', () => workerPrograms.reduce((sum, program) => sum + program.cpuSeconds(), 0));
  programs.set('manager', () => cpuSecondsOf(manager.pid));
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  // The namespace must be there to be watched; the manager would make it with the first copy.
  for (const { client } of workers) await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  for (const { client } of workers) void runKubelet(client, NAMESPACE, ending.signal);
  const completions = watchCompletions(home.client, ending.signal);
  const copySeenMs = new Map<string, number>();
  for (const { client } of workers) watchCopies(client, copySeenMs, ending.signal);
  const warmUp = Array.from({ length: WARM_UP_JOBS }, (_, index) => `warm-up-${index}`);
  await createAndAwait(home.client, completions, warmUp, undefined);

  const before = await samplesOf(url);
  const startedMs = performance.now();
  const names = Array.from({ length: jobs }, (_, index) => `load-${index}`);
  const createdMs = new Map<string, number>();
  const cpuMs = new Map<string, number>();
  let latenciesMs: number[] = [];
  let seconds = 0;
  await stopwatch(
    programs,
    jobs,
    cpuMs,
  )(async () => {
    latenciesMs = await createAndAwait(home.client, completions, names, perSecond, { createdMs });
    seconds = (performance.now() - startedMs) / 1000;
    // What is done after a Job has ended, such as deleting its copy, is part of its price.
    await new Promise((resolve) => setTimeout(resolve, 2000));
  });
  const after = await samplesOf(url);
  const managerCalls = callsByKind(before, after);
  return {
    floorPerSecond,
    perSecond: jobs / seconds,
    latenciesMs: latenciesMs.toSorted((a, b) => a - b),
    toCopyMs: [...createdMs].map(([name, ms]) => (copySeenMs.get(name) ?? Number.NaN) - ms).toSorted((a, b) => a - b),
    managerCalls,
    managerCallsPerJob: [...managerCalls.values()].reduce((sum, count) => sum + count, 0) / jobs,
    floorCpuMs,
    cpuMs,
    managerPeakMiB: peakResidentBytesOf(manager.pid) / 1024 / 1024,
  };
}

export const A_BIG_NODE = {
  allocatable: { cpu: '100k', memory: '100Ti', pods: '100k' },
  capacity: { cpu: '100k', memory: '100Ti', pods: '100k' },
  conditions: [{ type: 'Ready', status: 'True' }],
};

export async function setUpQueues(client: KubeClient): Promise<void> {
  await installKinds(client, ROOT);
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await client.create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const group = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '100k' }] }] };
  // All clusters are to work, and no node is ever full.
  const spec: ClusterQueueSpec = { namespaceSelector: {}, resourceGroups: [group], placement: 'MostRoom' };
  await client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec });
  await client.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: NAMESPACE }, spec: { clusterQueue: 'main' } });
}

/** `clusters`: where it may run; absent: anywhere. */
export function aJob(name: string, clusters?: string): Job {
  const annotations = clusters === undefined ? {} : { annotations: { [CLUSTERS_ANNOTATION]: clusters } };
  const prepared = prepareJob(JOB_KIND, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, ...annotations },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  });
  if (prepared.kind === 'Refused') throw new Error(`the benchmark's own Job is refused: ${JSON.stringify(prepared.problems)}`);
  return prepared.job as unknown as Job;
}

/** Resolves, by name, when the Job is Complete on the manager cluster. */
export type Completions = { of(name: string): Promise<void> };

export function watchCompletions(client: KubeClient, signal: AbortSignal): Completions {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const entry = (name: string): PromiseWithResolvers<void> => {
    const known = waiting.get(name) ?? Promise.withResolvers<void>();
    waiting.set(name, known);
    return known;
  };
  const informer = createInformer({
    client,
    resource: JOBS,
    namespace: NAMESPACE,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  });
  informer.addHandler({
    updated: ({ metadata, status }) => {
      if (status?.conditions?.some((condition) => condition.type === 'Complete' && condition.status === 'True'))
        entry(metadata.name).resolve();
    },
  });
  void informer.run(signal);
  return { of: (name) => entry(name).promise };
}

/** Notes when each copy was first seen. */
function watchCopies(client: KubeClient, seenMs: Map<string, number>, signal: AbortSignal): void {
  const log = silentLogger;
  const informer = createInformer({ client, resource: JOBS, namespace: NAMESPACE, clock: systemClock, random: Math.random, log });
  informer.addHandler({ added: ({ metadata }) => void seenMs.set(metadata.name, performance.now()) });
  void informer.run(signal);
}

/** `createdMs` is filled with the time at which the answer to each create came. */
export async function createAndAwait(
  client: KubeClient,
  completions: Completions,
  names: readonly string[],
  perSecond: number | undefined,
  { clusters, createdMs }: { readonly clusters?: string; readonly createdMs?: Map<string, number> } = {},
): Promise<number[]> {
  const startedMs = performance.now();
  const latencies: Promise<number>[] = [];
  await inParallel(
    names.map((name, index) => ({ name, index })),
    CREATORS,
    async ({ name, index }) => {
      const dueMs = perSecond === undefined ? 0 : startedMs + (index * 1000) / perSecond - performance.now();
      if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
      await client.create(JOBS, aJob(name, clusters));
      const answeredMs = performance.now();
      createdMs?.set(name, answeredMs);
      latencies.push(completions.of(name).then(() => performance.now() - answeredMs));
    },
  );
  return Promise.all(latencies);
}

export const samplesOf = async (url: string): Promise<Sample[]> => parseSamples(await (await fetch(`${url}/metrics`)).text());
export const sampleOf = (samples: readonly Sample[], name: string): number => samples.find((sample) => sample.name === name)?.value ?? 0;

/** `POST`, `PATCH`, ... of the manager to all clusters. */
function callsByKind(before: readonly Sample[], after: readonly Sample[]): Map<string, number> {
  const calls = new Map<string, number>();
  for (const [samples, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    for (const { name, labels, value } of samples) {
      if (name === 'rest_client_requests_total') calls.set(labels['method'] ?? '', (calls.get(labels['method'] ?? '') ?? 0) + sign * value);
    }
  }
  return calls;
}

/** Milliseconds a Job that each program takes while `work` is done. */
const stopwatch =
  (programs: ReadonlyMap<string, () => number>, jobs: number, cpuMs: Map<string, number>): Stopwatch =>
  async (work) => {
    const before = new Map([...programs].map(([name, cpuSeconds]) => [name, cpuSeconds()]));
    await work();
    for (const [name, cpuSeconds] of programs) cpuMs.set(name, ((cpuSeconds() - (before.get(name) ?? 0)) * 1000) / jobs);
  };

function print(jobs: number, figures: Figures): void {
  const { perSecond, floorPerSecond, latenciesMs, toCopyMs, managerCalls, managerCallsPerJob, floorCpuMs, cpuMs, managerPeakMiB } = figures;
  const quantile = (all: readonly number[], share: number): string =>
    `${Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0)} ms`;
  const inWords = (milliseconds: ReadonlyMap<string, number>): string =>
    [...milliseconds].map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`).join(', ');
  const byKind = [...managerCalls].map(([kind, count]) => `${kind} ${(count / jobs).toFixed(2)}`).join(', ');
  console.log(`${jobs} one-pod Jobs over ${WORKERS.length} worker clusters`);
  console.log(`  Jobs a second                  ${perSecond.toFixed(1)}`);
  console.log(`  the same writes, bare loop     ${floorPerSecond.toFixed(1)} Jobs a second`);
  console.log(`  created to copy on its cluster p50 ${quantile(toCopyMs, 0.5)}, p99 ${quantile(toCopyMs, 0.99)}`);
  console.log(`  created to complete at home    p50 ${quantile(latenciesMs, 0.5)}, p99 ${quantile(latenciesMs, 0.99)}`);
  console.log(`  API calls of the manager       ${managerCallsPerJob.toFixed(2)} a Job (at most ${MANAGER_CALLS_PER_JOB_MAX}): ${byKind}`);
  console.log(`  processor time, bare loop      ${inWords(floorCpuMs)}`);
  console.log(`  processor time a Job           ${inWords(cpuMs)}`);
  console.log(`  most memory of the manager     ${managerPeakMiB.toFixed(0)} MiB (at most ${MANAGER_PEAK_MIB_MAX})`);
}
