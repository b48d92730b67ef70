/**
 * Goal: a pod with a pod fence ends by itself wherever its control plane, its worker or its manager is away, before its Job may run
 * elsewhere. Worker, API server and node agent are the real ones, and so is the program of the sidecar; its containers are imagined, and
 * time is the test's.
 */
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { judgeLoss } from '../../manager/api/fenced-off.ts';
import { remoteJob } from '../../manager/work-kind/job/copy/remote-job.ts';
import { originLeaseName, readWorkerAnnouncement, workerLeaseName } from '../../shared/api/fence-leases.ts';
import type { Pod } from '../../shared/api/kubernetes.ts';
import { POD_FENCE_RENEWAL_ANNOTATION } from '../../shared/api/names.ts';
import { POD_FENCE_AFTER_SECONDS, POD_FENCE_CONTAINER } from '../../shared/api/pod-fence.ts';
import { JOBS, LEASES, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import { createNodeAgent } from '../../shared/controlplane/controllers/node-agent.ts';
import type { ContainerExit, ContainerRuntime } from '../../shared/controlplane/controllers/node-agent/container-runtime.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { createWorker } from '../../worker/worker.ts';
import { FencedNode } from '../support/fenced-node.ts';
import { anAdmittedJob } from '../support/jobs.ts';
import { anEmbeddedCluster, type EmbeddedCluster } from '../unit/shared/controlplane/controllers/embedded-cluster.ts';

const WORKER = 'switchyard.dev/worker';
const ORIGIN = 'berlin';
const FENCE_SECONDS = 60;
const GRACE_SECONDS = 30;

let cluster: EmbeddedCluster;
let node: FencedNode;
/** Ways to the API server that can be cut: those of the kubelet and of the worker. */
let lines: { readonly kubelet: Line; readonly worker: Line };
/** When the user's container ran, in milliseconds of the clock. */
let ran: { fromMs: number | undefined; untilMs: number | undefined };
let isImagePulled: boolean;
let stopWorker: () => Promise<void>;

/** The way of one program to the API server: while it is cut nothing comes through, and watches are silent. */
class Line {
  #mended = Promise.withResolvers<void>();
  #isCut = false;

  cut(): void {
    this.#isCut = true;
  }
  mend(): void {
    this.#isCut = false;
    this.#mended.resolve();
    this.#mended = Promise.withResolvers();
  }
  on(transport: Transport): Transport {
    const refuse = (): void => {
      if (this.#isCut) throw new Error('connect ECONNREFUSED');
    };
    const gated = async function* (line: Line, chunks: AsyncIterable<string>, signal: AbortSignal | undefined): AsyncGenerator<string> {
      for await (const chunk of chunks) {
        if (line.#isCut) {
          await Promise.race([line.#mended.promise, ...(signal === undefined ? [] : [aborted(signal)])]);
          throw new Error('connection reset');
        }
        yield chunk;
      }
    };
    return {
      async send(request) {
        refuse();
        return transport.send(request);
      },
      stream: async (request) => {
        refuse();
        const stream = await transport.stream(request);
        return { ...stream, chunks: gated(this, stream.chunks, request.signal) };
      },
      close: () => transport.close(),
    };
  }
}

/** Takes no notice of SIGTERM. */
function imaginedContainers(): ContainerRuntime {
  const { clock } = cluster;
  const running = new Set<(exit: ContainerExit) => void>();
  let sidecarEnds: ((exit: ContainerExit) => void) | undefined;
  const show = ({ metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }): void =>
    node.renew(metadata.annotations?.[POD_FENCE_RENEWAL_ANNOTATION] ?? '');
  const tick = (): void => {
    node.seconds = 5_000 + clock.monotonic() / 1000;
    node.look();
    if (node.exitCode !== undefined) sidecarEnds?.({ exitCode: node.exitCode });
    if (sidecarEnds !== undefined) clock.schedule(tick, 1_000);
  };
  return {
    mount(pod, container) {
      if (container.name === POD_FENCE_CONTAINER) return show(pod);
      if (!isImagePulled) throw new Error('the image is being pulled');
      if (!node.isGateOpen()) throw new Error('failed to prepare subPath');
    },
    podChanged: show,
    ask: async () => {
      if (sidecarEnds === undefined) return 'connection refused';
      const status = node.answer();
      return status === 200 ? undefined : `HTTP probe failed with statuscode: ${status}`;
    },
    start({ container }) {
      const { promise: exited, resolve } = Promise.withResolvers<ContainerExit>();
      const isSidecar = container.name === POD_FENCE_CONTAINER;
      const end = (exit: ContainerExit): void => {
        running.delete(end);
        if (isSidecar) sidecarEnds = undefined;
        else ran.untilMs ??= clock.monotonic();
        resolve(exit);
      };
      running.add(end);
      if (isSidecar) {
        sidecarEnds = end;
        node.start();
        tick();
      } else ran.fromMs = clock.monotonic();
      const stop = (graceMs: number): void => {
        if (isSidecar) end({ exitCode: node.terminate() ?? 137 });
        else clock.schedule(() => end({ exitCode: 137 }), graceMs);
      };
      return { hasStarted: true, exited, stop };
    },
    removePod: async () => undefined,
    close: async () => {
      for (const end of running) end({ exitCode: 137 });
    },
  };
}

/** The manager is in contact for so long: it renews its Lease, and answers the worker. */
async function inContact(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    const own = await cluster.find(LEASES, workerLeaseName(WORKER), 'kube-system');
    const token = own && readWorkerAnnouncement(own)?.fenceToken;
    const annotations = { 'switchyard.dev/reconciled': token ?? '' };
    const metadata = { namespace: 'kube-system', name: originLeaseName(ORIGIN), labels: { 'switchyard.dev/origin': ORIGIN }, annotations };
    const spec = { holderIdentity: 'home_1', renewTime: toWireMicroTime(cluster.clock.now()), leaseDurationSeconds: 40 };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await cluster.client.patch(LEASES, metadata, { type: 'apply', body, force: true }, { fieldManager: 'manager' });
    await pass(5);
  }
}

async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) await cluster.clock.advance(1_000);
}

const thePod = async (): Promise<Pod | undefined> => (await cluster.client.list(PODS, { namespace: 'team' })).items[0];

/** From when on the manager takes the Job for stopped that lost its cluster then. */
const countsAsStoppedMs = (): number => {
  const job = {
    graceSeconds: GRACE_SECONDS,
    fencing: true,
    onClusterLost: 'RequeueFenced',
    podFenceSeconds: POD_FENCE_AFTER_SECONDS,
  } as const;
  const lost = { since: '', givenUpMs: undefined, fenceAfterSeconds: FENCE_SECONDS, workerAlive: true, otherManager: false };
  const timeoutMs = [...Array(3_600).keys()]
    .map((second) => second * 1_000)
    .find((ms) => ms > 0 && judgeLoss({ ...lost, lostMs: ms }, job, ms).kind === 'FencedOff');
  return timeoutMs ?? Number.NaN;
};

beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  node = new FencedNode(POD_FENCE_AFTER_SECONDS);
  lines = { kubelet: new Line(), worker: new Line() };
  ran = { fromMs: undefined, untilMs: undefined };
  isImagePulled = true;
  const clientOn = (line: Line) => createKubeClient(line.on(cluster.transport()), { userAgent: 'test', clock: cluster.clock });
  await cluster.client.create(NAMESPACES, { metadata: { name: 'team' } });
  await cluster.start(
    createNodeAgent({ ...cluster.deps, client: clientOn(lines.kubelet) }, { directory: '/nowhere', containers: imaginedContainers() }),
  );
  const client = clientOn(lines.worker);
  const worker = createWorker({
    ...cluster.deps,
    client,
    registry: new Registry(),
    presence: { client, identity: 'pod-1', version: '1', settings: { fenceAfterMs: FENCE_SECONDS * 1_000, leaseNamespace: 'kube-system' } },
    settings: {
      controllerName: WORKER,
      controllers: ['job'],
      concurrentJobSyncs: 1,
      concurrentTtlSyncs: 1,
      batchPeriodMs: 1_000,
      namespaces: [],
    },
  });
  const stopping = new AbortController();
  const working = worker.run(stopping.signal);
  stopWorker = async () => {
    stopping.abort(new Error('the test is over'));
    // So long Events that could not be told are waited for.
    await pass(5);
    await working;
  };
  await inContact(20);
});
afterEach(async () => {
  for (const line of Object.values(lines)) line.mend();
  await stopWorker();
  await cluster.close();
});

/** The copy of a Job with a pod fence, as the manager makes it. */
async function dispatch(): Promise<void> {
  const template = {
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: GRACE_SECONDS,
      containers: [{ name: 'main', image: 'busybox', command: ['sum'] }],
    },
  };
  const podFence = { image: 'fence:1', afterSeconds: POD_FENCE_AFTER_SECONDS };
  const options = { origin: ORIGIN, epoch: 1, jobController: WORKER, local: false, flavors: [], podFence };
  await cluster.client.create(JOBS, remoteJob(anAdmittedJob({ spec: { template, backoffLimit: 0 } }), options));
}

test('while all are in reach it starts within seconds, and runs for hours', async () => {
  await dispatch();
  await inContact(15);
  expect((await thePod())?.status?.phase).toBe('Running');
  await inContact(1_200);
  expect([ran.fromMs !== undefined, ran.untilMs]).toEqual([true, undefined]);
});

test.each<[string, (lines: { kubelet: Line; worker: Line }) => readonly Line[]]>([
  ['its control plane is away, and its node goes on', ({ kubelet, worker }) => [kubelet, worker]],
  ['its worker alone is gone', ({ worker }) => [worker]],
  ['its node alone is cut off', ({ kubelet }) => [kubelet]],
])('%s, and the manager is out of reach: the pod ends, before its Job may run elsewhere', async (_what, cut) => {
  await dispatch();
  await inContact(30);
  expect(ran.fromMs).toBeDefined();
  const lostMs = cluster.clock.monotonic();
  for (const line of cut(lines)) line.cut();
  await pass(POD_FENCE_AFTER_SECONDS + 2 * FENCE_SECONDS + 36 + GRACE_SECONDS);
  expect(ran.untilMs).toBeDefined();
  expect((ran.untilMs ?? 0) - lostMs).toBeLessThan(countsAsStoppedMs());
  // The sidecar has said that it was cut off: it is no failure of the Job.
  expect(node.exitCode).toBe(75);
});

test('its image was being pulled when its control plane went away: the container does not start any more', async () => {
  isImagePulled = false;
  await dispatch();
  await inContact(30);
  lines.kubelet.cut();
  lines.worker.cut();
  await pass(POD_FENCE_AFTER_SECONDS + 5);
  isImagePulled = true;
  await pass(600);
  expect(ran.fromMs).toBeUndefined();
});

test('it was away for too long, and comes back before the Job moved: the pod was ended, another one runs, and nothing counts as failed', async () => {
  await dispatch();
  await inContact(30);
  const first = (await thePod())?.metadata.uid;
  // As far as the pod knows: nobody renews it, though its cluster answers.
  const { renew } = node;
  node.renew = () => undefined;
  await inContact(POD_FENCE_AFTER_SECONDS + 40 + GRACE_SECONDS);
  expect(ran.untilMs).toBeDefined();
  node.renew = renew;
  await inContact(60);
  const job = await cluster.client.get(JOBS, { namespace: 'team', name: 'sum' });
  expect(job.status?.failed ?? 0).toBe(0);
  expect(job.status?.conditions ?? []).toEqual([]);
  const pods = (await cluster.client.list(PODS, { namespace: 'team' })).items;
  expect(pods.some(({ metadata: { uid }, status }) => uid !== first && status?.phase !== 'Failed')).toBe(true);
});
