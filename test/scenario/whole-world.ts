/**
 * Everything on a clock that stands still: a manager cluster and worker clusters, whole managers and workers, and kubelets that imagine
 * their pods.
 */
import { Registry } from 'prom-client';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createManager, type Manager } from '../../manager/manager.ts';
import type { ManagerDeps } from '../../manager/process/manager-deps.ts';
import { prepareJob, type JobManifest } from '../../manager/policy/prepare-job.ts';
import type { Job, KubeObject, Pod } from '../../shared/api/kubernetes.ts';
import { workerLeaseName } from '../../shared/api/fence-leases.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, QUEUE_NAME_LABEL, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { createControlPlane, type ControlPlane, type ControlPlaneOptions } from '../../shared/controlplane/control-plane.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { createRateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createElectedWorker } from '../../worker/elected-worker.ts';
import type { WorkerDeps } from '../../worker/worker.ts';
import { MIRRORED_JOBS_SETTINGS } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { createLine, onLine, type Line } from '../support/line.ts';
import { type Backup, createMemoryPersistence } from '../support/memory-persistence.ts';
import { STORED_KINDS } from '../support/stored-kinds.ts';
import { announceWorker } from '../support/worker-presence.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

export const NAMESPACE = 'team';
export const HOME = 'home';

/** A manager or a worker, as a process would be. */
export type RunningProgram = {
  readonly line: Line;
  /** How it ended; undefined while it runs. */
  outcome(): 'stopped' | Error | undefined;
  /** SIGTERM. */
  terminate(): void;
  /** SIGKILL: nothing it does reaches anybody any more. */
  kill(): void;
};

export type RunningManager = RunningProgram & Pick<Manager, 'unreadiness'>;

type ManagerParts = Partial<
  Pick<
    ManagerDeps,
    | 'tracing'
    | 'submissions'
    | 'webhook'
    | 'registry'
    | 'history'
    | 'fairSharing'
    | 'connectCluster'
    | 'workerLostTimeoutMs'
    | 'dashboard'
    | 'carryNamespaces'
    | 'recordKeySecret'
    | 'kinds'
  >
>;

export type ProgramOptions = {
  /** Default: whoever may do everything. Of the manager: by cluster, `home` included. */
  readonly user?: (cluster: string) => UserInfo;
  /** Requests a second to each cluster; default: no limit. */
  readonly qps?: number;
  readonly line?: Line;
  /**
   * Of a worker: how long copies run without a sign of their manager; default: it renews no Lease, which never expires, and has no fence.
   */
  readonly fenceAfterMs?: number;
  /** Of a worker: whose Jobs it runs; default: those with `managedBy: switchyard.dev/worker`. */
  readonly controllerName?: string;
  /** Of a worker: the only namespaces in which it runs Jobs; default: all. */
  readonly namespaces?: readonly string[];
  /** Of a worker: the Lease of its election; default: the name of the Lease by which it says that it is alive. */
  readonly electionLease?: string;
  /** Of a worker: where its Lease and that of its manager are; default: kube-system. */
  readonly leaseNamespace?: string;
  /** Of a worker: what imagined pods have written; with it, it keeps the ends of logs. */
  readonly podLogs?: string;
  /** Takes the spans of a worker. */
  readonly spans?: WorkerDeps['spans'];
  readonly parts?: ManagerParts | ((client: KubeClient, clock: Clock) => ManagerParts);
};

export type JobParts = {
  readonly spec?: object;
  /** How long its pods are imagined to run. */
  readonly seconds?: number;
  readonly exitCode?: number;
  /** What each pod requests. */
  readonly cpu?: string;
  readonly annotations?: Record<string, string>;
};

type Plane = Pick<ControlPlane, 'transport' | 'close'>;

export type WholeWorld = {
  readonly clock: FakeClock;
  readonly home: KubeClient;
  plane(cluster: string): Plane;
  client(cluster: string): KubeClient;
  startManager(identity: string, options?: ProgramOptions): RunningManager;
  startWorker(cluster: string, identity: string, options?: ProgramOptions): RunningProgram;
  submit(name: string, parts?: JobParts): Promise<void>;
  job(name: string): Promise<Job>;
  jobsOn(cluster: string): Promise<Job[]>;
  podsOn(cluster: string): Promise<Pod[]>;
  close(): Promise<void>;
};

export async function createWholeWorld(options: {
  readonly clusters: readonly string[];
  readonly seed?: number;
  /** Default: in memory. */
  readonly createPlane?: (cluster: string, options: ControlPlaneOptions, stored: Backup | undefined) => Promise<Plane>;
  /**
   * Puts the kinds of Switchyard, and whatever else a cluster needs, on the manager cluster and the worker clusters; absent: the manager
   * cluster has the kinds.
   */
  readonly install?: (client: KubeClient, cluster: string) => Promise<void>;
}): Promise<WholeWorld> {
  const clock = new FakeClock();
  const random = seededRandom(options.seed ?? 1);
  const log = silentLogger;
  const planes = new Map<string, Plane>();
  const clients = new Map<string, KubeClient>();
  const running = new Set<RunningProgram>();
  const presences: { readonly stop: () => void }[] = [];
  for (const name of [HOME, ...options.clusters]) {
    const controllers =
      name === HOME ? (['garbage-collector', 'namespace'] as const) : (['garbage-collector', 'namespace', 'node-agent'] as const);
    const stored = name === HOME && options.install === undefined ? STORED_KINDS : undefined;
    const plane = await (options.createPlane?.(name, { clock, random, log, controllers }, stored) ??
      createControlPlane({
        clock,
        random,
        log,
        controllers,
        ...(stored === undefined ? {} : { persistence: createMemoryPersistence(stored) }),
      }));
    const client = createKubeClient(plane.transport(), { userAgent: 'test', clock });
    planes.set(name, plane);
    clients.set(name, client);
    for (const namespace of ['switchyard', NAMESPACE]) await client.create(NAMESPACES, { metadata: { name: namespace } });
    await options.install?.(client, name);
  }
  const home = known(clients, HOME);
  await clock.advance(100);
  await createQueues(home);
  for (const name of options.clusters) await joinCluster(home, name);

  const run = (line: Line, work: (signal: AbortSignal) => Promise<void>): RunningProgram => {
    const stop = new AbortController();
    let outcome: 'stopped' | Error | undefined;
    work(stop.signal).then(
      () => (outcome = 'stopped'),
      (error: unknown) => (outcome = error instanceof Error ? error : new Error(String(error))),
    );
    const program: RunningProgram = {
      line,
      outcome: () => outcome,
      terminate: () => stop.abort(new Error('SIGTERM')),
      kill() {
        line.cut();
        stop.abort(new Error('SIGKILL'));
      },
    };
    running.add(program);
    return program;
  };

  const connect = (cluster: string, line: Line, { user, qps = 0, podLogs = '' }: ProgramOptions): KubeClient => {
    const transport: Transport = onLine(withLogs(known(planes, cluster).transport(user?.(cluster)), podLogs), line, cluster);
    const rateLimiter = createRateLimiter({ qps, burst: Math.max(1, qps), clock });
    return createKubeClient(transport, { userAgent: 'switchyard', clock, rateLimiter });
  };

  const world: WholeWorld = {
    clock,
    home,
    plane: (cluster) => known(planes, cluster),
    client: (cluster) => known(clients, cluster),
    startManager(identity, programOptions = {}) {
      const line = programOptions.line ?? createLine();
      const unlimited = { ...programOptions, qps: 0 };
      const manager = createManager({
        client: connect(HOME, line, programOptions),
        connectCluster: (cluster) => connect(cluster, line, programOptions),
        leaderElection: { client: connect(HOME, line, unlimited), namespace: 'switchyard', name: 'switchyard-manager', identity },
        recordKeySecret: { namespace: 'switchyard', name: 'record-key' },
        concurrentDispatches: 4,
        registry: new Registry(),
        clock,
        random,
        log,
        ...(typeof programOptions.parts === 'function'
          ? programOptions.parts(connect(HOME, line, unlimited), clock)
          : programOptions.parts),
      });
      return { ...run(line, (signal) => manager.run(signal)), unreadiness: () => manager.unreadiness() };
    },
    startWorker(cluster, identity, programOptions = {}) {
      const line = programOptions.line ?? createLine();
      const worker = createElectedWorker({
        client: connect(cluster, line, programOptions),
        eventClient: connect(cluster, line, programOptions),
        election: {
          client: connect(cluster, line, { ...programOptions, qps: 0 }),
          namespace: 'switchyard',
          name: programOptions.electionLease ?? workerLeaseName(programOptions.controllerName ?? WORKER_CONTROLLER_NAME),
          identity,
        },
        registry: new Registry(),
        clock,
        random,
        log,
        settings: {
          ...MIRRORED_JOBS_SETTINGS,
          ...omitUndefined({ controllerName: programOptions.controllerName, namespaces: programOptions.namespaces }),
        },
        ...(programOptions.spans !== undefined && { spans: programOptions.spans }),
        ...(programOptions.podLogs !== undefined && {
          logs: {
            client: connect(cluster, line, { ...programOptions, qps: 0 }),
            namespace: programOptions.leaseNamespace ?? 'kube-system',
            keepLogs: 'Failed',
            tailBytes: 65_536,
          },
        }),
        ...(programOptions.fenceAfterMs !== undefined && {
          presence: {
            client: connect(cluster, line, { ...programOptions, qps: 0 }),
            identity,
            version: '0',
            settings: { fenceAfterMs: programOptions.fenceAfterMs, leaseNamespace: programOptions.leaseNamespace ?? 'kube-system' },
          },
        }),
      });
      return run(line, async (signal) => {
        const playsBuiltIn = programOptions.controllerName === BUILT_IN_JOB_CONTROLLER_NAME;
        if (programOptions.fenceAfterMs === undefined && !playsBuiltIn)
          presences.push(await announceWorker(known(clients, cluster), clock, programOptions.controllerName));
        await worker.run(signal);
      });
    },
    async submit(name, parts = {}) {
      const prepared = prepareJob(JOB_KIND, manifest(name, parts));
      if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
      await home.create(JOBS, prepared.job);
    },
    job: (name) => home.get(JOBS, { namespace: NAMESPACE, name }),
    jobsOn: async (cluster) => (await known(clients, cluster).list(JOBS)).items,
    podsOn: async (cluster) => (await known(clients, cluster).list(PODS)).items,
    async close() {
      for (const presence of presences) presence.stop();
      for (const program of running) program.kill();
      await clock.advance(30_000);
      await Promise.all([...planes.values()].map((plane) => plane.close()));
    },
  };
  return world;
}

/** A Job whose pods are imagined to run for some seconds. */
export function manifest(
  name: string,
  { spec = {}, seconds = 2, exitCode = 0, cpu = '100m', annotations = {} }: JobParts = {},
): JobManifest {
  const imagined = { 'switchyard.dev/simulate-duration': `${seconds}s`, 'switchyard.dev/simulate-exit-code': String(exitCode) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations },
    spec: {
      template: {
        metadata: { annotations: imagined },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }] },
      },
      ...spec,
    },
  };
}

/** Imagined pods write nothing: where their log may be read, this is it. */
const withLogs = (transport: Transport, text: string): Transport => ({
  ...transport,
  send: async (request) => {
    const answer = await transport.send(request);
    return text !== '' && answer.status === 200 && /\/pods\/[^/]+\/log\?/.test(request.path) ? { ...answer, body: text } : answer;
  },
});

async function createQueues(home: KubeClient): Promise<void> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => home.create(resource, object as never);
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const flavors = [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1000' }] }];
  await create(CLUSTER_QUEUES, {
    metadata: { name: 'main' },
    // Jobs of these tests are on all clusters.
    spec: { namespaceSelector: {}, resourceGroups: [{ coveredResources: ['cpu'], flavors }], placement: 'MostRoom' },
  });
  await create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: NAMESPACE }, spec: { clusterQueue: 'main' } });
}

async function joinCluster(home: KubeClient, name: string): Promise<void> {
  const kubeconfig = Buffer.from(kubeconfigFor({ url: `https://${name}.test` }, 'a-token')).toString('base64');
  await home.create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig } });
  const spec = { kubeconfigSecretRef: { namespace: 'switchyard', name } };
  await home.create(WORKER_CLUSTERS, { metadata: { name }, spec });
}

function known<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`there is no cluster ${name}`);
  return value;
}
