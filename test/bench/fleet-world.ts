import path from 'node:path';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { joinCluster } from '../../manager/cli/local/set-up.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { CLUSTER_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { ApiError, isAlreadyExists } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { inParallel } from '../../worker/in-parallel.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startBenchCluster } from './cluster.ts';
import { aJob, CREATORS, createAndAwait, NAMESPACE, setUpQueues, watchCompletions, type Completions } from './dispatch.ts';
import { cpuSecondsOf } from './process-figures.ts';

/**
 * Worker clusters that all live in one process and complete every copy at once, and a manager, a program of its own, for any number of
 * them.
 */
export type Fleet = { readonly kubeconfigs: ReadonlyMap<string, string> };

/** What a number of Jobs took. */
export type Load = { readonly perSecond: number; readonly managerMs: number };

export interface FleetManager {
  readonly home: KubeClient;
  readonly completions: Completions;
  /** Jobs that may run on these clusters, or on all, created as fast as the API server takes them. */
  load(name: string, jobs: number, clusters?: string): Promise<Load>;
  /** The same at a rate; resolves to the milliseconds from the answer to each create until the Job is Complete, ascending. */
  latencies(name: string, jobs: number, perSecond: number, clusters: string): Promise<readonly number[]>;
  /** Dispatches so many Jobs to this cluster whose copies run for ever. */
  occupy(cluster: string, jobs: number): Promise<void>;
  /** Ends the manager and starts another one that keeps its default rates. */
  restartWithRates(): Promise<void>;
}

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Clusters that share one process, `NAME-0` and so on. It ends with `resources`. */
export async function startFleet(count: number, resources: AsyncDisposableStack, name = 'fleet'): Promise<Fleet> {
  const program = path.join(ROOT, 'test', 'bench', 'worker-fleet-program.ts');
  const fleet = resources.use(new ChildProgram('the worker clusters', [process.execPath, program, String(count), name]));
  const { kubeconfigs } = await fleet.find((line) =>
    line.startsWith('{"kubeconfigs"') ? (JSON.parse(line) as { kubeconfigs: Record<string, string> }) : undefined,
  );
  return { kubeconfigs: new Map(Object.entries(kubeconfigs)) };
}

/** A manager cluster of its own, and a manager for which all these worker clusters are Ready. */
export async function startFleetManager(kubeconfigs: ReadonlyMap<string, string>, resources: AsyncDisposableStack): Promise<FleetManager> {
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const home = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  await setUpQueues(home);
  for (const [name, kubeconfig] of kubeconfigs) await joinCluster(home, name, kubeconfig);
  const start = (rates: readonly string[]): ChildProgram => {
    const flags = [`--kubeconfig=${cluster.kubeconfigFile}`, '--log-level=error', ...rates];
    const command = [process.execPath, '--max-semi-space-size=8', path.join(ROOT, 'manager', 'main.ts'), ...flags] as const;
    return resources.use(new ChildProgram('the manager', command));
  };
  let manager = start(['--kube-api-qps=0', '--worker-api-qps=0']);
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  const ready = () => Promise.race([allReady(home, [...kubeconfigs.keys()], ending.signal), manager.failsWhenEnded()]);
  await ready();
  const completions = watchCompletions(home, ending.signal);
  return {
    home,
    completions,
    async load(name, jobs, clusters) {
      const names = Array.from({ length: jobs }, (_each, index) => `${name}-${index}`);
      const before = { ms: performance.now(), cpu: cpuSecondsOf(manager.pid) };
      await Promise.race([createAndAwait(home, completions, names, undefined, omitUndefined({ clusters })), manager.failsWhenEnded()]);
      const seconds = (performance.now() - before.ms) / 1000;
      return { perSecond: jobs / seconds, managerMs: ((cpuSecondsOf(manager.pid) - before.cpu) * 1000) / jobs };
    },
    async latencies(name, jobs, perSecond, clusters) {
      const names = Array.from({ length: jobs }, (_each, index) => `${name}-${index}`);
      const all = createAndAwait(home, completions, names, perSecond, { clusters });
      return (await Promise.race([all, manager.failsWhenEnded()])).toSorted((a, b) => a - b);
    },
    async occupy(name, jobs) {
      const names = Array.from({ length: jobs }, (_each, index) => `stay-${name}-${index}`);
      await inParallel(names, CREATORS, (job) => createSurely(home, aJob(job, name)));
      const isDispatched = async (): Promise<boolean> => {
        const { items } = await home.list(JOBS, { namespace: NAMESPACE, labelSelector: `${CLUSTER_LABEL}=${name}` });
        return items.filter(({ status }) => hasTrueCondition(status?.conditions, 'Dispatched')).length >= jobs;
      };
      while (!(await isDispatched())) await sleep(systemClock, 500);
    },
    async restartWithRates() {
      manager.kill();
      await manager.whenEnded();
      manager = start([]);
      await ready();
    },
  };
}

/** On a busy machine one of thousands of creates may not be answered in time. It is sent again, and may have been carried out. */
async function createSurely(home: KubeClient, job: Job): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await home.create(JOBS, job);
      return;
    } catch (error) {
      if (isAlreadyExists(error)) return;
      if (error instanceof ApiError || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}
const ATTEMPTS_MAX = 5;

/** A worker cluster behind a wire that can be cut. */
export async function throughProxy(
  kubeconfig: string,
  resources: AsyncDisposableStack,
): Promise<{ readonly proxy: TcpProxy; readonly kubeconfig: string }> {
  const port = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig)?.[1]);
  const proxy = resources.use(await startTcpProxy({ host: '127.0.0.1', port }));
  return { proxy, kubeconfig: kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`) };
}

async function allReady(home: KubeClient, names: readonly string[], signal: AbortSignal): Promise<void> {
  const missing = new Set(names);
  const done = Promise.withResolvers<void>();
  const clusters = createInformer({
    client: home,
    resource: WORKER_CLUSTERS,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  });
  const seen = ({ metadata, status }: DeepReadonly<WorkerCluster>): void => {
    if (hasTrueCondition(status?.conditions, 'Ready')) missing.delete(metadata.name);
    if (missing.size === 0) done.resolve();
  };
  clusters.addHandler({ added: seen, updated: seen });
  void clusters.run(signal);
  await done.promise;
}
