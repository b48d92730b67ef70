/**
 * The Job controller as a program of its own, against an API server in another process, with this process playing every
 * kubelet. Prints throughput, API calls per pod by kind, CPU and memory of the worker, and how long its syncs took.
 */
import { randomBytes } from 'node:crypto';
import {
  durationMs,
  FlagError,
  listOf,
  oneOf,
  rate,
  text,
  wholeNumber,
  type FlagTable,
  type FlagValues,
} from '../../shared/runtime/flags.ts';
import { type BenchCluster, startBenchCluster } from './cluster.ts';
import { type Figures, slowProbes, violations } from './job-controller/figures.ts';
import { type Contender, type Run, runShape } from './job-controller/run-shape.ts';
import { type CompletionMode, type Shape, SHAPES } from './job-controller/shapes.ts';
import { defineSuite } from './suite.ts';

const BY_DEFAULT = SHAPES.filter(({ onRequest }) => onRequest !== true);
const names = (shapes: readonly Shape[]): string => shapes.map(({ name }) => name).join(', ');

const FLAGS = {
  shapes: {
    value: 'LIST',
    about: `which loads, separated by commas: ${names(SHAPES)}; default: ${names(BY_DEFAULT)}`,
    parse: knownShapes,
  },
  shape: { value: 'JOBSxPODS[/P]', about: 'a load of your own, P pods at a time, without permitted ranges', parse: ownShape },
  'probe-every': {
    value: 'SECONDS',
    about: 'beside it a Job of one pod that often, to see whether the load starves it',
    parse: wholeNumber(1),
  },
  mode: { value: 'MODE', about: 'NonIndexed or Indexed; default: both', parse: oneOf<CompletionMode>(['NonIndexed', 'Indexed']) },
  runs: { value: 'N', fallback: '1', about: 'runs of each', parse: wholeNumber(1) },
  rounds: {
    value: 'N',
    fallback: '1',
    about: 'so often the load comes again in the same program, which has a history by then',
    parse: wholeNumber(1),
  },
  beside: {
    value: 'PROGRAM',
    about: 'kube-controller-manager: each run is followed by one of it, from KUBEBUILDER_ASSETS, on a cluster of its own',
    parse: oneOf<Contender>(['kube-controller-manager']),
  },
  kubeconfig: {
    value: 'FILE',
    about:
      'the cluster; it must let us create namespaces. Default: etcd and kube-apiserver from the directory KUBEBUILDER_ASSETS, if that is set; else an embedded control plane, new for each run',
    parse: text,
  },
  'concurrent-job-syncs': { value: 'N', about: 'the worker’s flag; default: its own', parse: wholeNumber(1) },
  'kube-api-qps': { value: 'N', about: 'the worker’s flag; default: 0, no limit, but 50 with the load 100x20', parse: rate },
  'kube-api-burst': { value: 'N', about: 'the worker’s flag; default: its own', parse: wholeNumber(1) },
  'job-batch-period': { value: 'DURATION', about: 'the worker’s flag; default: its own', parse: durationMs },
  'cpu-profile': { value: 'DIR', about: 'let the worker write a CPU profile there at its end', parse: text },
} satisfies FlagTable;

/** Pods a minute, API calls a pod, CPU, memory and sync latency of a worker whose pods succeed at once. */
export const jobControllerSuite = defineSuite(FLAGS, (flags) => {
  if (flags.shape !== undefined && flags.shapes !== undefined) throw new FlagError('--shape and --shapes cannot go together; choose one');
  return () => measure(flags);
});

async function measure(flags: FlagValues<typeof FLAGS>): Promise<boolean> {
  const probeEvery = flags['probe-every'];
  const nodeFlags = flags['cpu-profile'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${flags['cpu-profile']}`];
  const chosenShapes = flags.shape === undefined ? (flags.shapes ?? BY_DEFAULT) : [flags.shape];
  const contenders: readonly Contender[] = flags.beside === undefined ? ['worker'] : ['worker', flags.beside];
  let good = true;
  console.log(HEADER);
  for (const chosen of chosenShapes) {
    const shape = probeEvery === undefined ? chosen : { ...chosen, probeEveryMs: probeEvery * 1000 };
    for (const each of flags.mode === undefined ? shape.modes : [flags.mode]) {
      for (let run = 0; run < flags.runs; run++) {
        for (const contender of contenders) good = (await measureOne(shape, each, contender)) && good;
      }
    }
  }
  return good;

  async function measureOne(shape: Shape, mode: CompletionMode, contender: Contender): Promise<boolean> {
    const cluster = await startBenchCluster(flags.kubeconfig);
    try {
      const namespace = `bench-${randomBytes(4).toString('hex')}`;
      const { rounds } = flags;
      const runs = await runShape(shape, mode, {
        contender,
        rounds,
        cluster,
        namespace,
        workerFlags: workerFlags(flags, shape),
        nodeFlags,
      });
      return runs
        .map((each, index) => report(shape, `${mode}${index === 0 ? '' : ` #${index + 1}`}`, contender, cluster, each))
        .every(Boolean);
    } finally {
      await cluster.stop();
    }
  }
}

function workerFlags(flags: FlagValues<typeof FLAGS>, { qps = 0 }: Shape): readonly string[] {
  const batchPeriodMs = flags['job-batch-period'];
  const given = {
    'concurrent-job-syncs': flags['concurrent-job-syncs'],
    'kube-api-qps': flags['kube-api-qps'] ?? qps,
    'kube-api-burst': flags['kube-api-burst'],
    'job-batch-period': batchPeriodMs === undefined ? undefined : `${batchPeriodMs}ms`,
  };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}

function knownShapes(given: string): readonly Shape[] {
  const chosen = listOf(SHAPES.map(({ name }) => name))(given);
  if (chosen.length === 0) throw new FlagError(`names no load; choose from ${names(SHAPES)}`);
  return SHAPES.filter(({ name }) => chosen.includes(name));
}

function ownShape(given: string): Shape {
  const [jobs, podsPerJob, parallelism] = (/^([1-9]\d{0,8})x([1-9]\d{0,8})(?:\/([1-9]\d{0,8}))?$/.exec(given) ?? []).slice(1);
  if (jobs === undefined || podsPerJob === undefined)
    throw new FlagError(
      `${JSON.stringify(given)} is no load; write JOBSxPODS or JOBSxPODS/PARALLELISM in numbers of at least 1, as in 20x100/10`,
    );
  return {
    name: given,
    jobs: Number(jobs),
    podsPerJob: Number(podsPerJob),
    ...(parallelism === undefined ? {} : { parallelism: Number(parallelism) }),
    modes: ['NonIndexed', 'Indexed'],
    permitted: { callsPerPodMax: Number.POSITIVE_INFINITY, ownCallsPerPodMax: Number.POSITIVE_INFINITY },
  };
}

const COLUMNS: readonly (readonly [title: string, width: number, value: (figures: Figures) => string])[] = [
  ['s', 7, ({ seconds }) => seconds.toFixed(2)],
  ['pods/min', 9, ({ podsPerMinute }) => podsPerMinute.toFixed(0)],
  ['calls/pod', 10, ({ calls }) => calls.all.toFixed(3)],
  ['create', 7, ({ calls }) => calls.create.toFixed(2)],
  ['final.', 7, ({ calls }) => calls.finalizer.toFixed(2)],
  ['status', 7, ({ calls }) => calls.status.toFixed(3)],
  ['events', 7, ({ calls }) => calls.events.toFixed(3)],
  ['other', 6, ({ calls }) => calls.other.toFixed(3)],
  ['refused', 8, ({ refusedCalls }) => String(refusedCalls)],
  ['CPU s', 6, ({ cpuSeconds }) => cpuSeconds.toFixed(2)],
  ['server', 7, ({ serverCpuSeconds }) => (Number.isNaN(serverCpuSeconds) ? '-' : serverCpuSeconds.toFixed(2))],
  ['MiB', 5, ({ peakMiB }) => peakMiB.toFixed(0)],
  ['syncs', 6, ({ syncs }) => String(syncs)],
  ['p50 ms', 7, ({ syncP50Ms }) => syncP50Ms.toFixed(0)],
  ['p99 ms', 7, ({ syncP99Ms }) => syncP99Ms.toFixed(0)],
];
/** What is known of a program that is not ours. */
const OF_THE_KERNEL = new Set(['s', 'pods/min', 'CPU s', 'server', 'MiB']);
const NAME_WIDTH = 34;
const HEADER = `${'load'.padEnd(NAME_WIDTH)}${COLUMNS.map(([title, width]) => title.padStart(width)).join('')}`;

function report(shape: Shape, load: string, contender: Contender, cluster: BenchCluster, { figures, probesMs }: Run): boolean {
  const isOurs = contender === 'worker';
  const cells = COLUMNS.map(([title, width, value]) => (isOurs || OF_THE_KERNEL.has(title) ? value(figures) : '-').padStart(width));
  console.log(`${`${shape.name} ${isOurs ? load : `${load} upstream`}`.padEnd(NAME_WIDTH)}${cells.join('')}`);
  if (probesMs.length > 0) {
    const ordered = probesMs.toSorted((a, b) => a - b);
    const at = (quantile: number): string => ((ordered[Math.floor((ordered.length - 1) * quantile)] ?? 0) / 1000).toFixed(2);
    console.log(`    ${probesMs.length} Jobs of one pod beside it took ${at(0.5)} s (median), ${at(1)} s (longest)`);
  }
  const found = isOurs ? [...violations(figures, shape.permitted), ...slowProbes(probesMs, shape.permitted)] : [];
  for (const violation of found) console.log(`    OUT OF RANGE on ${cluster.name}: ${violation}`);
  return found.length === 0;
}
