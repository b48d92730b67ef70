import path from 'node:path';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { joinCluster } from '../../manager/cli/local/set-up.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { given } from '../../shared/runtime/given.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startBenchCluster } from './cluster.ts';
import { createAndAwait, setUpQueues, watchCompletions, type Completions } from './dispatch.ts';
import { cpuSecondsOf } from './process-figures.ts';

/** Worker clusters that all live in one process and complete every copy at once, and a manager, a program of its own, for any number of them. */
export type Fleet = { readonly kubeconfigs: ReadonlyMap<string, string> };

/** What a number of Jobs took. */
export type Load = { readonly perSecond: number; readonly managerMs: number };

export interface FleetManager {
  readonly home: KubeClient;
  readonly completions: Completions;
  /** Jobs that may run on these clusters, or on all, created as fast as the API server takes them. */
  load(name: string, jobs: number, clusters?: string): Promise<Load>;
}

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** It ends with `resources`. */
export async function startFleet(count: number, resources: AsyncDisposableStack): Promise<Fleet> {
  const program = path.join(ROOT, 'test', 'bench', 'worker-fleet-program.ts');
  const fleet = resources.use(new ChildProgram('the worker clusters', [process.execPath, program, String(count)]));
  const { kubeconfigs } = await fleet.find((line) =>
    line.startsWith('{"kubeconfigs"') ? (JSON.parse(line) as { kubeconfigs: Record<string, string> }) : undefined,
  );
  return { kubeconfigs: new Map(Object.entries(kubeconfigs)) };
}

/** A manager cluster of its own, and a manager for which all these worker clusters are Ready. */
export async function startFleetManager(
  kubeconfigs: ReadonlyMap<string, string>,
  resources: AsyncDisposableStack,
  flags: readonly string[] = [],
): Promise<FleetManager> {
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const home = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  await setUpQueues(home);
  for (const [name, kubeconfig] of kubeconfigs) await joinCluster(home, name, kubeconfig);
  const limits = [`--kubeconfig=${cluster.kubeconfigFile}`, '--kube-api-qps=0', '--worker-api-qps=0', '--log-level=error', ...flags];
  const command = [process.execPath, '--max-semi-space-size=8', path.join(ROOT, 'manager', 'main.ts'), ...limits] as const;
  const manager = resources.use(new ChildProgram('the manager', command));
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  await Promise.race([allReady(home, [...kubeconfigs.keys()], ending.signal), manager.failsWhenEnded()]);
  const completions = watchCompletions(home, ending.signal);
  return {
    home,
    completions,
    async load(name, jobs, clusters) {
      const names = Array.from({ length: jobs }, (_each, index) => `${name}-${index}`);
      const before = { ms: performance.now(), cpu: cpuSecondsOf(manager.pid) };
      await Promise.race([createAndAwait(home, completions, names, undefined, given({ clusters })), manager.failsWhenEnded()]);
      const seconds = (performance.now() - before.ms) / 1000;
      return { perSecond: jobs / seconds, managerMs: ((cpuSecondsOf(manager.pid) - before.cpu) * 1000) / jobs };
    },
  };
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
  clusters.addHandler({
    updated: ({ metadata, status }) => {
      if (findCondition(status?.conditions, 'Ready')?.status === 'True') missing.delete(metadata.name);
      if (missing.size === 0) done.resolve();
    },
  });
  void clusters.run(signal);
  await done.promise;
}
