/** A manager cluster with a whole manager on it, and worker clusters on which the test plays the Job controller. */
import { Registry } from 'prom-client';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createManager } from '../../manager/manager.ts';
import type { ManagerDeps } from '../../manager/process/manager-deps.ts';
import { prepareJob, type JobManifest } from '../../manager/policy/prepare-job.ts';
import type { Job, JobStatus, KubeObject } from '../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { Persistence } from '../../shared/controlplane/storage/persistence.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient, type ActingAs } from '../../shared/kube/kube-client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../shared/kube/transport.ts';
import { sleep, systemClock, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger, type Logger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { withKinds } from '../support/stored-kinds.ts';
import { announceWorker } from '../support/worker-presence.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

export const NAMESPACE = 'team';
export const HOME = 'home';

/** The way from the manager to one API server, which can be cut. */
export type Line = {
  /**
   * Every request that the manager sent, oldest first: `POST /apis/batch/v1/namespaces/team/jobs`, or `GET /apis/batch/v1/jobs?limit=1`.
   */
  readonly sent: string[];
  /** up: works. refused: every request fails. swallowed: nothing is ever answered. */
  state: 'up' | 'refused' | 'swallowed';
  /** Answers a request that is no watch instead of the server; undefined lets it through, now or later. */
  instead: ((request: TransportRequest) => TransportResponse | undefined | Promise<TransportResponse | undefined>) | undefined;
  /** Keeps back what watches have to tell, or those of one resource, until `release` is called. */
  hold(plural?: string): void;
  release(): void;
  held(path: string): Promise<void> | undefined;
  /** Watches under way. */
  watches: number;
};

const createLine = (): Line => {
  let held: PromiseWithResolvers<void> | undefined;
  let only: string | undefined;
  return {
    sent: [],
    state: 'up',
    instead: undefined,
    watches: 0,
    held: (path) => (only === undefined || path.includes(`/${only}?`) ? held?.promise : undefined),
    hold(plural) {
      only = plural;
      held ??= Promise.withResolvers();
    },
    release() {
      held?.resolve();
      held = undefined;
    },
  };
};

export type WorkerSide = {
  readonly client: KubeClient;
  readonly line: Line;
  /** The copy, or undefined. */
  copy(name: string): Promise<Job | undefined>;
  /** Writes the status of a copy, as the Job controller there would. */
  report(name: string, status: JobStatus): Promise<void>;
  start(name: string): Promise<void>;
  complete(name: string): Promise<void>;
};

export type DispatchWorld = {
  readonly clock: Clock;
  readonly home: KubeClient;
  /** A client of the manager cluster of some user, which acts as another where it is told. */
  homeAs(user: UserInfo, actAs?: ActingAs): KubeClient;
  readonly homeLine: Line;
  worker(name: string): WorkerSide;
  addWorker(name: string, spec?: object): Promise<WorkerSide>;
  settle(ms?: number): Promise<void>;
  submit(name: string, parts?: { readonly spec?: object; readonly annotations?: Record<string, string> }): Promise<void>;
  job(name: string): Promise<Job>;
  /** Kills the manager. */
  stop(): Promise<void>;
  /** Starts another, of this id. */
  start(managerId?: string): Promise<void>;
  /** Starts one more beside it, as where nobody elects. */
  startSecond(): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
};

export type DispatchWorldOptions = {
  readonly workers?: readonly string[];
  readonly log?: Logger;
  /** Worlds of one seed have the same UIDs. */
  readonly seed?: number;
  /** The clock of another world, with which this one is to have its time in common. */
  readonly clock?: FakeClock;
  /** Where Redis takes part, time must be real. */
  readonly realTime?: boolean;
  readonly submissions?: NonNullable<ManagerDeps['submissions']>;
  /** Where the Secrets of WorkerClusters are; absent: anywhere. */
  readonly clusterSecretsNamespace?: string;
  /** Where the metrics are to be read. */
  readonly registry?: Registry;
  readonly canary?: ManagerDeps['canary'];
  readonly carryNamespaces?: ManagerDeps['carryNamespaces'];
  /** Instead of the way to a worker cluster of this world; `usual` is that way, by the name of the cluster there, or `home`. */
  readonly connectCluster?: (name: string, access: ClusterAccess, usual: (name: string) => KubeClient) => KubeClient;
};

export async function createDispatchWorld(options: DispatchWorldOptions = {}): Promise<DispatchWorld> {
  const fakeClock = options.realTime === true ? undefined : (options.clock ?? new FakeClock());
  const clock = fakeClock ?? systemClock;
  const random = seededRandom(options.seed ?? 1);
  const log = options.log ?? silentLogger;
  const controlPlanes: ControlPlane[] = [];
  const presences: { readonly stop: () => void }[] = [];
  const newControlPlane = async (persistence?: Persistence): Promise<ControlPlane> => {
    const made = await createControlPlane({
      clock,
      random,
      log: silentLogger,
      controllers: ['garbage-collector'],
      ...omitUndefined({ persistence }),
    });
    controlPlanes.push(made);
    return made;
  };
  const homePlane = await newControlPlane(withKinds());
  const clientOf = (transport: Transport): KubeClient => createKubeClient(transport, { userAgent: 'test', clock });
  const home = clientOf(homePlane.transport());
  const homeLine = createLine();
  const workers = new Map<string, WorkerSide & { readonly plane: ControlPlane }>();
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => home.create(resource, object as never);

  const settle = async (ms = 0): Promise<void> => {
    if (fakeClock === undefined) return sleep(systemClock, ms);
    await fakeClock.settle();
    await fakeClock.advance(ms);
    await fakeClock.settle();
  };
  await settle(100);
  for (const name of [NAMESPACE, 'switchyard']) await create(NAMESPACES, { metadata: { name } });
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const resourceGroups = [
    { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1000' }] }] },
  ];
  // Jobs of these tests are on all clusters; where they are to fill one first, a test says so.
  const spec = { namespaceSelector: {}, resourceGroups, placement: 'MostRoom' };
  await create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec });
  await create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: NAMESPACE }, spec: { clusterQueue: 'main' } });

  const connectInProcess = (name: string): KubeClient => {
    if (name === HOME) return clientOf(onLine(homePlane.transport(), homeLine));
    const worker = workers.get(name);
    if (worker === undefined) throw new Error(`no control plane ${name}`);
    return clientOf(onLine(worker.plane.transport(), worker.line));
  };
  const start = (managerId = 'm1'): { stop(): Promise<void> } => {
    const abort = new AbortController();
    const manager = createManager({
      clusterSecretsNamespace: options.clusterSecretsNamespace,
      client: clientOf(onLine(homePlane.transport(), homeLine)),
      connectCluster: (name, access) => options.connectCluster?.(name, access, connectInProcess) ?? connectInProcess(name),
      ...omitUndefined({ submissions: options.submissions, canary: options.canary, carryNamespaces: options.carryNamespaces }),
      recordKeySecret: { namespace: 'switchyard', name: 'record-key' },
      managerId,
      concurrentDispatches: 4,
      registry: options.registry ?? new Registry(),
      clock,
      random,
      log,
    });
    const done = manager.run(abort.signal);
    return {
      async stop() {
        abort.abort(new Error('stopped by the test'));
        let ended = false;
        const end = done.finally(() => (ended = true));
        if (fakeClock !== undefined) await settle(5_000);
        // Writes that a silent cluster does not answer are waited for.
        for (let seconds = 5; fakeClock !== undefined && !ended && seconds < 120; seconds++) await settle(1_000);
        await end;
      },
    };
  };

  const others: { stop(): Promise<void> }[] = [];
  let running: { stop(): Promise<void> } | undefined;
  const world: DispatchWorld = {
    clock,
    home,
    homeAs: (user, actAs) => createKubeClient(homePlane.transport(user), { userAgent: 'test', clock, ...omitUndefined({ actAs }) }),
    homeLine,
    worker(name) {
      const worker = workers.get(name);
      if (worker === undefined) throw new Error(`no worker ${name}`);
      return worker;
    },
    async addWorker(name, spec = {}) {
      const plane = await newControlPlane();
      const side = workerSide(clientOf(plane.transport()), clock);
      workers.set(name, { ...side, plane });
      presences.push(await announceWorker(side.client, clock));
      const kubeconfig = Buffer.from(kubeconfigFor({ url: `https://${name}.test` }, 'a-token')).toString('base64');
      await create(SECRETS, { metadata: { name, namespace: 'switchyard' }, data: { kubeconfig } });
      await create(WORKER_CLUSTERS, {
        metadata: { name },
        spec: { kubeconfigSecretRef: { namespace: 'switchyard', name }, namespaces: 'Create', capacity: { cpu: '100' }, ...spec },
      });
      return side;
    },
    settle,
    async submit(name, { spec = {}, annotations = {} } = {}) {
      const manifest: JobManifest = {
        metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations },
        spec: {
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }] },
          },
          ...spec,
        },
      };
      const prepared = prepareJob(JOB_KIND, manifest);
      if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
      await home.create(JOBS, prepared.job);
    },
    job: (name) => home.get(JOBS, { namespace: NAMESPACE, name }),
    async stop() {
      await running?.stop();
      running = undefined;
    },
    async start(managerId) {
      running = start(managerId);
      await settle(fakeClock === undefined ? 100 : 1_500);
    },
    async startSecond() {
      const second = start();
      others.push(second);
      await settle(1_500);
      return second;
    },
    async close() {
      for (const presence of presences) presence.stop();
      for (const other of others) await other.stop();
      for (const line of [homeLine, ...[...workers.values()].map((each) => each.line)]) line.release();
      await running?.stop();
      await Promise.all(controlPlanes.map((each) => each.close()));
    },
  };
  for (const name of options.workers ?? ['eu-1', 'us-2']) await world.addWorker(name);
  await world.start();
  return world;
}

function workerSide(client: KubeClient, clock: Clock): WorkerSide {
  const key = (name: string) => ({ namespace: NAMESPACE, name });
  const time = (): string => toWireTime(clock.now());
  const report = async (name: string, status: JobStatus): Promise<void> => {
    await client.patchStatus(JOBS, key(name), { type: 'merge', body: { status } });
  };
  return {
    client,
    line: createLine(),
    report,
    async copy(name) {
      try {
        return await client.get(JOBS, key(name));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    start: (name) => report(name, { active: 1, ready: 0, startTime: time(), terminating: 0, uncountedTerminatedPods: {} }),
    async complete(name) {
      const condition = (type: string) => ({
        type,
        status: 'True',
        reason: 'CompletionsReached',
        message: 'done',
        lastTransitionTime: time(),
      });
      const verdict = condition('SuccessCriteriaMet');
      await report(name, { uncountedTerminatedPods: { succeeded: ['pod-1'] }, active: 0, ready: 0, conditions: [verdict] });
      await report(name, {
        uncountedTerminatedPods: { succeeded: null } as never,
        succeeded: 1,
        completionTime: time(),
        conditions: [verdict, condition('Complete')],
      });
    },
  };
}

/** Sends requests along a line, and notes them. */
function onLine(transport: Transport, line: Line): Transport {
  const gate = async (request: TransportRequest): Promise<void> => {
    const [path, query] = request.path.split('?');
    line.sent.push(`${request.method} ${path}${new URLSearchParams(query).get('limit') === '1' ? '?limit=1' : ''}`);
    if (line.state === 'refused') throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    if (line.state === 'swallowed') {
      await new Promise((_resolve, reject) =>
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason), { once: true }),
      );
    }
  };
  return {
    async send(request) {
      await gate(request);
      return (await line.instead?.(request)) ?? transport.send(request);
    },
    async stream(request) {
      await gate(request);
      const answer = await transport.stream(request);
      return { ...answer, chunks: whileUp(answer.chunks, line, request.path) };
    },
    close: () => transport.close(),
  };
}

/** A watch over a line that is cut breaks with the next event. */
async function* whileUp(chunks: AsyncIterable<string>, line: Line, path: string): AsyncGenerator<string> {
  line.watches++;
  try {
    for await (const chunk of chunks) {
      await line.held(path);
      if (line.state !== 'up') throw new Error('connection reset');
      yield chunk;
    }
  } finally {
    line.watches--;
  }
}

export const conditionsOf = (job: Job | undefined): string[] =>
  (job?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`).toSorted();
