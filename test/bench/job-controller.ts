/**
 * The Job controller as a program of its own, against an API server in another process, with this process playing every
 * kubelet. Prints throughput, API calls per pod by kind, CPU and memory of the worker, and how long its syncs took.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type BenchCluster, startBenchCluster } from './cluster.ts';
import { type Figures, violations } from './job-controller/figures.ts';
import { type Run, runShape } from './job-controller/run-shape.ts';
import { type CompletionMode, type Shape, SHAPES } from './job-controller/shapes.ts';
import { type Suite, UsageError } from './suite.ts';

const USAGE = `    --shapes LIST           which loads, separated by commas: ${SHAPES.map(({ name }) => name).join(', ')}
                            (default: ${SHAPES.filter(({ onRequest }) => !onRequest)
                              .map(({ name }) => name)
                              .join(', ')})
    --shape JOBSxPODS[/P]   a load of your own, P pods at a time, without permitted ranges
    --probe-every SECONDS   beside it a Job of one pod that often, to see whether the load starves it
    --mode MODE             NonIndexed or Indexed (default: both)
    --runs N                runs of each (default 1)
    --kubeconfig FILE       the cluster; it must let us create namespaces. Default: etcd and kube-apiserver from the
                            directory KUBEBUILDER_ASSETS, if that is set; else an embedded control plane, new for each run
    --concurrent-job-syncs N, --kube-api-qps N, --kube-api-burst N, --job-batch-period DURATION
                            the worker's flags (default: its own, but a QPS of 0, which means unlimited)
    --cpu-profile DIR       let the worker write a CPU profile there at its end
`;

const OPTIONS = {
  shapes: { type: 'string' },
  shape: { type: 'string' },
  'probe-every': { type: 'string' },
  mode: { type: 'string' },
  runs: { type: 'string', default: '1' },
  kubeconfig: { type: 'string' },
  'concurrent-job-syncs': { type: 'string' },
  'kube-api-qps': { type: 'string', default: '0' },
  'kube-api-burst': { type: 'string' },
  'job-batch-period': { type: 'string' },
  'cpu-profile': { type: 'string' },
} as const;

const WORKER_FLAGS = ['concurrent-job-syncs', 'kube-api-qps', 'kube-api-burst', 'job-batch-period'] as const;

export const jobControllerSuite: Suite = {
  about: 'the worker running Jobs whose pods succeed at once: pods a minute, API calls a pod, CPU, memory, sync latency',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
    const workerFlags = WORKER_FLAGS.flatMap((name) => (values[name] === undefined ? [] : [`--${name}=${values[name]}`]));
    const nodeFlags = values['cpu-profile'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values['cpu-profile']}`];
    const runs = readCount('runs', values.runs);
    const probeEveryMs = values['probe-every'] === undefined ? undefined : readCount('probe-every', values['probe-every']) * 1000;
    const mode = readMode(values.mode);
    const shapes = chosenShapes(values);
    let good = true;
    console.log(HEADER);
    for (const chosen of shapes) {
      const shape = probeEveryMs === undefined ? chosen : { ...chosen, probeEveryMs };
      for (const each of mode === undefined ? shape.modes : [mode]) {
        for (let run = 0; run < runs; run++) {
          const cluster = await startBenchCluster(values.kubeconfig);
          try {
            const namespace = `bench-${randomBytes(4).toString('hex')}`;
            good = report(shape, each, cluster, await runShape(shape, each, { cluster, namespace, workerFlags, nodeFlags })) && good;
          } finally {
            await cluster.stop();
          }
        }
      }
    }
    return good;
  },
};

function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`--${option}: ${JSON.stringify(text)} is no whole number of at least 1`);
}

function readMode(text: string | undefined): CompletionMode | undefined {
  if (text === undefined || text === 'NonIndexed' || text === 'Indexed') return text;
  throw new UsageError(`--mode: ${JSON.stringify(text)} is neither NonIndexed nor Indexed`);
}

function chosenShapes({ shapes, shape }: { readonly shapes?: string; readonly shape?: string }): readonly Shape[] {
  if (shape !== undefined) return [parseShape(shape)];
  if (shapes === undefined) return SHAPES.filter(({ onRequest }) => onRequest !== true);
  return shapes.split(',').map((name) => {
    const known = SHAPES.find((each) => each.name === name.trim());
    if (known === undefined)
      throw new UsageError(`--shapes: there is no ${JSON.stringify(name)}: choose from ${SHAPES.map((each) => each.name).join(', ')}`);
    return known;
  });
}

function parseShape(text: string): Shape {
  const match = /^(\d+)x(\d+)(?:\/(\d+))?$/.exec(text);
  if (match === null)
    throw new UsageError(`--shape: ${JSON.stringify(text)} is no shape: write JOBSxPODS or JOBSxPODS/PARALLELISM, as in 20x100/10`);
  const [, jobs, podsPerJob, parallelism] = match;
  return {
    name: text,
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
  ['MiB', 5, ({ peakMiB }) => peakMiB.toFixed(0)],
  ['syncs', 6, ({ syncs }) => String(syncs)],
  ['p50 ms', 7, ({ syncP50Ms }) => syncP50Ms.toFixed(0)],
  ['p99 ms', 7, ({ syncP99Ms }) => syncP99Ms.toFixed(0)],
];
const HEADER = `${'load'.padEnd(22)}${COLUMNS.map(([title, width]) => title.padStart(width)).join('')}`;

function report(shape: Shape, mode: CompletionMode, cluster: BenchCluster, { figures, probesMs }: Run): boolean {
  console.log(`${`${shape.name} ${mode}`.padEnd(22)}${COLUMNS.map(([, width, value]) => value(figures).padStart(width)).join('')}`);
  if (probesMs.length > 0) {
    const ordered = probesMs.toSorted((a, b) => a - b);
    const at = (quantile: number): string => ((ordered[Math.floor((ordered.length - 1) * quantile)] ?? 0) / 1000).toFixed(2);
    console.log(`    ${probesMs.length} Jobs of one pod beside it took ${at(0.5)} s (median), ${at(1)} s (longest)`);
  }
  const found = violations(figures, shape.permitted);
  for (const violation of found) console.log(`    OUT OF RANGE on ${cluster.name}: ${violation}`);
  return found.length === 0;
}
