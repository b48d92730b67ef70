/**
 * A manager cluster and two worker clusters in real time: each control plane, the manager and each worker is a process of its own, and
 * between the manager and each worker cluster is a wire that can be cut. Pods are processes of this machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { installKinds, joinCluster } from '../../manager/cli/local/set-up.ts';
import { readOriginLease } from '../../shared/api/fence-leases.ts';
import type { Job, Pod, Unsaved } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, DEFAULT_LEASE_NAMESPACE, JOB_NAME_LABEL, ORIGIN_LABEL, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { ControlPlaneController } from '../../shared/controlplane/controllers/controllers.ts';
import { JOBS, LEASES, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { parseSamples, total } from '../bench/prometheus-text.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type ClusterProgram, startClusterProgram } from '../support/cluster-program.ts';
import { startRealEtcd } from '../support/real-control-plane.ts';
import { isServerReal } from '../support/server-under-test.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createRunRecorder, type RunRecorder } from './run-recorder.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

export interface PartitionWorld extends AsyncDisposable {
  side(name: string): WorkerSide;
  /** Everything that ran. */
  readonly recorder: RunRecorder;
  /** Submits a Job of one pod. */
  submit(name: string, options?: SubmitOptions): Promise<void>;
  job(name: string): Promise<Job>;
  cluster(name: string): Promise<WorkerCluster>;
  /** Has the Jobs of the cluster run elsewhere, as `switchyard clusters drain` does. */
  drain(name: string): Promise<void>;
  /** What the programs printed last. */
  said(): string;
}

export type SubmitOptions = {
  /** Names of the clusters that it may run on; default: all. */
  readonly clusters?: string;
  /** Default: {@link RunRecorder.command}. */
  readonly command?: readonly string[];
  readonly podAnnotations?: Readonly<Record<string, string>>;
};

export interface WorkerSide {
  readonly name: string;
  /** Between the manager and the control plane. */
  readonly wire: TcpProxy;
  readonly plane: ClusterProgram;
  copy(name: string): Promise<Job | undefined>;
  /** When the manager sent the renewal of its Lease that was carried out last, in epoch milliseconds. */
  renewedMs(): Promise<number | undefined>;
  /** Whether the worker has stopped the copies of the manager. */
  isFenced(): Promise<boolean>;
  /** The worker is killed. */
  killWorker(): Promise<void>;
  /**
   * Starts a worker with another `--fence-after` that comes to its control plane only once what is returned is called, which kills the one
   * before. So a restart takes no longer on a busy machine than the manager waits.
   */
  nextWorker(fenceAfter: string): Promise<() => Promise<void>>;
  /** Of the copy, or left behind by it. */
  pods(name: string): Promise<readonly Pod[]>;
  /** As a user of that cluster deletes the copy with kubectl. */
  deleteCopy(name: string, propagationPolicy: 'Background' | 'Orphan'): Promise<void>;
  deletePod(name: string): Promise<void>;
}

/** Short times that yet trip no fence on a machine with little time to spare: a fence lasts five renewals. */
const RENEW_SECONDS = 3;
export const FENCE_SECONDS = 15;
export const GRACE_SECONDS = 3;
/** The least that the fence allows. */
export const LOST_SECONDS = FENCE_SECONDS + GRACE_SECONDS + 30;

const NAMESPACE = 'team';
const QUEUE = 'main';
export const WORKERS = ['east', 'west'];
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const CONTROLLERS = ['garbage-collector', 'namespace', 'pod-gc'] as const;
const LINES_KEPT = 200;
const POLL_MS = 100;

export async function startPartitionWorld(onClusterLost: 'Requeue' | 'Wait'): Promise<PartitionWorld> {
  await using starting = new AsyncDisposableStack();
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-partition-'));
  starting.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const lines: string[] = [];
  const keep = (name: string) => (line: string) => {
    lines.push(`${name}: ${line}`);
    if (lines.length > LINES_KEPT) lines.shift();
  };
  const etcd = isServerReal() ? starting.use(await startRealEtcd()) : undefined;
  const startPlane = async (name: string, controllers: readonly ControlPlaneController[]): Promise<ClusterProgram> =>
    starting.use(await startClusterProgram({ name, controllers, etcd, onLine: keep(name) }));

  const [homePlane, ...planes] = await Promise.all([
    startPlane('home', CONTROLLERS),
    ...WORKERS.map((name) => startPlane(name, [...CONTROLLERS, 'node-agent'])),
  ]);
  // Programs that are started later end with the others, before their control planes.
  const programs = starting.use(new AsyncDisposableStack());
  const start = (name: string, main: string, flags: readonly string[]): ChildProgram => {
    const program = programs.use(new ChildProgram(name, [process.execPath, path.join(ROOT, main), ...flags]));
    program.onLine(keep(name));
    return program;
  };
  const startWorker = async (name: string, kubeconfigFile: string, fenceAfter: string) => {
    const program = start(`worker-${name}`, 'worker/main.ts', [`--kubeconfig=${kubeconfigFile}`, `--fence-after=${fenceAfter}`]);
    return { program, http: (await program.find((line) => /"http":"(http:[^"]+)"/.exec(line)?.[1])) ?? '' };
  };
  const join = async (home: KubeClient, name: string, plane: ClusterProgram): Promise<WorkerSide> => {
    const { port, client } = plane;
    const startWire = async () => programs.use(await startTcpProxy({ host: '127.0.0.1', port }));
    const through = ({ port: wired }: TcpProxy): string => plane.kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${wired}`);
    const wire = await startWire();
    await joinCluster(home, name, through(wire));
    let worker = await startWorker(name, plane.kubeconfigFile, `${FENCE_SECONDS}s`);
    const killWorker = async (): Promise<void> => {
      worker.program.kill();
      await worker.program.whenEnded();
    };
    return {
      name,
      wire,
      plane,
      copy: (job) => orNone(client.get(JOBS, { namespace: NAMESPACE, name: job })),
      async renewedMs() {
        const { items } = await client.list(LEASES, { namespace: DEFAULT_LEASE_NAMESPACE, labelSelector: ORIGIN_LABEL });
        return items[0] && readOriginLease(items[0])?.renewedMs;
      },
      isFenced: async () => total(parseSamples(await (await fetch(`${worker.http}/metrics`)).text()), 'switchyard_worker_fenced') > 0,
      killWorker,
      async nextWorker(fenceAfter) {
        const closed = await startWire();
        closed.cut();
        const kubeconfigFile = path.join(directory, `next-worker-${name}.kubeconfig`);
        writeFileSync(kubeconfigFile, through(closed), { mode: 0o600 });
        const next = await startWorker(name, kubeconfigFile, fenceAfter);
        return async () => {
          await killWorker();
          worker = next;
          closed.mend();
        };
      },
      pods: async (job) => (await client.list(PODS, { namespace: NAMESPACE, labelSelector: `${JOB_NAME_LABEL}=${job}` })).items,
      deleteCopy: async (job, propagationPolicy) => {
        await client.delete(JOBS, { namespace: NAMESPACE, name: job }, { propagationPolicy });
      },
      deletePod: async (pod) => {
        await client.delete(PODS, { namespace: NAMESPACE, name: pod });
      },
    };
  };

  const home = homePlane.client;
  await setUpQueue(home, onClusterLost);
  const joined = planes.map(async (plane, index) => join(home, WORKERS[index] ?? '', plane));
  const sides = new Map((await Promise.all(joined)).map((side) => [side.name, side]));
  const manager = start('manager', 'manager/main.ts', [
    `--kubeconfig=${homePlane.kubeconfigFile}`,
    `--fence-renew-interval=${RENEW_SECONDS}s`,
    `--worker-lost-timeout=${LOST_SECONDS}s`,
  ]);
  await Promise.race([allReady(home), manager.failsWhenEnded()]);
  const ending = new AbortController();
  starting.defer(async () => ending.abort(new Error('the test is over')));
  const clients = planes.map(({ client }, index) => [WORKERS[index] ?? '', client] as const);
  const recorder = createRunRecorder(directory, new Map(clients), ending.signal);
  const resources = starting.move();
  return {
    side(name) {
      const side = sides.get(name);
      if (side === undefined) throw new Error(`there is no cluster ${name}`);
      return side;
    },
    recorder,
    submit: async (name, { command = recorder.command(name), ...options } = {}) =>
      void (await home.create(JOBS, JOB_KIND.prepared(aJob(name, { ...options, command })))),
    job: (name) => home.get(JOBS, { namespace: NAMESPACE, name }),
    cluster: (name) => home.get(WORKER_CLUSTERS, { namespace: '', name }),
    drain: async (name) =>
      void (await home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { state: 'Draining' } } })),
    said: () => lines.join('\n'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function setUpQueue(home: KubeClient, onClusterLost: 'Requeue' | 'Wait'): Promise<void> {
  await installKinds(home, ROOT);
  await home.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await home.create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const group = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '10' }] }] };
  await home.create(CLUSTER_QUEUES, {
    metadata: { name: QUEUE },
    spec: { namespaceSelector: {}, resourceGroups: [group], onClusterLost },
  });
  await home.create(LOCAL_QUEUES, { metadata: { name: QUEUE, namespace: NAMESPACE }, spec: { clusterQueue: QUEUE } });
}

async function allReady(home: KubeClient): Promise<void> {
  const isReady = async (name: string): Promise<boolean> => {
    const { status } = await home.get(WORKER_CLUSTERS, { namespace: '', name });
    return hasTrueCondition(status?.conditions, 'Ready');
  };
  for (const name of WORKERS) while (!(await isReady(name))) await sleep(systemClock, POLL_MS);
}

const aJob = (name: string, { clusters, command, podAnnotations: annotations }: SubmitOptions): Unsaved<Job> => ({
  metadata: {
    name,
    namespace: NAMESPACE,
    labels: { [QUEUE_NAME_LABEL]: QUEUE },
    ...omitUndefined({ annotations: clusters === undefined ? undefined : { [CLUSTERS_ANNOTATION]: clusters } }),
  },
  spec: {
    // So that also on one cluster no pod is made while another one is ending.
    podReplacementPolicy: 'Failed',
    template: {
      ...omitUndefined({ metadata: annotations && { annotations } }),
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: GRACE_SECONDS,
        containers: [{ name: 'main', image: 'busybox', command: [...(command ?? [])], resources: { requests: { cpu: '1' } } }],
      },
    },
  },
});

async function orNone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
