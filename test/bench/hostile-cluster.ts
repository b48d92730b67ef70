/**
 * One-pod Jobs over two honest worker clusters, in turn alone and beside a hostile one that plays all its tricks at once. Every program is
 * a process of its own, the hostile server, too; what that takes of the machine is counted, because on a machine of few cores it takes it
 * from the others.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { joinCluster } from '../../manager/cli/local/set-up.ts';
import { NAMESPACES, NODES, SECRETS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type BenchCluster, startBenchCluster } from './cluster.ts';
import { A_BIG_NODE, createAndAwait, NAMESPACE, setUpQueues, watchCompletions } from './dispatch.ts';
import { runKubelet } from './job-controller/kubelet.ts';
import { WorkerProgram } from './job-controller/worker-program.ts';
import { cpuSecondsOf, residentBytesOf } from './process-figures.ts';
import { defineSuite } from './suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const HONEST = ['east', 'west'];
const MIB = 1024 * 1024;
const SAMPLE_MS = 100;
const GROWTH_MAX_MIB = 64;
/** Of the processor time for a Job, which unlike Jobs a second does not depend on who else uses the machine. */
const COST_MAX = 1.5;

const FLAGS = {
  jobs: { value: 'N', fallback: '1000', about: 'in each phase', parse: wholeNumber(1) },
  pairs: { value: 'N', fallback: '4', about: 'of phases, one alone and one beside a hostile cluster', parse: wholeNumber(1, 10) },
} satisfies FlagTable;

export const hostileClusterSuite = defineSuite(FLAGS, ({ jobs, pairs }) => async () => {
  const figures = await measureHostileCluster(jobs, pairs);
  print(figures);
  return figures.growthMib < GROWTH_MAX_MIB && figures.managerCost < COST_MAX;
});

export type Phase = {
  readonly hostile: boolean;
  readonly perSecond: number;
  readonly seconds: number;
  /** Processor time of the manager for a Job. */
  readonly managerMs: number;
  readonly hostileCpuShare: number;
  readonly peakMib: number;
};
export type HostileFigures = {
  readonly phases: readonly Phase[];
  /** Jobs a second beside a hostile cluster, for each alone. */
  readonly throughput: number;
  /** Processor time of the manager for a Job beside a hostile cluster, for each alone. */
  readonly managerCost: number;
  /** The most by which its memory grew in a phase beside a hostile cluster, more than in a phase alone. */
  readonly growthMib: number;
};

export async function measureHostileCluster(jobs: number, pairs: number): Promise<HostileFigures> {
  await using resources = new AsyncDisposableStack();
  const start = async (): Promise<{ cluster: BenchCluster; client: KubeClient }> => {
    const cluster = await startBenchCluster(undefined);
    resources.defer(() => cluster.stop());
    const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
    const transport = createHttpTransport(access, silentLogger);
    return { cluster, client: createKubeClient(transport, { userAgent: 'switchyard-bench', clock: systemClock }) };
  };
  const [home, ...workers] = await Promise.all([start(), ...HONEST.map(start)]);
  const hostile = resources.use(
    new ChildProgram('the hostile server', [process.execPath, path.join(ROOT, 'test', 'hostile', 'support', 'hostile-worker-program.ts')]),
  );
  const { kubeconfigs } = await hostile.find((text) =>
    text.startsWith('{"kubeconfigs"') ? (JSON.parse(text) as { kubeconfigs: Record<string, string> }) : undefined,
  );
  await setUpQueues(home.client);
  for (const [index, { cluster, client }] of workers.entries()) {
    await client.create(NODES, { metadata: { name: 'node-1' }, spec: {} });
    await client.patchStatus(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { status: A_BIG_NODE } });
    await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await joinCluster(home.client, HONEST[index] ?? '', readFileSync(cluster.kubeconfigFile, 'utf8'));
    resources.use(await WorkerProgram.start(cluster.kubeconfigFile, ['--kube-api-qps=0']));
  }
  const flags = [`--kubeconfig=${home.cluster.kubeconfigFile}`, '--kube-api-qps=0', '--worker-api-qps=0', '--log-level=error'];
  const command = [process.execPath, '--max-semi-space-size=8', path.join(ROOT, 'manager', 'main.ts'), ...flags] as const;
  const manager = resources.use(new ChildProgram('the manager', command));
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  for (const { client } of workers) void runKubelet(client, NAMESPACE, ending.signal);
  const completions = watchCompletions(home.client, ending.signal);
  const load = async (name: string, count: number): Promise<void> => {
    const names = Array.from({ length: count }, (_each, index) => `${name}-${index}`);
    await Promise.race([createAndAwait(home.client, completions, names, undefined), manager.failsWhenEnded()]);
  };
  // Compilers and heaps have found their size after it.
  await load('warm-up', Math.min(jobs, 300));

  const phase = async (index: number, isHostile: boolean): Promise<Phase> => {
    const name = `hostile-${Math.floor(index / 2) - 1}`;
    if (isHostile) await joinHostile(home.client, name, kubeconfigs[name] ?? '');
    let peak = 0;
    const sampling = setInterval(() => (peak = Math.max(peak, residentBytesOf(manager.pid))), SAMPLE_MS);
    const before = { ms: performance.now(), manager: cpuSecondsOf(manager.pid), hostile: cpuSecondsOf(hostile.pid) };
    await load(`phase-${index}`, jobs);
    const seconds = (performance.now() - before.ms) / 1000;
    const managerSeconds = cpuSecondsOf(manager.pid) - before.manager;
    const hostileSeconds = cpuSecondsOf(hostile.pid) - before.hostile;
    clearInterval(sampling);
    if (isHostile) await home.client.delete(WORKER_CLUSTERS, { namespace: '', name });
    return {
      hostile: isHostile,
      seconds,
      perSecond: jobs / seconds,
      managerMs: (managerSeconds * 1000) / jobs,
      hostileCpuShare: hostileSeconds / seconds,
      peakMib: peak / MIB,
    };
  };
  const phases: Phase[] = [];
  // Alone twice, so that it is seen what a phase of Jobs leaves behind by itself; then each hostile phase stands between two that are not.
  for (let index = 0; index < 2 + 2 * pairs; index++) phases.push(await phase(index, index > 1 && index % 2 === 0));
  return summaryOf(phases);
}

async function joinHostile(home: KubeClient, name: string, kubeconfig: string): Promise<void> {
  await home.create(SECRETS, {
    metadata: { name, namespace: 'switchyard-system' },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });
  // Without room, so that all Jobs run on the honest ones.
  const spec = { kubeconfigSecretRef: { namespace: 'switchyard-system', name }, capacity: { cpu: '0' } };
  await home.create(WORKER_CLUSTERS, { metadata: { name }, spec });
}

/**
 * Each hostile phase against the mean of the two beside it: Jobs that have ended stay, so every phase costs a little more than the last.
 */
function summaryOf(phases: readonly Phase[]): HostileFigures {
  const compared = phases.flatMap((phase, index) => {
    const before = phases[index - 1];
    const after = phases[index + 1];
    return phase.hostile && before !== undefined && after !== undefined ? [{ phase, before, after }] : [];
  });
  const ratio = (value: (phase: Phase) => number): number =>
    median(compared.map(({ phase, before, after }) => value(phase) / ((value(before) + value(after)) / 2)));
  const [first, second] = phases;
  const usualMib = first === undefined || second === undefined ? 0 : Math.max(0, second.peakMib - first.peakMib);
  return {
    phases,
    throughput: ratio(({ perSecond }) => perSecond),
    managerCost: ratio(({ managerMs }) => managerMs),
    growthMib: Math.max(...compared.map(({ phase, before }) => phase.peakMib - before.peakMib - usualMib)),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

export function print({ phases, throughput, managerCost, growthMib }: HostileFigures): void {
  for (const { hostile, seconds, perSecond, managerMs, hostileCpuShare, peakMib } of phases) {
    const beside = hostile ? `hostile (takes ${Math.round(hostileCpuShare * 100)} % of a core itself)` : 'alone';
    console.log(
      `  ${seconds.toFixed(1)} s  ${perSecond.toFixed(1)} Jobs/s  manager ${managerMs.toFixed(2)} ms a Job, ${Math.round(peakMib)} MiB  ${beside}`,
    );
  }
  console.log(`  Jobs a second beside a hostile cluster, of those alone   ${(throughput * 100).toFixed(1)} %`);
  console.log(`  processor time of the manager for a Job, of that alone   ${(managerCost * 100).toFixed(1)} %`);
  console.log(`  memory of the manager beyond what a phase usually adds   ${growthMib.toFixed(0)} MiB`);
}
