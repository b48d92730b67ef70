/**
 * A manager that is started again beside many Jobs: how long until it leads, until it has made its first decision, and what it writes. Before it starts, quota for one more Job is
 * given: that is the one decision there is to make, so that every other write is one that was not needed.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { joinCluster } from '../../manager/cli/local/set-up.ts';
import type { DeepReadonly, Job, KubeObject } from '../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES, NODES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { inParallel } from '../../worker/in-parallel.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type BenchCluster, startBenchCluster } from './cluster.ts';
import { A_BIG_NODE, aJob, NAMESPACE, sampleOf, samplesOf, setUpQueues } from './dispatch.ts';
import { defineSuite } from './suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const WORKERS = ['east', 'west', 'north'];
const CREATORS = 16;
/** So long after its first decision everything that it writes is counted; and its processor time, when it has come to rest. */
const AFTERWARDS_MS = 15_000;
const IDLE_MS = 30_000;
const STEP_MS = 20;
const FIRST_DECISION_MS_MAX = 10_000;
/** The Job that is admitted: its admission, its status home, a few Events; and the Lease that is renewed. */
const WRITES_TO_HOME_JOBS_MAX = 6;

const FLAGS = {
  waiting: { value: 'N', fallback: '1000', about: 'Jobs that wait', parse: wholeNumber(1) },
  running: { value: 'N', fallback: '100', about: 'Jobs that run, over three clusters', parse: wholeNumber(0) },
  profile: { about: 'have the manager write a processor profile where this is run' },
} satisfies FlagTable;

export const restartSuite = defineSuite(FLAGS, ({ waiting, running, profile }) => async () => {
  const figures = await measureRestart(waiting, running, profile);
  const { leadingMs, decidedMs, cpuSeconds, changed, calls, idleShare } = figures;
  console.log(`${waiting} waiting and ${running} running Jobs over ${WORKERS.length} worker clusters`);
  console.log(`  started to all of it listed     ${(leadingMs / 1_000).toFixed(1)} s`);
  console.log(`  started to first decision       ${(decidedMs / 1_000).toFixed(1)} s (at most ${FIRST_DECISION_MS_MAX / 1_000})`);
  console.log(`  processor time until then       ${cpuSeconds.toFixed(1)} s`);
  console.log(`  objects written, how often      ${[...changed].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  console.log(`  calls in all but GET            ${[...calls].map(([method, count]) => `${method} ${count}`).join(', ')}`);
  console.log(`  processor when all is at rest   ${(idleShare * 100).toFixed(1)} % of one core, live invariants included`);
  return decidedMs <= FIRST_DECISION_MS_MAX && (changed.get('home/jobs') ?? 0) <= WRITES_TO_HOME_JOBS_MAX;
});

type Figures = {
  readonly leadingMs: number;
  readonly decidedMs: number;
  readonly cpuSeconds: number;
  /** Versions of objects that came into being, by cluster and kind. */
  readonly changed: ReadonlyMap<string, number>;
  readonly calls: ReadonlyMap<string, number>;
  readonly idleShare: number;
};

async function measureRestart(waiting: number, running: number, profile: boolean): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const start = async (): Promise<{ cluster: BenchCluster; client: KubeClient }> => {
    const cluster = await startBenchCluster(undefined);
    resources.defer(() => cluster.stop());
    const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
    return { cluster, client: createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'bench', clock: systemClock }) };
  };
  const home = await start();
  const workers = await Promise.all(WORKERS.map(start));
  await setUpQueues(home.client);
  await setQuota(home.client, running);
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  for (const [index, { cluster, client }] of workers.entries()) {
    await client.create(NODES, { metadata: { name: 'node-1' }, spec: {} });
    await client.patchStatus(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { status: A_BIG_NODE } });
    await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await joinCluster(home.client, WORKERS[index] ?? '', readFileSync(cluster.kubeconfigFile, 'utf8'));
    playWorker(client, ending.signal);
  }
  const startManager = (nodeFlags: readonly string[] = []): ChildProgram => {
    const flags = [`--kubeconfig=${home.cluster.kubeconfigFile}`, '--kube-api-qps=0', '--worker-api-qps=0', '--leader-elect'];
    const election = ['--leader-elect-resource-namespace=default', '--record-key-secret=default/record-key'];
    return new ChildProgram('the manager', [process.execPath, ...nodeFlags, path.join(ROOT, 'manager', 'main.ts'), ...flags, ...election]);
  };
  const jobs = informerOf(home.client, JOBS, ending.signal);
  await using first = startManager();
  await inParallel(
    Array.from({ length: waiting + running }, (_, index) => `load-${index}`),
    CREATORS,
    async (name) => void (await home.client.create(JOBS, aJob(name))),
  );
  const isRunning = ({ status }: DeepReadonly<Job>): boolean => (status?.active ?? 0) > 0;
  while (jobs.list().filter(isRunning).length < running) await sleep(systemClock, 500);
  // What it says of those that wait is said.
  await sleep(systemClock, AFTERWARDS_MS);
  await first.stop();

  await setQuota(home.client, running + 1);
  const changed = new Map<string, number>();
  const watched = [
    ...[JOBS, WORKER_CLUSTERS, CLUSTER_QUEUES].map((resource) => ({ where: 'home', client: home.client, resource })),
    ...workers.map(({ client }, index) => ({ where: WORKERS[index] ?? '', client, resource: JOBS })),
  ];
  for (const { where, client, resource } of watched) {
    const key = `${where}/${resource.plural}`;
    changed.set(key, 0);
    const note = (isInInitialList: boolean): void => void (isInInitialList || changed.set(key, (changed.get(key) ?? 0) + 1));
    await countChanges(client, resource as Resource<KubeObject>, note, ending.signal);
  }
  const admittedBefore = new Set(jobs.list().flatMap(({ metadata, spec }) => (spec.suspend === true ? [] : [metadata.uid])));
  const decided = Promise.withResolvers<number>();
  const decisions = informerOf(home.client, JOBS, ending.signal, (job) => {
    if (job.spec.suspend !== true && !admittedBefore.has(job.metadata.uid)) decided.resolve(performance.now());
  });
  await decisions.waitForSync();
  const startedMs = performance.now();
  const second = resources.use(startManager(profile ? ['--cpu-prof'] : []));
  const url = await second.find((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
  while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(systemClock, STEP_MS);
  const leadingMs = performance.now() - startedMs;
  const decidedMs = (await decided.promise) - startedMs;
  const cpuSeconds = sampleOf(await samplesOf(url), 'process_cpu_seconds_total');
  await sleep(systemClock, AFTERWARDS_MS);
  const after = await samplesOf(url);
  const calls = new Map<string, number>();
  for (const { name, labels, value } of after) {
    const method = labels['method'] ?? '';
    if (name === 'rest_client_requests_total' && method !== 'GET') calls.set(method, (calls.get(method) ?? 0) + value);
  }
  const counted = new Map(changed);
  const cpuBefore = sampleOf(after, 'process_cpu_seconds_total');
  await sleep(systemClock, IDLE_MS);
  const idleShare = (sampleOf(await samplesOf(url), 'process_cpu_seconds_total') - cpuBefore) / (IDLE_MS / 1_000);
  return { leadingMs, decidedMs, cpuSeconds, changed: counted, calls, idleShare };
}

async function setQuota(client: KubeClient, cpus: number): Promise<void> {
  const group = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: String(cpus) }] }] };
  await client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { resourceGroups: [group] } } });
}

/** Every copy has one pod that runs and never ends. */
function playWorker(client: KubeClient, signal: AbortSignal): void {
  informerOf(client, JOBS, signal, ({ metadata: { namespace, name }, spec, status }) => {
    if (spec.suspend === true || status?.startTime !== undefined) return;
    const body = { status: { active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', terminating: 0, uncountedTerminatedPods: {} } };
    client.patchStatus(JOBS, { namespace, name }, { type: 'merge', body }).catch((error: unknown) => {
      if (!signal.aborted) console.error(`the status of ${name} could not be written`, error);
    });
  });
}

function informerOf(
  client: KubeClient,
  resource: Resource<Job>,
  signal: AbortSignal,
  seen?: (job: DeepReadonly<Job>) => void,
): Informer<Job> {
  const informer = createInformer({ client, resource, clock: systemClock, random: Math.random, log: silentLogger });
  if (seen !== undefined) informer.addHandler({ added: (job) => seen(job), updated: (job) => seen(job) });
  void informer.run(signal);
  return informer;
}

async function countChanges(
  client: KubeClient,
  resource: Resource<KubeObject>,
  note: (isInInitialList: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const informer = createInformer({ client, resource, clock: systemClock, random: Math.random, log: silentLogger });
  informer.addHandler({ added: (_, isInInitialList) => note(isInInitialList), updated: () => note(false), deleted: () => note(false) });
  void informer.run(signal);
  await informer.waitForSync();
}
