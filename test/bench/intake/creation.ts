import path from 'node:path';
import { Queue } from 'bullmq';
import { SUBMISSION_ANNOTATION, SUBMISSION_QUEUE, SUBMISSION_QUEUE_PREFIX } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { startBenchCluster } from '../cluster.ts';
import { NAMESPACE, samplesOf, setUpQueues } from '../dispatch.ts';
import { secondsOf } from './parking.ts';

const MANAGER = path.resolve(import.meta.dirname, '../../../manager/main.ts');
const PER_SECOND = 100;
const WARM_UP = 300;

export type CreationFigures = {
  readonly createdP50Ms: number;
  readonly createdP99Ms: number;
  /** Of a backlog. */
  readonly perSecond: number;
  readonly callsPerJob: number;
  /** Processor time of the manager: what a busy machine does not change. */
  readonly cpuMsPerJob: number;
};

/** By a whole manager, without clusters to dispatch to: the Jobs wait. */
export async function measureCreation(
  redisUrl: string,
  { backlog, seconds }: { backlog: number; seconds: number },
): Promise<CreationFigures> {
  await using resources = new AsyncDisposableStack();
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-bench', clock: systemClock });
  await setUpQueues(client);
  const manager = resources.use(
    new ChildProgram('the manager', [
      process.execPath,
      MANAGER,
      `--kubeconfig=${cluster.kubeconfigFile}`,
      `--redis-url=${redisUrl}`,
      `--submission-namespaces=${NAMESPACE}`,
      '--kube-api-qps=0',
      '--story-event-qps=0',
    ]),
  );
  const url = await manager.find((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  const created = watchCreated(client, ending.signal);
  const { hostname: host, port } = new URL(redisUrl);
  const queue = new Queue(SUBMISSION_QUEUE, { connection: { host, port: Number(port) }, prefix: SUBMISSION_QUEUE_PREFIX });
  resources.defer(() => queue.close());
  const submissions = (prefix: string, count: number): { name: string; data: unknown; opts: { jobId: string } }[] =>
    Array.from({ length: count }, (_, index) => ({ name: 'job', data: aManifest(), opts: { jobId: `${prefix}-${index}` } }));
  const calls = async (): Promise<number> =>
    (await samplesOf(url)).filter(({ name }) => name === 'rest_client_requests_total').reduce((sum, { value }) => sum + value, 0);
  const cpuSeconds = async (): Promise<number> =>
    (await samplesOf(url)).find(({ name }) => name === 'process_cpu_seconds_total')?.value ?? Number.NaN;
  const all = async (each: readonly { opts: { jobId: string } }[]): Promise<void> =>
    void (await Promise.all(each.map(({ opts }) => created.of(opts.jobId))));

  const warmUp = submissions('warm-up', WARM_UP);
  await queue.addBulk(warmUp);
  await all(warmUp);

  const latencies: Promise<number>[] = [];
  const startedMs = performance.now();
  for (const [index, { name, data, opts }] of submissions('rate', PER_SECOND * seconds).entries()) {
    const dueMs = startedMs + (index * 1000) / PER_SECOND - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    await queue.add(name, data, opts);
    const acceptedMs = performance.now();
    latencies.push(created.of(opts.jobId).then((seenMs) => Math.max(0, seenMs - acceptedMs)));
  }
  const sorted = (await Promise.all(latencies)).toSorted((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

  const waiting = submissions('backlog', backlog);
  await queue.pause();
  await queue.addBulk(waiting);
  const [before, cpuBefore] = [await calls(), await cpuSeconds()];
  const backlogSeconds = await secondsOf(async () => {
    await queue.resume();
    await all(waiting);
  });
  return {
    createdP50Ms: quantile(0.5),
    createdP99Ms: quantile(0.99),
    perSecond: backlog / backlogSeconds,
    callsPerJob: ((await calls()) - before) / backlog,
    cpuMsPerJob: (1000 * ((await cpuSeconds()) - cpuBefore)) / backlog,
  };
}

const aManifest = (): unknown => ({
  manifest: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'load-', namespace: NAMESPACE, labels: { 'switchyard.dev/queue-name': 'main' } },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  },
});

/** When the Job of each submission was first seen. */
function watchCreated(client: ReturnType<typeof createKubeClient>, signal: AbortSignal): { of(id: string): Promise<number> } {
  const seen = new Map<string, PromiseWithResolvers<number>>();
  const entry = (id: string): PromiseWithResolvers<number> => {
    const known = seen.get(id) ?? Promise.withResolvers<number>();
    seen.set(id, known);
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
  informer.addHandler({ added: ({ metadata }) => entry(metadata.annotations?.[SUBMISSION_ANNOTATION] ?? '').resolve(performance.now()) });
  void informer.run(signal);
  return { of: (id) => entry(id).promise };
}
