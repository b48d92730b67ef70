/**
 * A manager cluster on which many Jobs wait, and many run on its worker clusters, as a manager has left them that had nothing more to do.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CLUSTER_QUEUES } from '../../../manager/api/cluster-queue.ts';
import { joinCluster } from '../../../manager/cli/local/set-up.ts';
import { CURRENT_KEY } from '../../../manager/process/record-key.ts';
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { DEFAULT_LEASE_NAMESPACE, WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { JOBS, NAMESPACES, NODES, SECRETS } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { announceWorker } from '../../support/worker-presence.ts';
import { A_BIG_NODE, aJob, NAMESPACE, setUpQueues } from '../dispatch.ts';
import { startDurablePlane, type DurablePlane } from './durable-plane.ts';
import { readStoredJobs, storeTwins, twinOf } from './multiplied-jobs.ts';

export const RECORD_KEY = { namespace: 'default', name: 'record-key' };
const WORKERS = ['east', 'west', 'north'];
const SAMPLES_RUNNING = 6;
const WAITING_SAMPLE = 'sample-waits';
const POLL_MS = 100;

export interface CrowdedWorld extends AsyncDisposable {
  readonly home: DurablePlane;
  readonly workers: readonly DurablePlane[];
  /** Quota for so many Jobs. */
  setQuota(cpus: number): Promise<void>;
  /** What was written by others than managers, as `home PATCH jobs/status`. */
  readonly ownWrites: ReadonlyMap<string, number>;
}

/**
 * A few Jobs are taken all the way by a manager; then everything is stopped, and these are multiplied where they are stored: through the
 * API it would take ten minutes, and be a measurement of the API servers.
 */
export async function createCrowdedWorld(
  directory: string,
  { waiting, running }: { readonly waiting: number; readonly running: number },
  startManager: (home: DurablePlane) => ChildProgram,
): Promise<CrowdedWorld> {
  await using resources = new AsyncDisposableStack();
  const start = async (name: string): Promise<DurablePlane> => resources.use(await startDurablePlane(name, path.join(directory, name)));
  const [home, ...workers] = await Promise.all(['home', ...WORKERS].map(start));
  if (home === undefined) throw new Error('there is no manager cluster');
  const ownWrites = new Map<string, number>();
  const count = (what: string): void => void ownWrites.set(what, (ownWrites.get(what) ?? 0) + 1);
  const setQuota = async (cpus: number): Promise<void> => {
    const group = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: String(cpus) }] }] };
    await home.client.patch(
      CLUSTER_QUEUES,
      { namespace: '', name: 'main' },
      { type: 'merge', body: { spec: { resourceGroups: [group] } } },
    );
    count('home PATCH clusterqueues');
  };
  const samples = Array.from({ length: Math.min(running, SAMPLES_RUNNING) }, (_, index) => `sample-${index}-runs`);
  await setUpQueues(home.client);
  await setQuota(samples.length);
  for (const { name, kubeconfigFile, client } of workers) {
    await client.create(NODES, { metadata: { name: 'node-1' }, spec: {} });
    await client.patchStatus(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { status: A_BIG_NODE } });
    // As the chart of the worker makes them: without the namespace of its Leases each leader would ask once whether it is there by now.
    for (const namespace of [NAMESPACE, DEFAULT_LEASE_NAMESPACE]) await client.create(NAMESPACES, { metadata: { name: namespace } });
    const presence = await announceWorker(client, systemClock, WORKER_CONTROLLER_NAME, DEFAULT_LEASE_NAMESPACE);
    resources.defer(async () => presence.stop());
    await joinCluster(home.client, name, readFileSync(kubeconfigFile, 'utf8'));
  }
  await takeThere([...samples, WAITING_SAMPLE], workers, home, startManager);

  const secret = await home.client.get(SECRETS, RECORD_KEY);
  const keys = { current: Buffer.from(secret.data?.[CURRENT_KEY] ?? '', 'base64'), others: [] };
  await Promise.all([home, ...workers].map((plane) => plane.stop()));
  const more = (of: readonly string[], prefix: string, wanted: number) =>
    Array.from({ length: Math.max(0, wanted) }, (_, index) => twinOf(of[index % of.length] ?? '', `${prefix}-${index}`));
  const twins = [...more(samples, 'runs', running - samples.length), ...more([WAITING_SAMPLE], 'waits', waiting - 1)];
  const storedHome = readStoredJobs(home.dataDirectory);
  for (const plane of [home, ...workers]) await storeTwins(readStoredJobs(plane.dataDirectory), storedHome, twins, keys);
  await Promise.all([home, ...workers].map((plane) => plane.startAgain()));
  await setQuota(running);
  const ending = new AbortController();
  for (const { name, client } of workers) playWorker(client, ending.signal, () => count(`${name} PATCH jobs/status`));
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  const all = resources.move();
  return { home, workers, setQuota, ownWrites, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Until all of these run or say why they wait. */
async function takeThere(
  names: readonly string[],
  workers: readonly DurablePlane[],
  home: DurablePlane,
  startManager: (home: DurablePlane) => ChildProgram,
): Promise<void> {
  const playing = new AbortController();
  for (const { client } of workers) playWorker(client, playing.signal);
  await using manager = startManager(home);
  for (const name of names) await home.client.create(JOBS, aJob(name));
  for (;;) {
    const { items } = await home.client.list(JOBS, { namespace: NAMESPACE });
    if (items.every((job) => isSettled(job))) break;
    if (manager.hasEnded()) await manager.failsWhenEnded();
    await sleep(systemClock, POLL_MS);
  }
  playing.abort(new Error('the samples are made'));
}

const isSettled = ({ metadata, status }: Job): boolean =>
  metadata.name === WAITING_SAMPLE ? status?.conditions?.some(({ type }) => type === 'QuotaReserved') === true : (status?.active ?? 0) > 0;

/** Every copy has one pod that runs and never ends. */
function playWorker(client: KubeClient, signal: AbortSignal, patched: () => void = () => undefined): void {
  const seen = ({ metadata: { namespace, name }, spec, status }: DeepReadonly<Job>): void => {
    if (spec.suspend === true || status?.startTime !== undefined) return;
    const body = { status: { active: 1, ready: 1, startTime: '2026-01-01T00:00:00Z', terminating: 0, uncountedTerminatedPods: {} } };
    patched();
    client.patchStatus(JOBS, { namespace, name }, { type: 'merge', body }).catch((error: unknown) => {
      if (!signal.aborted) console.error(`the status of ${name} could not be written`, error);
    });
  };
  const informer = createInformer({
    client,
    resource: JOBS,
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
    transform: outline,
  });
  informer.addHandler({ added: seen, updated: seen });
  void informer.run(signal);
}

/** What whoever looks on keeps of a Job. */
export const outline = ({
  metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
  spec: { suspend },
  status,
}: Job): Job => ({
  metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
  spec: { template: {}, ...(suspend === undefined ? {} : { suspend }) },
  ...(status?.startTime === undefined ? {} : { status: { startTime: status.startTime } }),
});
